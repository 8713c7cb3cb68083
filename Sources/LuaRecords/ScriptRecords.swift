#if Records
  public import LuaObservables
  public import ObservableRecords
  public import Observables
  internal import Lua

  /// A store for scripts.
  ///
  /// ```swift
  /// let records = try ScriptRecords(store, for: host, [
  ///   ScriptRecord(Invoice.self, [.query, .write]), ScriptRecord(Item.self, .all),
  /// ])
  /// try host.set("store", to: records)
  /// ```
  ///
  /// ```lua
  /// local options = { where = "total > ?", args = { 100 }, order = "total desc" }
  /// local open = store:query("Invoice", options)
  /// store:insert("Item", { product = "tea", quantity = 2, price = 1.5, invoice = open[1] })
  /// ```
  ///
  /// Confined to the loop's thread.
  public final class ScriptRecords: ScriptModel {
    /// There are no properties; scripts use the methods.
    public static let properties = ModelProperties(for: ScriptRecords.self) {}
    /// `query`, `find`, `insert`, `delete` and `save`.
    public static let methods = ModelMethods(for: ScriptRecords.self) {
      Method("query") { (records: ScriptRecords, name: String, options: LuaTable?) in
        try records.query(name, options)
      }
      Method("find") { (records: ScriptRecords, name: String, key: LuaValue) in
        try records.find(name, key)
      }
      Method("insert") { (records: ScriptRecords, name: String, values: LuaTable) in
        try records.insert(name, values)
      }
      Method("delete") { (records: ScriptRecords, object: LuaValue) in try records.delete(object) }
      Method("save") { (records: ScriptRecords) in try records.store.save() }
    }
    /// The watchers of the object.
    public let observation = ModelObservation()

    /// The store.
    public let store: RecordStore
    private unowned let host: LuaHost
    private let classes: [String: ScriptRecord]

    /// Lets the scripts of a host use classes of a store.
    ///
    /// From now on, the scripts of this host can change rows only of classes with
    /// ``RecordRights/write``, wherever the rows come from.
    ///
    /// - Precondition: the host has only one such object, created before its scripts get rows.
    /// - Throws: `RecordError` for a class that does not match its table, and errors of the
    ///   database.
    public init(_ store: RecordStore, for host: LuaHost, _ classes: [ScriptRecord]) throws {
      (self.store, self.host) = (store, host)
      self.classes = Dictionary(classes.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
      precondition(host.writeGuard == nil, "The host has an object for rows already")
      let rights = Dictionary(
        classes.map { (ObjectIdentifier($0.record), $0.rights) }, uniquingKeysWith: { $1 })
      host.writeGuard = WriteGuard(
        concerns: { $0 is any ObservableRecord.Type },
        check: { [weak store] type, property in
          let needed: RecordRights = property == nil ? [.write, .delete] : .write
          let granted = rights[ObjectIdentifier(type)] ?? []
          if !granted.isSuperset(of: needed) {
            let what = property == nil ? "lists of rows" : "rows"
            return "scripts may not change \(what) of '\(type)' here"
          }
          guard let property, let record = type as? any ObservableRecord.Type,
            store?.isGenerated(property, of: record) == true
          else { return nil }
          return "'\(property)' of \(type): \(TableLayout.generatedRefusal)"
        })
      for entry in classes { try store.use(entry.record) }
    }

    // MARK: Methods

    private func query(_ name: String, _ options: LuaTable?) throws -> any KeyPathObservable {
      let entry = try entry(name, .query, "queried")
      let request = try QueryOptions(options, entry.record)
      func open<Record: ObservableRecord>(_ record: Record.Type) throws -> any KeyPathObservable {
        var rows = record.all()
        if let condition = request.condition {
          rows = rows.filter(sql: condition.sql, arguments: StatementArguments(condition.arguments))
        }
        if let order = request.order { rows = rows.order(sql: order) }
        if let limit = request.limit { rows = rows.limit(limit) }
        return try store.query(rows)
      }
      return try open(entry.record)
    }

    private func find(_ name: String, _ key: LuaValue) throws -> (any ObservableRecord)? {
      let entry = try entry(name, .query, "queried")
      let key = try databaseValue(key, what: "the key")
      func open<Record: ObservableRecord>(_ record: Record.Type) throws -> (any ObservableRecord)? {
        try store.find(record, key)
      }
      return try open(entry.record)
    }

    private func insert(_ name: String, _ values: LuaTable) throws -> any ObservableRecord {
      let entry = try entry(name, .insert, "inserted")
      let schema = entry.record.recordSchema
      var columns: [String: any DatabaseValueConvertible] = [:]
      var references: [(name: String, object: any ObservableRecord)] = []
      try values.forEach { key, value throws(LuaError) in
        guard case .string(let text) = key, let name = text.text else {
          throw wrong("insert: the keys must be names of columns, not \(key.shown)")
        }
        if let target = schema.reference(name) {
          guard let object = self.object(value), type(of: object) == target else {
            throw wrong(
              "insert: '\(name)' of \(entry.name) must be a \(target), not \(described(value))")
          }
          references.append((name, object))
        } else if store.isGenerated(name, of: entry.record) {
          throw wrong("insert: '\(name)' of \(entry.name): \(TableLayout.generatedRefusal)")
        } else if schema.writableColumns.contains(name) {
          columns[name] = try databaseValue(value, what: "'\(name)' of \(entry.name)")
        } else {
          let names = schema.writableColumns + schema.referenceNames
          throw wrong(
            "insert: \(entry.name) has no column '\(name)'"
              + didYouMean(name, among: names))
        }
      }
      for reference in references {
        if let column = schema.column(of: reference.name), columns[column] == nil {
          // The referenced row may have no key yet.
          columns[column] = reference.object.recordState.keyValue ?? 0
        }
      }
      let object = try entry.record.init(row: RecordRow.new(columns))
      try store.insert(object)
      for reference in references { object.recordState.refer(object, reference) }
      return object
    }

    private func delete(_ value: LuaValue) throws {
      guard let object = self.object(value) else {
        throw wrong("delete: a row was expected, not \(described(value))")
      }
      _ = try entry("\(type(of: object))", .delete, "deleted")
      store.delete(object)
    }

    // MARK: Arguments

    private func entry(
      _ name: String, _ right: RecordRights, _ what: String
    ) throws -> ScriptRecord {
      guard let entry = classes[name] else {
        throw wrong(
          "scripts cannot use rows of '\(name)' here"
            + didYouMean(name, among: Array(classes.keys)))
      }
      guard entry.rights.contains(right) else {
        throw wrong("rows of '\(name)' cannot be \(what) by scripts here")
      }
      return entry
    }

    private func object(_ value: LuaValue) -> (any ObservableRecord)? {
      host.object(value, as: AnyObject.self) as? any ObservableRecord
    }

    private func described(_ value: LuaValue) -> String {
      host.object(value, as: AnyObject.self).map { "\(type(of: $0))" } ?? value.typeName
    }
  }

  /// The options of a script's query.
  struct QueryOptions {
    private(set) var condition: WhereClause?
    private(set) var order: String?
    private(set) var limit: Int?

    private static let names = ["where", "args", "order", "limit"]
    /// The maximum number of values in a statement of SQLite.
    private static let maximumCount = 32_766

    init(_ options: LuaTable?, _ record: any ObservableRecord.Type) throws {
      guard let options else { return }
      var texts: [String: String] = [:]
      var values: [DatabaseValue] = []
      var hasValues = false
      try options.forEach { key, value throws(LuaError) in
        guard case .string(let key) = key, let name = key.text, Self.names.contains(name) else {
          throw wrong(
            "query: there is no option '\(key.shown)'"
              + didYouMean(key.shown, among: Self.names))
        }
        switch (name, value) {
        case ("args", .table(let list)):
          hasValues = true
          let count = try list.length
          guard (0...Self.maximumCount).contains(count) else {
            throw wrong("query: 'args' has at most \(Self.maximumCount) values, not \(count)")
          }
          for index in 0..<count {
            values.append(try databaseValue(list[index + 1], what: "args[\(index + 1)]"))
          }
        case ("limit", .integer(let count)) where count >= 0: limit = Int(count)
        case ("where", .string(let text)), ("order", .string(let text)):
          guard let text = text.text else { throw wrong("query: '\(name)' is not UTF-8") }
          texts[name] = text
        default:
          let expected = ["args": "a list of values", "limit": "a whole number from 0"][name]
          throw wrong("query: '\(name)' must be \(expected ?? "a text"), not \(value.typeName)")
        }
      }
      let columns = record.recordSchema.columnNames
      if let text = texts["where"] {
        condition = try WhereParser.condition(text, values, columns: columns, of: "\(record)")
      } else if hasValues, !values.isEmpty {
        throw wrong("query: 'args' has values for the '?' of 'where', which is missing")
      }
      if let text = texts["order"] {
        order = try WhereParser.order(text, columns: columns, of: "\(record)")
      }
    }
  }

  private func wrong(_ text: String) -> LuaError { LuaError(text) }

  /// Converts a value of a script for the database.
  private func databaseValue(_ value: LuaValue, what: String) throws(LuaError) -> DatabaseValue {
    switch value {
    case .nil: return .null
    case .boolean(let value): return value.databaseValue
    case .integer(let value): return value.databaseValue
    case .number(let value):
      if value.isNaN { throw wrong("\(what) is NaN, which the database cannot store") }
      return value.databaseValue
    case .string(let text):
      guard let text = text.text else { throw wrong("\(what) is a string that is not UTF-8") }
      if text.utf8.contains(0) {
        throw wrong("\(what) is a string with a zero byte, which ends a text in the database")
      }
      return text.databaseValue
    case .table, .function, .userdata, .thread, .lightUserdata:
      throw wrong("\(what) must be a number, a string, a boolean or nil, not a \(value.typeName)")
    }
  }
#endif
