#if Records
  public import Observables

  /// The columns and relations of a class of rows, as `@ObservableModel` lists them.
  public final class RecordSchema: @unchecked Sendable {
    // Immutable after init; the closures use only the objects passed to them, on their thread.
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
    /// The column of the primary key; nil if no property has its name.
    let key: RecordColumn?
    /// The index of the key in the list of columns, if keys are integers; otherwise nil.
    let integerKeyPlace: Int?
    /// The columns of computed properties.
    let stored: [RecordColumn]
    /// The columns of stored properties.
    let plain: [RecordColumn]

    /// Creates the schema of a class from its entries.
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
    /// The names of the properties with a row to which this one refers.
    package var referenceNames: [String] {
      relations.filter { $0.kind == .reference }.map(\.name)
    }
    /// The class of the row to which a property refers.
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
    // Immutable after init; the closures use only the objects passed to them, on their thread.
    let name: String
    let slot: Int
    /// Whether the property is computed, and `@Stored`.
    let isComputed: Bool
    let type: Any.Type
    let read: (AnyObject) throws -> StoredValue
    /// Copies the value of one object to another; nil for a constant.
    let copy: ((_ source: AnyObject, _ target: AnyObject) -> Void)?
    /// Sets the property to a value of the database; returns false if it does not fit.
    let write: ((AnyObject, StoredValue) -> Bool)?
    /// Converts a value of the database to the value that would be written for it; nil if it cannot
    /// be read.
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

    /// The name of the type in errors.
    var expectation: String { storageName(of: type).described }
    var storage: ColumnStorage { storageName(of: type) }
    /// Whether the property can have each integer of SQLite.
    var hasEachInteger: Bool {
      if case .integer(let type) = storage { type == Int64.self || type == Int.self } else { false }
    }
    /// Whether the property may be nil.
    var isOptional: Bool { type is any OptionalColumn.Type }
  }

  /// A property with rows of another class, or a row to which this one refers.
  struct RecordRelation {
    enum Kind { case many, one, reference }
    let kind: Kind
    let name: String
    /// The class of the other rows.
    let target: any ObservableRecord.Type
    /// The column with the reference: a column of this class for a reference, otherwise of the
    /// other class.
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

    /// A computed property that is also a column.
    public static func stored<Value: DatabaseValueConvertible>(
      _ name: String, _ slot: Int, _ storage: @escaping (Record) -> LazyHandle<Value>
    ) -> Self { column(name, slot, .database(), isComputed: true, get: { try storage($0).get() }) }

    /// A computed property that is also a JSON column.
    @_disfavoredOverload
    public static func stored<Value: Codable>(
      _ name: String, _ slot: Int, _ storage: @escaping (Record) -> LazyHandle<Value>
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

    /// The key paths on which a computed property depends.
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

    /// The row to which a column of this class refers.
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
