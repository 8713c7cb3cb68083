#if Records
  internal import Observables
  internal import Synchronization

  /// The contents of one save, as values that another thread can use.
  struct SavePlan: Sendable {
    struct Operation: Sendable {
      enum Kind: Sendable {
        case insert
        case update
        case delete
        /// The row cannot be written, as one of its values cannot be stored.
        case refused(any Error)
      }
      let kind: Kind
      let layout: TableLayout
      var key: StoredValue?
      var columns: [RecordColumn] = []
      var values: [StoredValue] = []
      /// Columns that get the keys of rows inserted by this save: indexes in `values` and in the
      /// list of operations.
      ///
      /// The key of a row that is inserted later is written when all rows are inserted.
      var parents: [(value: Int, operation: Int)] = []
      /// The values of the last save, to find out whether another user has changed them.
      var former: [StoredValue] = []

      var recordKey: RecordKey? { key.flatMap { RecordKey($0, layout.collation) } }

      func error(_ detail: String) -> RecordError {
        RecordError(.notStorable, table: layout.name, row: recordKey?.description, detail)
      }
    }

    var operations: [Operation] = []
    /// Pairs of operations that are saved together or not at all, in addition to pairs related by
    /// their values.
    ///
    /// A number after the last operation is a row without an operation.
    var related: [(Int, Int)] = []
    /// Whether nothing is saved if one operation fails.
    var isWhole = false
    /// The number of received transactions of others.
    var knownOthers = 0
    var knownVersion: Int?
    /// Whether nothing is written if others have written in the meantime.
    ///
    /// Values that were computed from rows read before may be wrong then.
    var needsPresent = false
    /// Whether nothing is written if constraints of the tables delete rows.
    ///
    /// The store then deletes these rows itself, with the rows that depend on them.
    var findsReplaced = true

    var isEmpty: Bool { operations.isEmpty }
  }

  /// The outcome of a save.
  struct SaveResult: Sendable {
    /// The failures; all other operations were saved.
    var failures: [Failure] = []
    /// Whether nothing was saved as others have written in the meantime.
    var isOutdated = false
    /// Rows that constraints have deleted, as operations write their unique values.
    ///
    /// If there are any, nothing was saved.
    var replaced: [Replaced] = []
    /// The keys of inserted rows, by the indexes of the operations.
    var keys: [Int: StoredValue] = [:]
    /// The indexes of operations whose rows no longer exist.
    var missing: [Int] = []
    /// The columns that another user has changed, by the indexes of the operations.
    var conflicts: [Int: [String]] = [:]
    /// All changes: the rows of the save, and rows that triggers have changed.
    var changes = DatabaseChanges()
    var version: Int?

    struct Replaced: Sendable {
      /// The operation that writes the values.
      let operation: Int
      let key: StoredValue
      /// The operation that has inserted the row, if it belongs to the same save.
      let insertion: Int?
    }

    struct Failure: Sendable {
      let error: any Error
      /// The operation that failed, if it was one.
      let operation: Int?
      /// The operations that were not saved because of the failure.
      let group: [Int]
    }

    /// The indexes of operations that were not saved.
    var failed: Set<Int> { Set(failures.flatMap(\.group)) }
  }

  extension SavePlan {
    /// Writes all operations in one transaction.
    func run(_ db: Database, _ collector: ChangeCollector) -> SaveResult {
      collector.beginOwn(operations.count)
      var result = write(db, collector)
      result.changes = collector.endOwn()
      return result
    }

    /// Writes all operations, inside the open transaction if there is one.
    ///
    /// If it fails because of rows, not because of the database, each group of dependent operations
    /// is written in a savepoint, so that the other groups are saved.
    func write(_ db: Database, _ collector: ChangeCollector) -> SaveResult {
      let isInside = db.isInsideTransaction
      let result = write([Array(operations.indices)], db, collector)
      guard let failure = result.failures.first, SaveWriter.isOfRows(failure.error), !isWhole,
        db.isInsideTransaction == isInside
      else { return result }
      let groups = SaveGroups(self).groups
      return groups.count > 1 ? write(groups, db, collector) : result
    }

    private func write(
      _ groups: [[Int]], _ db: Database, _ collector: ChangeCollector
    ) -> SaveResult {
      let isInside = db.isInsideTransaction
      var groups = groups
      var refused: [SaveResult.Failure] = []
      while true {
        var writer = SaveWriter(self, db)
        do {
          if isInside {
            try db.inSavepoint {
              let completion = try writer.write(groups, collector)
              try writer.checkReferences()
              return completion
            }
          } else {
            try db.inTransaction(.immediate) { try writer.write(groups, collector) }
          }
        } catch {
          guard groups.count > 1, let group = writer.group, writer.hasLostTransaction, !isInside
          else {
            return SaveResult(failures: [
              SaveResult.Failure(
                error: error, operation: writer.operation, group: Array(operations.indices))
            ])
          }
          // A trigger has ended the transaction: the other groups are written again without this
          // one.
          refused.append(
            SaveResult.Failure(error: error, operation: writer.operation, group: group))
          groups.removeAll { $0 == group }
          continue
        }
        writer.result.failures += refused
        return writer.result
      }
    }
  }

  /// A save under way, on the loop's thread.
  final class RunningSave {
    typealias Waiter = (Result<Void, SaveError>) -> Void
    /// The states of the objects, in the order of the operations.
    let states: [RecordState]
    /// The callbacks that wait for the end.
    let waiters: [Waiter]
    let plan: SavePlan
    let end = SaveEnd()
    /// Whether another save follows, as a turn has ended in the meantime, or a caller waits for it.
    var isFollowed = false

    init(_ states: [RecordState], _ plan: SavePlan, _ waiters: [Waiter]) {
      (self.states, self.plan, self.waiters) = (states, plan, waiters)
    }
  }

  /// The end of a save, as reported by the database's thread.
  final class SaveEnd: Sendable {
    private let arrived = Mutex<SaveResult?>(nil)

    /// The result; available when the database's thread has done the work.
    var result: SaveResult? { arrived.withLock { $0 } }

    func arrive(_ result: SaveResult) { arrived.withLock { $0 = result } }
  }
#endif
