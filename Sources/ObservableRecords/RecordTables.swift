#if Records
  internal import Observables

  /// The tables of a store's classes, each compared with its class on first use.
  final class RecordTables {
    private unowned let store: RecordStore
    private var tables: [ObjectIdentifier: RecordTable] = [:]
    /// The tables whose comparison with their classes is under way.
    private var registering: [RecordTable] = []

    init(_ store: RecordStore) { self.store = store }

    /// The tables in use, sorted by name.
    var all: [RecordTable] { tables.values.sorted { $0.name < $1.name } }

    func table(of record: any ObservableRecord.Type) throws -> RecordTable {
      if let table = tables[ObjectIdentifier(record)] { return table }
      try store.checkOpen()
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

    /// Releases the objects from the store when it is closed.
    func close() {
      let tables = tables.values
      self.tables = [:]
      for table in tables { table.close() }
    }

    /// Compares a class with its table, and does the same for all classes reachable by its
    /// relations.
    private func register(_ record: any ObservableRecord.Type) throws -> RecordTable {
      let schema = record.recordSchema
      let layout = try store.read { try TableLayout($0, schema) }
      try layout.check(schema)
      let table = RecordTable(record, store, layout)
      tables[ObjectIdentifier(record)] = table
      registering.append(table)
      store.reads.collector.follow(layout)
      try link(table)
      return table
    }

    /// Removes the classes of a failed registration: a class with a relation to an unusable class
    /// cannot be used either.
    private func forgetRegistered() {
      let failed = registering
      registering = []
      for table in failed { tables[ObjectIdentifier(table.record)] = nil }
      for table in tables.values { table.forget(failed) }
    }

    /// Links a table with the tables of its relations, and with the tables on which its stored
    /// properties depend.
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
      for column in table.schema.stored {
        var reader = StoredPathReader(self, table, column)
        try reader.read()
        for dependency in reader.found { (dependency.hops.last?.target ?? table).add(dependency) }
      }
    }
  }
#endif
