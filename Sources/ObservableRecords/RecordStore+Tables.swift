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
      let layout = try read { try TableLayout($0, schema) }
      try layout.check(schema)
      let table = RecordTable(record, self, layout)
      tables[ObjectIdentifier(record)] = table
      registering.append(table)
      collector.follow(layout)
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
#endif
