#if Records
  internal import Observables

  /// The classes of a store, each compared with its table when it is used for the first time.
  extension RecordStore {
    func table(of record: any ObservableRecord.Type) throws -> RecordTable {
      if let table = tables[ObjectIdentifier(record)] { return table }
      try checkOpen()
      let isOutermost = registering.isEmpty
      do {
        let table = try register(record)
        if isOutermost { registering = [] }
        return table
      } catch {
        if isOutermost { forgetRegistered() }
        throw error
      }
    }

    /// Compares a class with its table, and all classes that its relations lead to with theirs.
    private func register(_ record: any ObservableRecord.Type) throws -> RecordTable {
      let schema = record.recordSchema
      let layout = try read { try TableLayout($0, schema.table) }
      try layout.check(schema)
      let table = RecordTable(
        record, self, hasAutomaticKey: layout.hasAutomaticKey, foreignKeys: layout.foreignKeys)
      tables[ObjectIdentifier(record)] = table
      registering.append(table)
      collector.follow(table.name, key: record.primaryKeyName)
      try link(table)
      return table
    }

    /// Classes that lead to one which cannot be used cannot be used either: others forget them.
    private func forgetRegistered() {
      let failed = registering
      registering = []
      for table in failed { tables[ObjectIdentifier(table.record)] = nil }
      for table in tables.values { table.forget(failed) }
    }

    /// Compares a class with its table now.
    package func use(_ record: any ObservableRecord.Type) throws { _ = try table(of: record) }

    /// Tells the tables that have the columns of the relations of this one.
    private func link(_ table: RecordTable) throws {
      for relation in table.schema.relations where relation.kind != .reference {
        let target = try self.table(of: relation.target)
        guard let column = target.schema.slots[relation.column], !column.isComputed else {
          throw RecordError(
            .otherTable, table: target.name, column: relation.column,
            "'\(table.record).\(relation.name)' needs this column as a property of "
              + "'\(target.record)'")
        }
        target.add(RecordTable.IncomingLink(owner: table, relation: relation), at: column.slot)
      }
      for relation in table.schema.relations where relation.kind == .reference {
        _ = try self.table(of: relation.target)
      }
      try checkStored(table)
    }

    /// The slot of the column, in the other class, that refers to a row.
    func slot(of relation: RecordRelation) throws -> Int? {
      try table(of: relation.target).schema.slots[relation.column]?.slot
    }
  }

  /// What the database says of a table.
  private struct TableLayout {
    let name: String
    let columns: [ColumnInfo]
    let key: [String]
    let hasAutomaticKey: Bool
    let foreignKeys: [ForeignKey]

    init(_ db: Database, _ name: String) throws {
      self.name = name
      guard try db.tableExists(name) else {
        throw RecordError(.noTable, table: name, "the database has no such table")
      }
      columns = try db.columns(in: name)
      let primaryKey = try db.primaryKey(name)
      key = primaryKey.columns
      // A key that is an integer is the number of the row itself.
      hasAutomaticKey = primaryKey.isRowID && primaryKey.rowIDColumn != nil
      foreignKeys = try ForeignKey.all(of: name, db)
      let hasNumbers =
        (try? db.makeStatement(sql: "SELECT rowid FROM \(name.quotedDatabaseIdentifier)")) != nil
      if !hasNumbers {
        throw RecordError(
          .otherTable, table: name,
          "a table WITHOUT ROWID cannot be observed: SQLite does not report its changes")
      }
    }

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
      for info in columns where info.isNotNull && info.defaultValueSQL == nil {
        let isKnown = schema.columns.contains { $0.name.lowercased() == info.name.lowercased() }
        if !isKnown, !key.contains(info.name) {
          problems.append(
            (info.name, "it cannot be NULL, and '\(schema.recordType)' has no such property"))
        }
      }
      let keyName = schema.recordType.primaryKeyName
      if schema.key == nil {
        problems.append(
          (nil, "'\(schema.recordType)' has no property '\(keyName)' for the key"))
      } else if key.map({ $0.lowercased() }) != [keyName.lowercased()] {
        let found = key.joined(separator: ", ")
        problems.append(
          (
            nil,
            "the primary key is (\(found)), the class has '\(keyName)'"
          ))
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
