import Testing

/// R1, R5: the macro's expansions and diagnostics for rows of a table.
struct RecordExpansionTests {
  @Test func `columns, relations and initializers`() {
    expectExpansion(
      """
      @ObservableModel final class Item: ObservableRecord {
        var id: Int64?
        var product: String
        let code: Int
        var invoiceID: Int64 = 1
        @Ignored var note = ""
        @BelongsTo(\\Item.invoiceID) var invoice: Invoice?
        @HasMany(\\Part.itemID) var parts: ObservableArray<Part>
        @HasOne(\\Label.itemID) var label: Label?
        @Computed("parts.@sum.price") @Stored var price: Double
        private func makePrice() -> Double { 0 }
      }
      """,
      """
      @ObservedProperty(0, .record) var id: Int64?
      @ObservedProperty(1, .initialized, .record) var product: String
      let code: Int
      @ObservedProperty(3, .record) var invoiceID: Int64 = 1
      var note = ""
      @ObservableRecords.Referenced("invoiceID") var invoice: Invoice?
      @ObservableRecords.Related var parts: ObservableArray<Part>
      @ObservableRecords.Related var label: Label?
      @Observables.Lazy var price: Double
      private func makePrice() -> Double { 0 }
      private static var firstModelSlot: Int { 0 }

      static let properties: Observables.ModelProperties = \
      Observables.ModelProperties(for: Item.self) {
        Observables.Property("id", get: { $0.id }, set: { $0.id = $1 })
        Observables.Property("product", get: { $0.product }, set: { $0.product = $1 })
        Observables.Property("code", get: { $0.code })
        Observables.Property("invoiceID", get: { $0.invoiceID }, set: { $0.invoiceID = $1 })
        Observables.Property("invoice", lazy: { $0.$invoice }, from: ["invoiceID"], \
      isReadOnly: true, get: { (model: Item) -> Invoice? in \
      try model.recordState.loadOne("invoice", of: model) \
      }).settable { (model: Item, row: Invoice?) in model.invoice = row }
        Observables.Property("parts", lazy: { $0.$parts }, isReadOnly: true, \
      get: { (model: Item) -> ObservableArray<Part> in \
      try model.recordState.loadMany("parts", of: model) })
        Observables.Property("label", lazy: { $0.$label }, isReadOnly: true, \
      get: { (model: Item) -> Label? in try model.recordState.loadOne("label", of: model) })
        Observables.Property("price", lazy: { $0.$price }, from: ["parts.@sum.price"], \
      get: { (model: Item) -> Double in let value: Double = model.makePrice() return value \
      }).readOnlyByName
      }

      private let recordHold = ObservableRecords.RecordHold()
      var recordState: ObservableRecords.RecordState { recordHold.state }

      static let recordSchema = ObservableRecords.RecordSchema( for: Item.self, [
        .column("id", 0, get: { $0.id }, set: { $0.id = $1 }),
        .column("product", 1, get: { $0.product }, set: { $0.product = $1 }),
        .column("code", 2, get: { $0.code }),
        .column("invoiceID", 3, get: { $0.invoiceID }, set: { $0.invoiceID = $1 }),
        .belongsTo("invoice", 4, Invoice.self, by: "invoiceID"),
        .hasMany("parts", 5, Part.self, by: "itemID"),
        .hasOne("label", 6, Label.self, by: "itemID"),
        .stored("price", 7, { $0.$price }),
        .computed("price", ["parts.@sum.price"]), ])

      init(row: GRDB.Row) throws {
        let row = ObservableRecords.RecordRow(row, of: Item.self)
        self._id = try row.value("id", 0)
        self._product = try row.value("product", 1)
        self.code = try row.value("code", 2)
        self._invoiceID = try row.value("invoiceID", 3, orIfNew: 1)
        row.keepStored(in: recordState)
      }

      init( id: Int64? = nil, product: String, code: Int, invoiceID: Int64 = 1 ) {
        self._id = id
        self._product = product
        self.code = code
        self._invoiceID = invoiceID
      } }

      extension Item: Observables.ObservableModel { }
      """)
  }

  @Test(.needsSwift62)
  func `a write notifies the store`() {
    expectAccessors(
      "final class Item { @ObservedProperty(1, .record) var price: Double }",
      """
      get { recordState.access(Self.firstModelSlot + 1, of: self) return _price }
      set {
        recordState.willSet(Self.firstModelSlot + 1, of: self)
        defer { recordState.didSet(Self.firstModelSlot + 1, of: self) }
        guard recordState.isObserved(Self.firstModelSlot + 1) else { _price = newValue return }
        let old = _price
        _price = newValue
        observation.didSet(Self.firstModelSlot + 1, from: old, to: _price)
      }
      _modify {
        recordState.willSet(Self.firstModelSlot + 1, of: self)
        defer { recordState.didSet(Self.firstModelSlot + 1, of: self) }
        guard recordState.isObserved(Self.firstModelSlot + 1) else { yield &_price return }
        let old = _price
        var value = old
        defer { _price = value observation.didSet(Self.firstModelSlot + 1, from: old, to: _price) }
        yield &value
      } } private var _price: Double
      """)
  }

  // MARK: Mistakes

  /// A record with one more member, in line 3.
  private func record(_ member: String) -> String {
    """
    @ObservableModel final class Item: ObservableRecord {
      var id: Int64?
      \(member)
      func makeTotal() -> Double { 0 }
    }
    """
  }

  @Test func `a class that is not final, or has no key`() {
    expectDiagnostic(
      """
      @ObservableModel class ⚑Item: ObservableRecord {
        var id: Int64?
      }
      """,
      "a record must be a 'final class': each row of its table is an object of this class")
    expectDiagnostic(
      """
      @ObservableModel final class ⚑Item: ObservableRecord {
        var code: String
      }
      """,
      """
      a record has a property for its primary key: 'var id: Int64?', or the property that \
      'static let primaryKeyName' names
      """)
  }

  @Test(.needsSwift62)
  func `a class of several threads, or with parameters`() {
    expectDiagnostic(
      """
      @ObservableModel(.threadSafe) final class ⚑Item: ObservableRecord {
        var id: Int64?
      }
      """,
      """
      a record belongs to the thread of its store's loop: remove '.threadSafe' or '@MainActor'
      """)
    expectDiagnostic(
      """
      @ObservableModel final class ⚑Item<T>: ObservableRecord {
        var id: Int64?
      }
      """, "a record has one table, and is not generic")
  }

  @Test func `relations and stored properties of a class that is not a record`() {
    expectDiagnostic(
      """
      @ObservableModel final class Box {
        @Computed("a") ⚑@Stored var total: Double
        var a = 1
        func makeTotal() -> Double { 0 }
      }
      """, "'@Stored' is for rows of a table: 'Box' must declare ': ObservableRecord'")
  }

  @Test func `a relation without the class of its column`() {
    expectDiagnostic(
      record("⚑@HasMany(\\.itemID) var parts: ObservableArray<Part>"),
      "'@HasMany' takes the key path of one column with its class, such as '\\Item.invoiceID'")
  }

  @Test func `a relation of another type`() {
    expectDiagnostic(
      record("@HasMany(\\Part.itemID) var parts: ⚑[Part]"),
      "'parts' must be an 'ObservableArray<Part>': rows of Part refer to this one")
    expectDiagnostic(
      record("@HasOne(\\Label.itemID) var label: ⚑Label"),
      "'label' must be a 'Label?': it is nil if no row refers to this one")
    expectDiagnostic(
      record("@BelongsTo(\\Item.id) var owner: ⚑Owner"),
      "'owner' must be a 'Owner?': the row may be deleted")
  }

  @Test func `a reference by a column of another class`() {
    expectDiagnostic(
      record("⚑@BelongsTo(\\Item.ix) var owner: Owner?"),
      """
      '@BelongsTo' takes the key path of a column of Item itself (did you mean '\\Item.id'?)
      """)
  }

  @Test func `a stored property with an unsupported source`() {
    expectDiagnostic(
      record("⚑@Stored var total: Double = 0"),
      "'@Stored' is for properties that are '@Computed' from others")
    expectDiagnostic(
      record("⚑@Computed @Stored var total: Double"),
      """
      '@Stored' needs the key paths of the properties it is computed from: \
      '@Computed("items.@sum.price")'
      """)
    expectDiagnostic(
      record("@Computed(⚑\"*\") @Stored var total: Double"),
      "'@Stored' depends on named properties: '*' matches any property")
    expectDiagnostic(
      """
      @ObservableModel final class Item: ObservableRecord {
        var id: Int64?
        @Computed(⚑"other") @Stored var total: Double
        @Computed var other: Double
        func makeTotal() -> Double { 0 }
        func makeOther() -> Double { 0 }
      }
      """,
      """
      '@Stored' is computed from columns, relations, and properties computed from those by \
      declared key paths; 'other' does not declare its key paths
      """)
    expectDiagnostic(
      """
      @ObservableModel final class Item: ObservableRecord {
        var id: Int64?
        let rate = 2
        @Computed(⚑"rate") @Stored var total: Double
        func makeTotal() -> Double { 0 }
      }
      """,
      """
      '@Stored' is computed from columns, relations, and properties computed from those by \
      declared key paths; 'rate' is not a column
      """)
  }

  @Test func `a property without a value in new rows`() {
    expectDiagnostic(
      record("private var ⚑cache: Int"),
      "'cache' is not a column: it needs a value in its declaration, as rows do not have it")
  }
}
