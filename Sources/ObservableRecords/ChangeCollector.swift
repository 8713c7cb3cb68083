#if Records
  internal import Observables
  internal import Synchronization

  /// The rows that other code, or a trigger, has changed.
  struct DatabaseChanges: Sendable {
    struct Rows: Sendable {
      var numbers: Set<Int64> = []
      /// Rows that were changed more than once: by a trigger or a foreign key, after the program.
      var repeated: Set<Int64> = []
      /// Whether the rows are too many to list, or unknown.
      var isAll = false
      /// Whether unique values were written.
      ///
      /// Such a write may have deleted the rows that had these values, which SQLite does not
      /// report.
      var mayHaveReplaced = false

      /// Adds a row; more than `limit` rows are not listed.
      mutating func add(_ number: Int64, _ limit: Int) {
        if isAll { return }
        if !numbers.insert(number).inserted { repeated.insert(number) }
        if numbers.count > limit { self = Rows(isAll: true) }
      }
    }

    /// The rows, by the names of their tables in lower case.
    var tables: [String: Rows] = [:]
    /// Whether any table may have changed, as another process has written.
    var isEverything = false
    /// Whether rows in memory are older than a commit of others until the changes are read.
    var isOfOthers = false

    var isEmpty: Bool { tables.isEmpty && !isEverything }

    func concerns(_ table: String) -> Bool { isEverything || tables[table.lowercased()] != nil }

    mutating func add(_ other: DatabaseChanges) {
      isEverything = isEverything || other.isEverything
      isOfOthers = isOfOthers || other.isOfOthers
      tables.merge(other.tables) { own, other in
        if own.isAll || other.isAll { return Rows(isAll: true) }
        return Rows(
          numbers: own.numbers.union(other.numbers), repeated: own.repeated.union(other.repeated),
          mayHaveReplaced: own.mayHaveReplaced || other.mayHaveReplaced)
      }
    }
  }

  /// Records the changes of this process's transactions, on the thread where GRDB writes.
  final class ChangeCollector: TransactionObserver, Sendable {
    private struct State {
      /// The names of the tables in lower case, and the layouts of tables with a class.
      var followed: [String: TableLayout?] = [:]
      /// Tables whose unique values are written by the current statement or an earlier one.
      var mayReplace: Set<String> = []
      /// Tables whose keys are written by the current statement or an earlier one.
      ///
      /// SQLite reports only the new number of a row, not the old one.
      var rekeyed: Set<String> = []
      var changes = DatabaseChanges()
      /// The changes of the store's own save, while one is under way.
      var own: DatabaseChanges?
      /// The maximum number of listed rows of a table.
      var limit = State.usualLimit
      static let usualLimit = 5_000
      /// The number of committed transactions of others.
      var others = 0
      var isStopped = false

      /// Clears the changes of a transaction that has ended.
      mutating func forget() { (changes, rekeyed, mayReplace) = (DatabaseChanges(), [], []) }
    }
    private let state = Mutex(State())
    let mail: ChangeMail

    init(_ mail: ChangeMail) { self.mail = mail }

    /// Follows the changes of a table, too.
    func follow(_ table: String) {
      state.withLock { state in
        if state.followed[table.lowercased()] == nil {
          state.followed.updateValue(nil, forKey: table.lowercased())
        }
      }
    }

    /// Follows the changes of the table of a class.
    func follow(_ layout: TableLayout) {
      state.withLock { $0.followed[layout.name.lowercased()] = layout }
    }

    func stop() { state.withLock { $0.isStopped = true } }

    /// The number of committed transactions of others.
    var otherTransactions: Int { state.withLock { $0.others } }

    /// Marks the next transaction, or the open one, as the store's own, which writes `count` rows.
    func beginOwn(_ count: Int) {
      state.withLock { state in
        state.own = DatabaseChanges()
        state.changes = DatabaseChanges()
        // The store need not read its own writes again.
        state.limit = State.usualLimit + count
      }
    }

    /// Returns the changes of the store's own transaction.
    func endOwn() -> DatabaseChanges {
      state.withLock { state in
        defer { (state.own, state.limit) = (nil, State.usualLimit) }
        return state.own ?? DatabaseChanges()
      }
    }

    // MARK: TransactionObserver

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
      let (table, columns, isDeletion): (String, Set<String>, Bool) =
        switch kind {
        case .insert(let table): (table.lowercased(), [], false)
        case .delete(let table): (table.lowercased(), [], true)
        case .update(let table, let columns): (table.lowercased(), columns, false)
        }
      return state.withLock { state in
        guard !state.isStopped, let layout = state.followed[table] else { return false }
        if !columns.isEmpty {
          let keys = ["rowid", "oid", "_rowid_", layout?.keyName.lowercased()]
          let writesKey = columns.contains { keys.contains($0.lowercased()) }
          if writesKey { state.rekeyed.insert(table) }
        }
        if let layout, !isDeletion,
          columns.isEmpty ? !layout.uniqueKeys.isEmpty : columns.contains(where: layout.isUnique)
        {
          state.mayReplace.insert(table)
        }
        return true
      }
    }

    func databaseDidChange() {
      // The program reports a change that SQLite does not report.
      state.withLock { $0.changes.isEverything = true }
    }

    func databaseDidChange(with event: DatabaseEvent) {
      let (table, number) = (event.tableName.lowercased(), event.rowID)
      state.withLock { state in
        if state.rekeyed.contains(table) {
          state.changes.tables[table] = DatabaseChanges.Rows(isAll: true)
        } else {
          let limit = state.limit
          state.changes.tables[table, default: DatabaseChanges.Rows()].add(number, limit)
          if state.mayReplace.contains(table), event.kind != .delete {
            state.changes.tables[table]?.mayHaveReplaced = true
          }
        }
      }
    }

    func databaseDidCommit(_ db: Database) {
      let changes = state.withLock { state -> DatabaseChanges? in
        defer { state.forget() }
        if state.isStopped || state.changes.isEmpty { return nil }
        if state.own != nil {
          state.own?.add(state.changes)
          return nil
        }
        state.others += 1
        return state.changes
      }
      if let changes { mail.post(changes) }
    }

    func databaseDidRollback(_ db: Database) {
      state.withLock { $0.forget() }
    }
  }

  /// Sends changes to the thread of a store.
  final class ChangeMail: Sendable {
    private let inbox: Inbox
    /// The changes that the store has not received yet, and the number of their transactions.
    private let waiting = Mutex<(changes: DatabaseChanges, count: Int)>((DatabaseChanges(), 0))
    // Only the loop's thread uses the reference.
    private nonisolated(unsafe) weak var store: RecordStore?

    init(inbox: Inbox) { self.inbox = inbox }

    func set(_ store: RecordStore) { self.store = store }

    func post(_ changes: DatabaseChanges) {
      waiting.withLock { waiting in
        waiting.changes.add(changes)
        waiting.count += 1
      }
      inbox.post { [weak self] in
        guard let store = self?.store else { return }
        store.reads.hearChanges()
      }
    }

    /// Returns all changes since the last call.
    func take() -> (changes: DatabaseChanges, count: Int) {
      waiting.withLock { waiting in
        defer { waiting = (DatabaseChanges(), 0) }
        return waiting
      }
    }
  }

  /// A value that one thread passes to another.
  ///
  /// The receiving thread takes the value out. The sender, whose work may end later, keeps no
  /// reference that could be the last one of a store or an object.
  final class Parcel<Value>: @unchecked Sendable {
    // The threads use the value one after the other: the message that opens the parcel comes last.
    private var value: Value?
    init(_ value: Value) { self.value = value }
    func open() -> Value {
      defer { value = nil }
      return value.unsafelyUnwrapped
    }
  }
#endif
