#if Records
  public import Observables

  /// Reading rows: single reads by key or request, and queries whose lists are kept up to date.
  extension RecordStore {
    /// Returns the row with a primary key; nil if there is no such row.
    ///
    /// - Throws: ``RecordError`` for a row that does not fit, and errors of the database.
    public func find<Record: ObservableRecord>(
      _ record: Record.Type, _ key: some DatabaseValueConvertible
    ) throws -> Record? {
      let table = try table(of: record)
      let value = StoredValue(key.databaseValue)
      // SQLite would look for another value.
      guard value.obstacle == nil, let key = table.key(value) else { return nil }
      if let state = table.state(key) { return state.isDeleted ? nil : state.object as? Record }
      let request = record.filter(Column(record.primaryKeyName) == key.databaseValue)
      return try fetch(request).first
    }

    /// Returns the rows of a request; the result is not kept up to date.
    ///
    /// - Throws: ``RecordError`` for a row that does not fit, and errors of the database.
    public func fetch<Record: ObservableRecord>(
      _ request: some FetchRequest<Record>
    ) throws -> [Record] {
      let table = try table(of: Record.self)
      return try load(request, table)
    }

    /// Reads the rows of a request; `alsoRead` reads more in the same transaction.
    ///
    /// Rows that are not in memory become objects of the store on the reading thread, while the
    /// loop waits: later, they would have to be loaded into the processor's caches again.
    func load<Record: ObservableRecord>(
      _ request: some FetchRequest, _ table: RecordTable,
      alsoRead: (Database) throws -> Void = { _ in }
    ) throws -> [Record] {
      let group = FetchGroup(table)
      var rows: [Record] = []
      var known: [Int] = []
      try read { db in
        try RowReader.forEach(
          db, request,
          { (row: Record, statement) in
            guard let key = table.key(of: row, in: statement) else { return }
            // A row that a request returns twice is one object.
            if table.isKnown(key) {
              known.append(rows.count)
            } else {
              let state = row.recordState
              state.join(table, row, .saved, key: key, with: group)
              state.mayBeUnlisted = true
            }
            rows.append(row)
          }, { throw $0 })
        try alsoRead(db)
      }
      if known.isEmpty { return rows }
      var isGone: Set<Int> = []
      delayingCallbacks {
        for place in known {
          guard let object = table.adopt(rows[place], readAfter: saves.number) else {
            isGone.insert(place)
            continue
          }
          object.recordState.join(group)
          rows[place] = unsafeDowncast(object, to: Record.self)
        }
      }
      return isGone.isEmpty
        ? rows : rows.enumerated().filter { !isGone.contains($0.offset) }.map(\.element)
    }

    /// Returns the rows of a request as a list that is kept up to date by the smallest edits (C10),
    /// as long as the program holds the list.
    ///
    /// The list shows saved rows. It is updated after saves, at most once per turn, and only if a
    /// table that the request reads was written. Rows that the program deletes leave the list at
    /// once. Only the store may change the list: changes by the program are errors to ``onError``,
    /// and are undone at the end of the turn. The call waits for the database.
    ///
    /// - Throws: ``RecordError`` for a row that does not fit, and errors of the database.
    public func query<Record: ObservableRecord>(
      _ request: QueryInterfaceRequest<Record>
    ) throws -> ObservableArray<Record> {
      try open(request).array
    }

    /// Returns the rows of a long result, page by page.
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
      let query = try RowQuery(array, request, table, tables: names)
      reads.add(query)
      return (array, query)
    }

    /// Returns the names of the tables that a request reads, in lower case.
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

    /// Checks now whether another process has written, without waiting for the next interval.
    public func lookForChanges() { reads.polling.ask(self) }
  }

  extension Database {
    /// The names of the main database, of the temporary one, and of attached databases.
    func schemaNames() throws -> [String] {
      try Row.fetchAll(self, sql: "PRAGMA database_list").map { $0["name"] }
    }

    /// Returns a number that grows when other connections write to the database or an attached one.
    func dataVersion() throws -> Int {
      let main = try Int.fetchOne(self, sql: "PRAGMA data_version") ?? 0
      return try schemaNames().reduce(main) { sum, schema in
        if schema == "main" || schema == "temp" { return sum }
        let name = schema.quotedDatabaseIdentifier
        return sum + (try Int.fetchOne(self, sql: "PRAGMA \(name).data_version") ?? 0)
      }
    }
  }

  /// A long result with one page in memory.
  public final class RecordPages<Record: ObservableRecord> {
    /// The rows of the page, kept up to date.
    public let rows: ObservableArray<Record>
    /// The number of rows on a page.
    public let size: Int
    /// The index of the current page, from 0.
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

    /// Counts the rows on all pages.
    ///
    /// - Throws: errors of the database.
    public func count() throws -> Int { try store.read { try request.fetchCount($0) } }

    /// Shows another page; a page after the last one is empty.
    ///
    /// - Throws: ``RecordError`` for a row that does not fit, and errors of the database.
    public func show(_ page: Int) throws {
      precondition(page >= 0, "Pages are counted from 0, not \(page)")
      query.replace(request.limit(size, offset: page * size))
      self.page = page
      try store.reads.readNow(query)
    }
  }

  @available(*, unavailable)
  extension RecordPages: Sendable {}
#endif
