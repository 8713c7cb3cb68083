#if Records
  internal import Observables

  /// The tables of the classes of a store, each compared with its class when that is used for the
  /// first time.
  final class RecordTables {
    private unowned let store: RecordStore
    private var tables: [ObjectIdentifier: RecordTable] = [:]
    /// The tables of classes that are being compared with them.
    private var registering: [RecordTable] = []

    init(_ store: RecordStore) { self.store = store }

    /// The tables that are in use, by their names.
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

    /// Makes the objects free: the store is closed.
    func close() {
      let tables = tables.values
      self.tables = [:]
      for table in tables { table.close() }
    }

    /// Compares a class with its table, and all classes that its relations lead to with theirs.
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

    /// Classes that lead to one which cannot be used cannot be used either: others forget them.
    private func forgetRegistered() {
      let failed = registering
      registering = []
      for table in failed { tables[ObjectIdentifier(table.record)] = nil }
      for table in tables.values { table.forget(failed) }
    }

    /// Tells the tables that have the columns of the relations of this one, and those on which its
    /// stored properties depend.
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
