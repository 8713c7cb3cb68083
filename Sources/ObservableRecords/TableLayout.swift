#if Records
  /// The definition of a class's table in the database.
  package final class TableLayout: Sendable {
    let name: String
    let columns: [ColumnInfo]
    /// The columns of the primary key.
    let key: [String]
    /// The name of the key in the class.
    let keyName: String
    /// The collation of keys.
    let collation: Collation
    /// Whether SQLite gives new rows their key.
    let hasAutomaticKey: Bool
    let foreignKeys: [ForeignKey]
    /// The columns that the database computes, in lower case.
    private let generated: Set<String>
    /// The unique constraints and indexes, except the row number.
    let uniqueKeys: [UniqueKey]
    /// Whether a constraint of the table may delete rows with the unique values of other rows.
    let mayReplace: Bool

    /// Columns whose values are unique in the table.
    struct UniqueKey: Sendable {
      let columns: [(name: String, collation: String)]
      /// Whether expressions over columns are unique, too.
      let hasExpressions: Bool
      /// Whether it is a constraint, which may define an action for conflicts.
      let isConstraint: Bool
    }

    init(_ db: Database, _ schema: RecordSchema) throws {
      name = schema.table
      keyName = schema.recordType.primaryKeyName
      guard try db.tableExists(name) else {
        throw RecordError(.noTable, table: name, "the database has no such table")
      }
      columns = try db.columns(in: name)
      let primaryKey = try db.primaryKey(name)
      key = primaryKey.columns
      // An integer key is the row number itself.
      hasAutomaticKey = primaryKey.isRowID && primaryKey.rowIDColumn != nil
      guard let collation = try TableLayout.keyCollation(of: name, db) else {
        throw RecordError(
          .otherTable, table: name, column: keyName,
          "the key has a custom collation; keys can use only BINARY, NOCASE or RTRIM")
      }
      self.collation = collation
      foreignKeys = try ForeignKey.all(of: name, db)
      // 2 is a column that is computed when it is read, 3 one that is stored.
      generated = Set(
        try Row.fetchAll(db, sql: "PRAGMA table_xinfo(\(name.quotedDatabaseIdentifier))")
          .filter { $0["hidden"] == 2 || $0["hidden"] == 3 }
          .map { ($0["name"] as String).lowercased() })
      uniqueKeys = try TableLayout.uniqueKeys(of: name, db)
      // SQLite has no query for the conflict action of a constraint. A false positive only costs
      // time.
      let definition = try String.fetchOne(
        db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)",
        arguments: [name])
      mayReplace =
        uniqueKeys.contains(where: \.isConstraint)
        && definition?.uppercased().contains("REPLACE") == true
      let hasNumbers =
        (try? db.makeStatement(sql: "SELECT rowid FROM \(name.quotedDatabaseIdentifier)")) != nil
      if !hasNumbers {
        throw RecordError(
          .otherTable, table: name,
          "a table WITHOUT ROWID cannot be observed: SQLite does not report its changes")
      }
    }

    /// The collation of a table's primary key; nil for a collation of the program.
    static func keyCollation(of table: String, _ db: Database) throws -> Collation? {
      let name = try Row.fetchAll(db, sql: "PRAGMA index_list(\(table.quotedDatabaseIdentifier))")
        .first { $0["origin"] == "pk" }
      // The row number has no index.
      guard let name: String = name?["name"] else { return .binary }
      let column = try Row.fetchOne(
        db, sql: "PRAGMA index_xinfo(\(name.quotedDatabaseIdentifier))")
      return Collation(column?["coll"] ?? "BINARY")
    }

    /// The error of writing a column that the database computes.
    package static let generatedRefusal =
      "the column is GENERATED: the database computes it, and it cannot be written"

    /// Whether the database computes a column.
    func isGenerated(_ column: String) -> Bool { generated.contains(column.lowercased()) }

    private func info(of column: String) -> ColumnInfo? {
      columns.first { $0.name.lowercased() == column.lowercased() }
    }

    /// The affinity of a column.
    func affinity(of column: String) -> ColumnAffinity {
      ColumnAffinity(info(of: column)?.type ?? "")
    }

    private static func uniqueKeys(of table: String, _ db: Database) throws -> [UniqueKey] {
      try Row.fetchAll(db, sql: "PRAGMA index_list(\(table.quotedDatabaseIdentifier))")
        .filter { $0["unique"] == true }
        .map { index in
          let name: String = index["name"]
          let parts = try Row.fetchAll(
            db, sql: "PRAGMA index_xinfo(\(name.quotedDatabaseIdentifier))"
          ).filter { $0["key"] == true }
          let columns = parts.compactMap { part -> (name: String, collation: String)? in
            (part["name"] as String?).map { ($0, part["coll"] ?? "BINARY") }
          }
          return UniqueKey(
            columns: columns, hasExpressions: columns.count < parts.count,
            isConstraint: index["origin"] != "c")
        }
    }

    /// Whether the values of a column are unique, alone or together with other columns.
    func isUnique(_ column: String) -> Bool {
      uniqueKeys.contains { key in
        key.hasExpressions
          || key.columns.contains { $0.name.lowercased() == column.lowercased() }
      }
    }

    /// Whether a column may have NULL.
    func mayBeNull(_ column: String) -> Bool { info(of: column)?.isNotNull == false }

    /// Compares a class with the table, column by column.
    func check(_ schema: RecordSchema) throws {
      var problems: [(column: String?, text: String)] = []
      let declared = Dictionary(
        columns.map { ($0.name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
      for column in schema.columns {
        guard let info = declared[column.name.lowercased()] else {
          problems.append((column.name, "'\(schema.recordType)' has it, the table does not"))
          continue
        }
        if !column.storage.fits(info.type) {
          problems.append(
            (
              column.name,
              "the table declares \(info.type), the property is of type '\(column.expectation)'"
            ))
        }
      }
      for info in columns
      where info.isNotNull && info.defaultValueSQL == nil && !isGenerated(info.name) {
        let isKnown = schema.columns.contains { $0.name.lowercased() == info.name.lowercased() }
        if !isKnown, !key.contains(info.name) {
          problems.append(
            (info.name, "it cannot be NULL, and '\(schema.recordType)' has no such property"))
        }
      }
      if schema.key == nil {
        problems.append(
          (nil, "'\(schema.recordType)' has no property '\(keyName)' for the key"))
      } else if key.map({ $0.lowercased() }) != [keyName.lowercased()] {
        let found = key.joined(separator: ", ")
        problems.append((nil, "the primary key is (\(found)), the class has '\(keyName)'"))
      }
      guard let first = problems.first else { return }
      let texts = problems.map { problem in
        (problem.column.map { "column '\($0)': " } ?? "") + problem.text
      }
      throw RecordError(
        .otherTable, table: name, column: problems.count == 1 ? first.column : nil,
        problems.count == 1 ? first.text : texts.joined(separator: "; "))
    }
  }
#endif
