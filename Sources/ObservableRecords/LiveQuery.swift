#if Records
  internal import Observables

  /// What is read on the thread of the database: the result is put to use on the loop's thread.
  typealias ReadJob = (Database) throws -> () -> Void

  /// A list that shows the result of a request, as long as the program has it.
  class LiveQuery {
    /// The tables that the request reads, in lower case.
    let tables: Set<String>
    /// Whether the list may differ from the result.
    var isStale = false

    init(_ tables: Set<String>) { self.tables = tables }

    /// Whether the program still has the list.
    var isNeeded: Bool { false }
    func isConcerned(by changes: DatabaseChanges) -> Bool {
      isStale || changes.isEverything || changes.tables.keys.contains { tables.contains($0) }
    }

    func lists(_ table: RecordTable) -> Bool { false }
    /// Takes out rows that are deleted here.
    func removeDeleted() {}
    /// What brings the list up to date.
    func job(readAfter number: Int) -> ReadJob? { nil }
    /// The list stays as it is from now on.
    func end() {}
  }

  /// A list of rows of one class.
  final class RowQuery<Record: ObservableRecord>: LiveQuery {
    private weak var array: ObservableArray<Record>?
    private var request: QueryInterfaceRequest<Record>
    private let table: RecordTable
    private unowned let store: RecordStore
    private var keys: [RecordKey]

    init(
      _ array: ObservableArray<Record>, _ request: QueryInterfaceRequest<Record>,
      _ table: RecordTable, _ store: RecordStore, tables: Set<String>
    ) {
      (self.array, self.request, self.table, self.store) = (array, request, table, store)
      keys = array.compactMap { $0.recordState.key }
      super.init(tables)
    }

    override var isNeeded: Bool { array != nil }

    override func lists(_ table: RecordTable) -> Bool { table === self.table }

    override func removeDeleted() {
      guard let array, array.contains(where: \.isDeleted) else { return }
      array.removeAll { $0.isDeleted }
      keys = array.compactMap { $0.recordState.key }
      isStale = true
    }

    override func end() { array = nil }

    /// Asks for other rows from now on.
    func replace(_ request: QueryInterfaceRequest<Record>) {
      self.request = request
      isStale = true
    }

    override func job(readAfter number: Int) -> ReadJob? {
      if array == nil { return nil }
      isStale = false
      let (request, former) = (request, keys)
      return { db in
        let keys = try Self.keys(of: request, db)
        let known = Set(former)
        let missing = keys.filter { !known.contains($0) }
        let rows = try Self.rows(missing, db)
        return { [weak self] in self?.show(keys, rows, readAfter: number) }
      }
    }

    private static func keys(
      of request: QueryInterfaceRequest<Record>, _ db: Database
    ) throws -> [RecordKey] {
      let values = try request.select(Column(Record.primaryKeyName), as: DatabaseValue.self)
        .fetchCursor(db)
      var keys: [RecordKey] = []
      while let value = try values.next() {
        if let key = RecordKey(value) { keys.append(key) }
      }
      return keys
    }

    private static func rows(_ keys: [RecordKey], _ db: Database) throws -> [Record] {
      var rows: [Record] = []
      for part in keys.parts(of: 10_000) {
        let values = part.map(\.databaseValue)
        rows += try Record.filter(values.contains(Column(Record.primaryKeyName))).fetchAll(db)
      }
      return rows
    }

    private func show(_ keys: [RecordKey], _ rows: [Record], readAfter number: Int) {
      guard let array else { return }
      let fresh = store.adopt(rows, table, readAfter: number)
      var shown: [Record] = []
      shown.reserveCapacity(keys.count)
      let isInOrder = self.keys.count == array.count
      for (place, key) in keys.enumerated() {
        // Most rows are where they were.
        if isInOrder, place < self.keys.count, self.keys[place] == key {
          let object = array[place]
          if !object.isDeleted { shown.append(object) }
        } else if let state = table.state(key) {
          if !state.isDeleted, let object = state.object as? Record { shown.append(object) }
        } else {
          // An object has gone meanwhile, which was thought to be there.
          isStale = true
        }
      }
      withExtendedLifetime(fresh) { array.become(shown) }
      self.keys = shown.compactMap { $0.recordState.key }
      if isStale { store.readAgain() }
    }
  }

  extension Array {
    /// The elements in parts of at most `count`.
    func parts(of count: Int) -> [ArraySlice<Element>] {
      stride(from: 0, to: self.count, by: count).map {
        self[$0..<Swift.min($0 + count, self.count)]
      }
    }
  }
#endif
