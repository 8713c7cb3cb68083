#if Records
  internal import Observables
  internal import Synchronization

  /// What one save writes, as values that another thread can use.
  struct SavePlan: Sendable {
    struct Operation: Sendable {
      enum Kind: Sendable { case insert, update, delete }
      let kind: Kind
      let table: String
      let keyName: String
      let key: DatabaseValue?
      var columns: [String]
      var values: [DatabaseValue]
      /// Columns that get the keys of rows which this save inserts: places in `values`, and places
      /// in the list of operations.
      ///
      /// The key of a row that is inserted later is written when all are there.
      var parents: [(value: Int, operation: Int)] = []
      /// The values that were saved last, to find out whether somebody else has changed them.
      var former: [DatabaseValue] = []
    }

    var operations: [Operation] = []
    /// How many transactions of others the store has heard of.
    var knownOthers = 0
    var knownVersion: Int?
    /// Whether nothing is written if others have written meanwhile: what was computed from rows
    /// that were read before may be wrong.
    var needsPresent = false

    var isEmpty: Bool { operations.isEmpty }
  }

  /// What became of a save.
  struct SaveResult: Sendable {
    /// Why nothing of it was saved.
    var failure: Failure?
    /// Whether nothing was saved as others have written meanwhile.
    var isOutdated = false
    /// The keys of inserted rows, by the places of the operations.
    var keys: [Int: DatabaseValue] = [:]
    /// Places of operations whose rows were not there any more.
    var missing: [Int] = []
    /// The columns that somebody else had changed, by the places of the operations.
    var conflicts: [Int: [String]] = [:]
    /// What was changed: the rows of the save, and those that triggers have changed.
    var changes = DatabaseChanges()
    var version: Int?

    struct Failure: Sendable {
      let error: any Error
      let operation: Int?
    }
  }

  extension SavePlan {
    /// Writes all of it in one transaction, or nothing.
    func run(_ db: Database, _ collector: ChangeCollector) -> SaveResult {
      var result = SaveResult()
      var place: Int?
      do {
        collector.beginOwn()
        defer { result.changes = collector.endOwn() }
        try db.inTransaction(.immediate) {
          // Rows may refer to each other; whether they do is checked when all are written.
          try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
          result.version = try Int.fetchOne(db, sql: "PRAGMA data_version")
          let isAlone =
            result.version == knownVersion && collector.otherTransactions == knownOthers
          if needsPresent, !isAlone {
            result.isOutdated = true
            return .rollback
          }
          for (index, operation) in operations.enumerated() {
            place = index
            try run(operation, at: index, db, isAlone, &result)
          }
          place = nil
          try referToLaterRows(db, result.keys)
          return .commit
        }
      } catch {
        result = SaveResult(
          failure: SaveResult.Failure(error: error, operation: place), version: nil)
      }
      return result
    }

    /// Gives rows the keys of those that were inserted after them, as rows may refer to each other.
    private func referToLaterRows(_ db: Database, _ keys: [Int: DatabaseValue]) throws {
      for (place, operation) in operations.enumerated() {
        for (value, parent) in operation.parents where parent >= place {
          let (table, key, column) = (
            operation.table.quotedDatabaseIdentifier, operation.keyName.quotedDatabaseIdentifier,
            operation.columns[value].quotedDatabaseIdentifier
          )
          let statement = try db.cachedStatement(
            sql: "UPDATE \(table) SET \(column) = ? WHERE \(key) = ?")
          try statement.execute(arguments: [keys[parent], keys[place] ?? operation.key])
        }
      }
    }

    private func run(
      _ operation: Operation, at index: Int, _ db: Database, _ isAlone: Bool,
      _ result: inout SaveResult
    ) throws {
      var values = operation.values
      for (value, parent) in operation.parents { values[value] = result.keys[parent] ?? .null }
      let (table, keyName) = (
        operation.table.quotedDatabaseIdentifier, operation.keyName.quotedDatabaseIdentifier
      )
      let names = operation.columns.map(\.quotedDatabaseIdentifier)
      switch operation.kind {
      case .insert:
        let marks = repeatElement("?", count: values.count).joined(separator: ", ")
        let statement = try db.cachedStatement(
          sql: values.isEmpty
            ? "INSERT INTO \(table) DEFAULT VALUES"
            : "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(marks))")
        try statement.execute(arguments: StatementArguments(values))
        if db.changesCount == 0 {
          throw RecordError(
            .notStorable, table: operation.table, "the table has ignored the row")
        }
        result.keys[index] =
          operation.key ?? db.lastInsertedRowID.databaseValue
      case .update:
        if !isAlone {
          let found = try Row.fetchOne(
            db, sql: "SELECT \(names.joined(separator: ", ")) FROM \(table) WHERE \(keyName) = ?",
            arguments: [operation.key])
          if let found {
            let conflicts = operation.columns.indices.filter { place in
              place < operation.former.count
                && found[place] as DatabaseValue != operation.former[place]
                && found[place] as DatabaseValue != values[place]
            }
            if !conflicts.isEmpty {
              result.conflicts[index] = conflicts.map { operation.columns[$0] }
            }
          }
        }
        let statement = try db.cachedStatement(
          sql: """
            UPDATE \(table) SET \(names.map { "\($0) = ?" }.joined(separator: ", ")) \
            WHERE \(keyName) = ?
            """)
        try statement.execute(arguments: StatementArguments(values + [operation.key ?? .null]))
        if db.changesCount == 0 {
          let isThere = try Bool.fetchOne(
            db, sql: "SELECT 1 FROM \(table) WHERE \(keyName) = ?", arguments: [operation.key])
          if isThere != nil {
            let row = operation.key.flatMap(RecordKey.init)?.description
            throw RecordError(
              .notStorable, table: operation.table, row: row, "the table has ignored the change")
          }
          result.missing.append(index)
        }
      case .delete:
        let statement = try db.cachedStatement(sql: "DELETE FROM \(table) WHERE \(keyName) = ?")
        try statement.execute(arguments: [operation.key ?? .null])
      }
    }
  }

  /// A save under way, whose result one thread waits for or gets later.
  final class RunningSave: Sendable {
    /// The states of the objects, in the order of the operations.
    // They, and the waiters, are only used on the loop's thread.
    nonisolated(unsafe) let states: [RecordState]
    typealias Waiter = (Result<Void, SaveError>) -> Void
    /// Those who wait for its end.
    nonisolated(unsafe) let waiters: [Waiter]
    let plan: SavePlan
    private let result = Mutex<SaveResult?>(nil)

    init(_ states: [RecordState], _ plan: SavePlan, _ waiters: [Waiter]) {
      (self.states, self.plan, self.waiters) = (states, plan, waiters)
    }

    func finish(_ result: SaveResult) { self.result.withLock { $0 = result } }

    /// The result, which is there once the thread of the database has done the work.
    func take() -> SaveResult? { result.withLock { $0 } }
  }
#endif
