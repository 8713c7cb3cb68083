#if Records
  internal import Observables

  /// Reads on the database's thread, and returns a closure that uses the result on the loop's
  /// thread.
  typealias ReadJob = (Database) throws -> () -> Void

  /// A list with the result of a request, kept up to date while the program holds the list.
  protocol LiveQuery: AnyObject {
    /// The tables that the request reads, in lower case.
    var tables: Set<String> { get }
    /// Whether the list may differ from the result.
    var isStale: Bool { get set }
    /// Whether the program still has the list.
    var isNeeded: Bool { get }
    func lists(_ table: RecordTable) -> Bool
    /// Removes rows that the program has deleted.
    func removeDeleted()
    /// Makes the job that updates the list; nil if the program no longer has it.
    ///
    /// Errors of rows that don't fit go to `fail`, which may throw; otherwise they are reported and
    /// the list stays as it is.
    func job(readAfter number: Int, fail: ((any Error) throws -> Void)?) -> ReadJob?
    /// Stops updating the list.
    func end()
  }

  extension LiveQuery {
    func isConcerned(by changes: DatabaseChanges) -> Bool {
      isStale || changes.isEverything || changes.tables.keys.contains { tables.contains($0) }
    }
  }

  /// A list of rows of one class.
  final class RowQuery<Record: ObservableRecord>: LiveQuery {
    let tables: Set<String>
    var isStale = false
    private weak var array: ObservableArray<Record>?
    private var request: QueryInterfaceRequest<Record>
    private let table: RecordTable
    private var keys: [RecordKey]

    init(
      _ array: ObservableArray<Record>, _ request: QueryInterfaceRequest<Record>,
      _ table: RecordTable, tables: Set<String>
    ) {
      (self.array, self.request, self.table, self.tables) = (array, request, table, tables)
      keys = array.compactMap { $0.recordState.key }
    }

    var isNeeded: Bool { array != nil }

    func lists(_ table: RecordTable) -> Bool { table === self.table }

    func removeDeleted() {
      guard let array, array.contains(where: \.isDeleted) else { return }
      array.removeAll { $0.isDeleted }
      keys = array.compactMap { $0.recordState.key }
      isStale = true
    }

    func end() { array = nil }

    /// Changes the request.
    func replace(_ request: QueryInterfaceRequest<Record>) {
      self.request = request
      isStale = true
    }

    func job(
      readAfter number: Int, fail: ((any Error) throws -> Void)?
    ) -> ReadJob? {
      if array == nil { return nil }
      isStale = false
      let (request, former, collation) = (request, keys, table.layout.collation)
      return { db in
        let keys = try Self.keys(of: request, collation, db)
        let edit = ListEdit(from: former, to: keys)
        let rows: [Record]
        do {
          rows = try Record.rows(with: edit.newElements(in: former), from: db)
        } catch let error as RecordError {
          try fail?(error)
          return { [weak self] in self?.table.store.report(error) }
        }
        return { [weak self] in self?.show(edit, former, rows, readAfter: number) }
      }
    }

    private static func keys(
      of request: QueryInterfaceRequest<Record>, _ collation: Collation, _ db: Database
    ) throws -> [RecordKey] {
      let selected = request.select(Column(Record.primaryKeyName), as: DatabaseValue.self)
      let statement = try selected.makePreparedRequest(db, forSingleResult: false).statement
      return try statement.keys(collation)
    }

    private func show(
      _ edit: ListEdit<RecordKey>, _ former: [RecordKey], _ rows: [Record], readAfter number: Int
    ) {
      guard let array else { return }
      let fresh = table.adopt(rows, readAfter: number)
      if keys.count != former.count || array.count != former.count || keys != former {
        // Rows were deleted here in the meantime, or the program has changed the list.
        replaceAll(by: edit.result(of: former), array)
      } else {
        apply(edit, array)
      }
      withExtendedLifetime(fresh) {}
      if isStale { table.store.reads.readAgain() }
    }

    private func apply(_ edit: ListEdit<RecordKey>, _ array: ObservableArray<Record>) {
      switch edit.kind {
      case .none: break
      case .move(let from, let to):
        array.move(from: from, to: to)
        keys.insert(keys.remove(at: from), at: to)
      case .replace(let range, let new):
        let objects = objects(new)
        guard objects.count == new.count else {
          return replaceAll(by: edit.result(of: keys), array)
        }
        array.replace(range, with: objects)
        keys.replaceSubrange(range, with: new)
      }
    }

    private func replaceAll(by keys: [RecordKey], _ array: ObservableArray<Record>) {
      let objects = objects(keys)
      array.become(objects)
      self.keys = objects.compactMap { $0.recordState.key }
    }

    /// Returns the objects of rows that are in memory, except rows that the program has deleted.
    private func objects(_ keys: [RecordKey]) -> [Record] {
      keys.compactMap { key in
        guard let state = table.state(key) else {
          // The object was in memory when the job was made, but is released now.
          isStale = true
          return nil
        }
        return state.isDeleted || state.phase == .new ? nil : state.object as? Record
      }
    }
  }

  extension Array {
    /// Splits the elements into parts of at most `count`.
    func parts(of count: Int) -> [ArraySlice<Element>] {
      stride(from: 0, to: self.count, by: count).map {
        self[$0..<Swift.min($0 + count, self.count)]
      }
    }
  }
#endif
