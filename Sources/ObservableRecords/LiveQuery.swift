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
    func lists(_ table: RecordTable) -> Bool
    /// Removes a row that was deleted.
    func remove(_ object: any ObservableRecord)
    /// Makes the job that updates the list.
    ///
    /// Errors of rows that don't fit go to `fail`, which may throw; otherwise they are reported and
    /// the list stays as it is.
    func job(readAfter number: Int, fail: ((any Error) throws -> Void)?) -> ReadJob
    /// Stops updating the list.
    func end()
  }

  extension LiveQuery {
    func isConcerned(by changes: DatabaseChanges) -> Bool {
      isStale || changes.isEverything || changes.tables.keys.contains { tables.contains($0) }
    }
  }

  /// A query for rows of one class, which the list of these rows owns.
  ///
  /// If the program changes the list, the change is an error, and is undone at the end of the turn.
  final class RowQuery<Record: ObservableRecord>: LiveQuery, CollectionSource {
    let tables: Set<String>
    var isStale = false
    private weak var array: ObservableArray<Record>?
    private var request: QueryInterfaceRequest<Record>
    private let table: RecordTable
    /// The rows that the store has put into the list.
    private var known: KnownElements<Record>
    private var watcher: Watcher?
    /// Whether a change by the program was reported in this turn.
    private var isChanged = false

    init(
      _ array: ObservableArray<Record>, _ request: QueryInterfaceRequest<Record>,
      _ table: RecordTable, tables: Set<String>
    ) throws {
      (self.array, self.request, self.table, self.tables) = (array, request, table, tables)
      known = KnownElements(array.elements)
      array.source = self
      // It does not report moves, which are found when the store changes the list.
      watcher = try array.observeImmediately("*", in: table.store.loop) { [weak self] _, _ in
        self?.noteChange()
      }
    }

    func lists(_ table: RecordTable) -> Bool { table === self.table }

    func remove(_ object: any ObservableRecord) {
      guard let object = object as? Record, known.contains(object) else { return }
      isStale = true
      change { array in _ = known.remove(object, from: array) }
    }

    func end() {
      watcher?.stop()
      array?.source = nil
      (array, watcher) = (nil, nil)
    }

    // MARK: Changes by the program

    let refusal =
      "the list of a query cannot be changed, it follows the database: "
      + "use the store's 'insert' and 'delete' to add and delete rows"

    private func noteChange() {
      guard let array, !isChanged, !known.isSame(as: array.elements) else { return }
      isChanged = true
      table.store.report(RecordError(.queryList, table: table.name, refusal))
      table.store.loop.whenTurnEnds { [weak self] in self?.change { _ in } }
    }

    /// Changes the list for the store, after undoing changes by the program.
    ///
    /// Observers are called when `known` has the changes, too.
    private func change(_ body: (ObservableArray<Record>) -> Void) {
      guard let array else { return }
      noteChange()
      isChanged = false
      table.store.loop.batch {
        if !known.isSame(as: array.elements) {
          array.become(known.elements)
          known.set(array.elements)
        }
        body(array)
      }
    }

    // MARK: Reading

    /// The keys of the listed rows.
    private var keys: [RecordKey] { known.elements.compactMap { $0.recordState.key } }

    /// Changes the request.
    func replace(_ request: QueryInterfaceRequest<Record>) {
      self.request = request
      isStale = true
    }

    func job(
      readAfter number: Int, fail: ((any Error) throws -> Void)?
    ) -> ReadJob {
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
      let fresh = table.adopt(rows, readAfter: number)
      change { array in
        if keys == former {
          apply(edit, former, array)
        } else {
          // Rows were deleted here in the meantime.
          array.become(objects(edit.result(of: former)))
        }
        known.set(array.elements)
      }
      withExtendedLifetime(fresh) {}
      if isStale { table.store.reads.readAgain() }
    }

    private func apply(
      _ edit: ListEdit<RecordKey>, _ former: [RecordKey], _ array: ObservableArray<Record>
    ) {
      switch edit.kind {
      case .none: break
      case .move(let from, let to): array.move(from: from, to: to)
      case .replace(let range, let new):
        let found = objects(new)
        if found.count == new.count {
          array.replace(range, with: found)
        } else {
          array.become(objects(edit.result(of: former)))
        }
      }
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
