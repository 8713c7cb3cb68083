#if Records
  public import Observables

  /// Queries, whose lists are kept up to date.
  extension RecordStore {
    /// The rows of a request, as a list that is kept up to date by the smallest edits (C10) as long
    /// as the program has it.
    ///
    /// It shows what is saved: changes come in when they are, at most once per turn, and only when
    /// a table that the request reads was written. Rows that are deleted here leave at once. The
    /// list is the store's to change. Waits for the database.
    ///
    /// - Throws: ``RecordError`` for a row that does not fit, and errors of the database.
    public func query<Record: ObservableRecord>(
      _ request: QueryInterfaceRequest<Record>
    ) throws -> ObservableArray<Record> {
      try open(request).array
    }

    /// The rows of a long result, page by page.
    ///
    /// - Throws: ``RecordError`` for a row that does not fit, and errors of the database.
    public func pages<Record: ObservableRecord>(
      of request: QueryInterfaceRequest<Record>, size: Int
    ) throws -> RecordPages<Record> {
      precondition(size > 0, "A page has at least one row, not \(size)")
      let (array, query) = try open(request.limit(size))
      return RecordPages(self, request, query, array, size)
    }

    private func open<Record: ObservableRecord>(
      _ request: QueryInterfaceRequest<Record>
    ) throws -> (array: ObservableArray<Record>, query: RowQuery<Record>) {
      let table = try table(of: Record.self)
      var names: Set<String> = []
      let rows: [Record] = try load(request, table) { db in
        names = try Self.tables(of: request, db)
      }
      let array = ObservableArray(rows)
      for name in names { collector.follow(name) }
      let query = RowQuery(array, request, table, self, tables: names)
      queries.removeAll { !$0.isNeeded }
      queries.append(query)
      startPolling()
      return (array, query)
    }

    /// The names of the tables that a request reads, in lower case.
    private static func tables(of request: some FetchRequest, _ db: Database) throws -> Set<String>
    {
      let region = try request.databaseRegion(db)
      let names = try db.schemaNames().flatMap { schema in
        try String.fetchAll(
          db,
          sql: """
            SELECT name FROM \(schema.quotedDatabaseIdentifier).sqlite_master WHERE type = 'table'
            """)
      }
      return Set(
        names.filter { region.isModified(byEventsOfKind: .insert(tableName: $0)) }
          .map { $0.lowercased() })
    }

    // MARK: Rows of relations

    /// Rows that refer to a row, as they are saved.
    ///
    /// What one query has brought is asked for together: one query for all.
    func related<Target: ObservableRecord>(
      _ relation: RecordRelation, _ slot: Int, to key: RecordKey, of table: RecordTable,
      _ state: RecordState
    ) throws -> [Target] {
      let name = PrefetchKey(table: ObjectIdentifier(table), name: relation.name)
      if prefetched[name]?[key] == nil {
        let target = try self.table(of: Target.self)
        let keys = siblings(of: state, key) { sibling in
          relation.kind == .one || sibling.relations[relation.name] == nil
        }
        let request = Target.filter(keys: keys, in: relation.column, table.layout.collation)
          .order(Column(Target.primaryKeyName))
        let rows: [Target] = try read { try RowReader.fetch($0, request) }
        var lists = Dictionary(
          keys.map { ($0, [any ObservableRecord]()) }, uniquingKeysWith: { $1 })
        let column = target.column(slot)
        let owners = rows.map { row in
          column.flatMap { try? $0.read(row) }.flatMap(table.key)
        }
        var objects: [Target] = []
        for (row, owner) in zip(rows, owners) {
          guard let owner, let object = target.adopt(row, readAfter: saveNumber) else { continue }
          if target.hasOneLink { object.recordState.mayBeUnlisted = false }
          lists[owner]?.append(object)
          objects.append(unsafeDowncast(object, to: Target.self))
        }
        group(objects, of: target)
        prefetched[name, default: [:]].merge(lists) { $1 }
        forgetPrefetchedAtTurnEnd()
      }
      let rows = prefetched[name]?.removeValue(forKey: key) ?? []
      let column = try self.table(of: Target.self).column(slot)
      return rows.compactMap { $0 as? Target }.filter { object in
        !object.isDeleted && state.isKey(try? column?.read(object))
      }
    }

    /// The row that a column refers to.
    func referenced<Target: ObservableRecord>(
      _ record: Target.Type, _ key: RecordKey, _ column: RecordColumn, by state: RecordState
    ) throws -> Target? {
      let target = try table(of: record)
      if let known = target.state(key) { return known.object as? Target }
      var wanted: [RecordKey] = []
      var seen: Set<RecordKey> = []
      for sibling in [state] + siblingStates(of: state) {
        guard let object = sibling.object, let other = target.key(try column.read(object)),
          seen.insert(other).inserted, target.state(other) == nil
        else { continue }
        wanted.append(other)
      }
      let request = record.filter(
        keys: wanted.prefix(10_000), in: record.primaryKeyName, .binary)
      let rows: [Target] = try read { try RowReader.fetch($0, request) }
      let objects = adopt(rows, target, readAfter: saveNumber)
      // The objects stay until the end of the turn, as their siblings ask for them next.
      let name = PrefetchKey(table: ObjectIdentifier(target), name: "")
      for object in objects {
        if let key = object.recordState.key { prefetched[name, default: [:]][key] = [object] }
      }
      forgetPrefetchedAtTurnEnd()
      return target.state(key)?.object as? Target
    }

    /// Objects that refer to a row and are not saved so yet.
    func unsaved<Target: ObservableRecord>(
      _ record: Target.Type, _ slot: Int, of owner: RecordState
    ) -> [Target] {
      guard let target = tables[ObjectIdentifier(record)], let column = target.column(slot) else {
        return []
      }
      return listed.compactMap { state in
        guard state.table === target, !state.isDeleted, let object = state.object as? Target else {
          return nil
        }
        if let parent = state.newParents[slot] { return parent === owner ? object : nil }
        return owner.isKey(try? column.read(object)) ? object : nil
      }
    }

    /// The objects came together: what is loaded for one of them is loaded for all.
    private func group(_ objects: [some ObservableRecord], of table: RecordTable) {
      let group = FetchGroup(table)
      for object in objects { object.recordState.join(group) }
    }

    private func siblingStates(of state: RecordState) -> [RecordState] {
      guard let group = state.group else { return [] }
      return group.states.filter { sibling in
        sibling !== state && sibling.hasObject && !sibling.isDeleted
      }
    }

    private func siblings(
      of state: RecordState, _ key: RecordKey, _ isWanted: (RecordState) -> Bool
    ) -> [RecordKey] {
      [key] + siblingStates(of: state).filter(isWanted).prefix(9_999).compactMap(\.key)
    }

    private func forgetPrefetchedAtTurnEnd() { askForTurnEnd() }
  }

  extension Database {
    /// The names of the database, of temporary tables, and of attached databases.
    func schemaNames() throws -> [String] {
      try Row.fetchAll(self, sql: "PRAGMA database_list").map { $0["name"] }
    }

    /// A number that grows when other connections write to the database, or to an attached one.
    func dataVersion() throws -> Int {
      let main = try Int.fetchOne(self, sql: "PRAGMA data_version") ?? 0
      return try schemaNames().reduce(main) { sum, schema in
        if schema == "main" || schema == "temp" { return sum }
        let name = schema.quotedDatabaseIdentifier
        return sum + (try Int.fetchOne(self, sql: "PRAGMA \(name).data_version") ?? 0)
      }
    }
  }

  /// What was loaded for rows that are still to ask for it.
  struct PrefetchKey: Hashable {
    let table: ObjectIdentifier
    let name: String
  }

  /// The rows of a long result, of which one page is in memory.
  public final class RecordPages<Record: ObservableRecord> {
    /// The rows of the page, kept up to date.
    public let rows: ObservableArray<Record>
    /// How many rows a page has.
    public let size: Int
    /// The page that is shown, from 0.
    public private(set) var page = 0
    private let store: RecordStore
    private let request: QueryInterfaceRequest<Record>
    private let query: RowQuery<Record>

    init(
      _ store: RecordStore, _ request: QueryInterfaceRequest<Record>, _ query: RowQuery<Record>,
      _ rows: ObservableArray<Record>, _ size: Int
    ) {
      (self.store, self.request, self.query) = (store, request, query)
      (self.rows, self.size) = (rows, size)
    }

    /// How many rows there are on all pages, counted now.
    ///
    /// - Throws: errors of the database.
    public func count() throws -> Int { try store.read { try request.fetchCount($0) } }

    /// Shows another page; one behind the last is empty.
    ///
    /// - Throws: ``RecordError`` for a row that does not fit, and errors of the database.
    public func show(_ page: Int) throws {
      precondition(page >= 0, "Pages are counted from 0, not \(page)")
      query.replace(request.limit(size, offset: page * size))
      self.page = page
      try store.readNow(query)
    }
  }

  @available(*, unavailable)
  extension RecordPages: Sendable {}
#endif
