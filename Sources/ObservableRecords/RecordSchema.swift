#if Records
  public import Observables

  /// The columns and relations of a class of rows, as `@ObservableModel` lists them.
  public final class RecordSchema: @unchecked Sendable {
    // Immutable after init; the closures only touch the objects that they are given, on their
    // thread.
    /// The class.
    public let recordType: any ObservableRecord.Type
    /// The name of the table.
    public var table: String { recordType.databaseTableName }
    let columns: [RecordColumn]
    let relations: [RecordRelation]
    /// The declared key paths of computed properties.
    let computed: [String: [String]]
    let slots: [String: RecordColumn]
    private let columnsBySlot: [RecordColumn?]
    /// The column that is the primary key; nil where no property has its name.
    let key: RecordColumn?
    /// The place of the key in the list of columns, where keys are integers; else nil.
    let integerKeyPlace: Int?
    /// The columns of computed properties.
    let stored: [RecordColumn]
    /// The columns of stored properties.
    let plain: [RecordColumn]

    /// Lists what `record` has.
    public init<Record: ObservableRecord>(
      for record: Record.Type, _ entries: [RecordEntry<Record>]
    ) {
      recordType = record
      columns = entries.compactMap(\.column)
      relations = entries.compactMap(\.relation)
      computed = Dictionary(
        entries.compactMap { entry in entry.paths.map { (entry.name, $0) } },
        uniquingKeysWith: { first, _ in first })
      slots = Dictionary(columns.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
      let last = columns.map(\.slot).max() ?? -1
      var columnsBySlot = [RecordColumn?](repeating: nil, count: last + 1)
      for column in columns { columnsBySlot[column.slot] = column }
      self.columnsBySlot = columnsBySlot
      let key = slots[record.primaryKeyName]
      self.key = key
      integerKeyPlace = columns.firstIndex { $0 === key && $0.hasEachInteger }
      stored = columns.filter(\.isComputed)
      plain = columns.filter { !$0.isComputed }
    }

    /// The names of the columns.
    package var columnNames: [String] { columns.map(\.name) }
    /// The names of the columns that are stored properties.
    package var writableColumns: [String] { plain.map(\.name) }
    /// The names of the properties with a row that this one refers to.
    package var referenceNames: [String] {
      relations.filter { $0.kind == .reference }.map(\.name)
    }
    /// The class of the row that a property refers to.
    package func reference(_ name: String) -> (any ObservableRecord.Type)? {
      relation(name).flatMap { $0.kind == .reference ? $0.target : nil }
    }
    /// The column by which a property refers to a row.
    package func column(of reference: String) -> String? { relation(reference)?.column }

    func column(_ slot: Int) -> RecordColumn? {
      slot < columnsBySlot.count ? columnsBySlot[slot] : nil
    }

    func relation(_ name: String) -> RecordRelation? { relations.first { $0.name == name } }
  }

  /// A column of a class.
  final class RecordColumn: @unchecked Sendable {
    // Immutable after init; the closures only touch what they are given, on its thread.
    let name: String
    let slot: Int
    /// Whether the property is computed, and `@Stored`.
    let isComputed: Bool
    let type: Any.Type
    let read: (AnyObject) throws -> StoredValue
    /// Gives an object the value of another one; nil for a constant.
    let copy: ((_ source: AnyObject, _ target: AnyObject) -> Void)?
    /// Gives an object a value of the database; false where the property cannot have it.
    let write: ((AnyObject, StoredValue) -> Bool)?
    /// What is written for a value of the database once that is read; nil where it cannot be read.
    let canonical: (StoredValue) -> StoredValue?

    init(
      name: String, slot: Int, isComputed: Bool, type: Any.Type,
      read: @escaping (AnyObject) throws -> StoredValue,
      copy: ((_ source: AnyObject, _ target: AnyObject) -> Void)?,
      write: ((AnyObject, StoredValue) -> Bool)?,
      canonical: @escaping (StoredValue) -> StoredValue?
    ) {
      (self.name, self.slot, self.isComputed, self.type) = (name, slot, isComputed, type)
      (self.read, self.copy, self.write) = (read, copy, write)
      self.canonical = canonical
    }

    /// How an error names the type.
    var expectation: String { storageName(of: type).described }
    var storage: ColumnStorage { storageName(of: type) }
    /// Whether the property has each integer of SQLite as it is.
    var hasEachInteger: Bool {
      if case .integer(let type) = storage { type == Int64.self || type == Int.self } else { false }
    }
    /// Whether a property may be nil.
    var isOptional: Bool { type is any OptionalColumn.Type }
  }

  /// A property that other rows belong to.
  struct RecordRelation {
    enum Kind { case many, one, reference }
    let kind: Kind
    let name: String
    /// The class of the other rows.
    let target: any ObservableRecord.Type
    /// The column that refers to a row: of the other class, or of this one where it is a reference.
    let column: String
  }

  /// An entry in the list of columns and relations.
  public struct RecordEntry<Record: ObservableRecord> {
    let name: String
    var column: RecordColumn?
    var relation: RecordRelation?
    var paths: [String]?

    private init(
      _ name: String, column: RecordColumn? = nil, relation: RecordRelation? = nil,
      paths: [String]? = nil
    ) {
      (self.name, self.column, self.relation, self.paths) = (name, column, relation, paths)
    }

    /// A stored property of a type that the database knows.
    public static func column<Value: DatabaseValueConvertible>(
      _ name: String, _ slot: Int, get: @escaping (Record) -> Value,
      set: ((Record, Value) -> Void)? = nil
    ) -> Self { column(name, slot, .database(), get: get, set: set) }

    /// A stored property that is encoded as JSON.
    @_disfavoredOverload
    public static func column<Value: Codable>(
      _ name: String, _ slot: Int, get: @escaping (Record) -> Value,
      set: ((Record, Value) -> Void)? = nil
    ) -> Self { column(name, slot, .json(), get: get, set: set) }

    /// A computed property that is a column, too.
    public static func stored<Value: DatabaseValueConvertible>(
      _ name: String, _ slot: Int, _ storage: @escaping (Record) -> Lazy<Value>
    ) -> Self { column(name, slot, .database(), isComputed: true, get: { try storage($0).get() }) }

    /// A computed property that is a column with JSON.
    @_disfavoredOverload
    public static func stored<Value: Codable>(
      _ name: String, _ slot: Int, _ storage: @escaping (Record) -> Lazy<Value>
    ) -> Self { column(name, slot, .json(), isComputed: true, get: { try storage($0).get() }) }

    private static func column<Value>(
      _ name: String, _ slot: Int, _ coding: ColumnCoding<Value>, isComputed: Bool = false,
      get: @escaping (Record) throws -> Value, set: ((Record, Value) -> Void)? = nil
    ) -> Self {
      let (encode, decode) = (coding.encode, coding.decode)
      func typed(_ object: AnyObject) -> Record { unsafeDowncast(object, to: Record.self) }
      return Self(
        name,
        column: RecordColumn(
          name: name, slot: slot, isComputed: isComputed, type: Value.self,
          read: { try encode(get(typed($0))) },
          copy: set.map { set in
            { source, target in
              if let value = try? get(typed(source)) { set(typed(target), value) }
            }
          },
          write: set.map { set in
            { object, value in
              guard let value = decode(value) else { return false }
              set(typed(object), value)
              return true
            }
          }, canonical: { decode($0).flatMap { try? encode($0) } }))
    }

    /// What a computed property comes from.
    public static func computed(_ name: String, _ paths: [String]) -> Self {
      Self(name, paths: paths)
    }

    /// The rows of another class that refer to this one.
    public static func hasMany(
      _ name: String, _ slot: Int, _ target: any ObservableRecord.Type, by column: String
    ) -> Self { relation(.many, name, target, column) }

    /// The row of another class that refers to this one.
    public static func hasOne(
      _ name: String, _ slot: Int, _ target: any ObservableRecord.Type, by column: String
    ) -> Self { relation(.one, name, target, column) }

    /// The row that a column of this class refers to.
    public static func belongsTo(
      _ name: String, _ slot: Int, _ target: any ObservableRecord.Type, by column: String
    ) -> Self { relation(.reference, name, target, column) }

    private static func relation(
      _ kind: RecordRelation.Kind, _ name: String, _ target: any ObservableRecord.Type,
      _ column: String
    ) -> Self {
      Self(
        name, relation: RecordRelation(kind: kind, name: name, target: target, column: column))
    }
  }
#endif
