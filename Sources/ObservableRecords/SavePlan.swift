#if Records
  internal import Observables
  internal import Synchronization

  /// What one save writes, as values that another thread can use.
  struct SavePlan: Sendable {
    struct Operation: Sendable {
      enum Kind: Sendable {
        case insert
        case update
        case delete
        /// The row cannot be written: a value of it cannot be stored.
        case refused(any Error)
      }
      let kind: Kind
      let layout: TableLayout
      var key: StoredValue?
      var columns: [RecordColumn] = []
      var values: [StoredValue] = []
      /// Columns that get the keys of rows which this save inserts: places in `values`, and places
      /// in the list of operations.
      ///
      /// The key of a row that is inserted later is written when all are there.
      var parents: [(value: Int, operation: Int)] = []
      /// The values that were saved last, to find out whether somebody else has changed them.
      var former: [StoredValue] = []

      var recordKey: RecordKey? { key.flatMap { RecordKey($0, layout.collation) } }

      func error(_ detail: String) -> RecordError {
        RecordError(.notStorable, table: layout.name, row: recordKey?.description, detail)
      }
    }

    var operations: [Operation] = []
    /// Operations that are saved together or not at all, beside those whose values say so.
    ///
    /// A number behind the last operation stands for a row that is not written itself.
    var related: [(Int, Int)] = []
    /// Whether nothing is saved where one operation fails.
    var isWhole = false
    /// How many transactions of others the store has heard of.
    var knownOthers = 0
    var knownVersion: Int?
    /// Whether nothing is written if others have written meanwhile: what was computed from rows
    /// that were read before may be wrong.
    var needsPresent = false
    /// Whether nothing is written if rows were deleted by constraints of their tables: the store
    /// deletes them itself then, with what depends on them.
    var findsReplaced = true

    var isEmpty: Bool { operations.isEmpty }
  }

  /// What became of a save.
  struct SaveResult: Sendable {
    /// Why operations were not saved; all others were.
    var failures: [Failure] = []
    /// Whether nothing was saved as others have written meanwhile.
    var isOutdated = false
    /// Rows that constraints have deleted, as operations have their unique values.
    ///
    /// Nothing was saved where there are any.
    var replaced: [Replaced] = []
    /// The keys of inserted rows, by the places of the operations.
    var keys: [Int: StoredValue] = [:]
    /// Places of operations whose rows were not there any more.
    var missing: [Int] = []
    /// The columns that somebody else had changed, by the places of the operations.
    var conflicts: [Int: [String]] = [:]
    /// What was changed: the rows of the save, and those that triggers have changed.
    var changes = DatabaseChanges()
    var version: Int?

    struct Replaced: Sendable {
      /// The operation that has the values.
      let operation: Int
      let key: StoredValue
      /// The operation that has inserted the row, where that is one of the same save.
      let insertion: Int?
    }

    struct Failure: Sendable {
      let error: any Error
      /// The operation that failed, where it was one.
      let operation: Int?
      /// The operations that were not saved for that.
      let group: [Int]
    }

    /// The places of operations that were not saved.
    var failed: Set<Int> { Set(failures.flatMap(\.group)) }
  }

  extension SavePlan {
    /// Writes all of it in one transaction.
    ///
    /// Where that fails by the rows, not by the database, each group of rows that depend on each
    /// other is written in a savepoint: what can be saved is.
    func run(_ db: Database, _ collector: ChangeCollector) -> SaveResult {
      let result = run([Array(operations.indices)], db, collector)
      guard let failure = result.failures.first, SaveWriter.isOfRows(failure.error), !isWhole else {
        return result
      }
      let groups = SaveGroups(self).groups
      return groups.count > 1 ? run(groups, db, collector) : result
    }

    private func run(
      _ groups: [[Int]], _ db: Database, _ collector: ChangeCollector
    ) -> SaveResult {
      var groups = groups
      var refused: [SaveResult.Failure] = []
      while true {
        var writer = SaveWriter(self, db)
        do {
          collector.beginOwn()
          defer { writer.result.changes = collector.endOwn() }
          try db.inTransaction(.immediate) { try writer.write(groups, collector) }
        } catch {
          guard groups.count > 1, let group = writer.group, writer.hasLostTransaction else {
            return SaveResult(failures: [
              SaveResult.Failure(
                error: error, operation: writer.operation, group: Array(operations.indices))
            ])
          }
          // A trigger has ended the transaction: all others are written without this group.
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
    /// Those who wait for its end.
    let waiters: [Waiter]
    let plan: SavePlan
    let end = SaveEnd()
    /// Whether another save follows: a turn has ended meanwhile, or somebody waits for it.
    var isFollowed = false

    init(_ states: [RecordState], _ plan: SavePlan, _ waiters: [Waiter]) {
      (self.states, self.plan, self.waiters) = (states, plan, waiters)
    }
  }

  /// The end of a save, which comes on the thread of the database.
  final class SaveEnd: Sendable {
    private let arrived = Mutex<SaveResult?>(nil)

    /// The result, which is there once the thread of the database has done the work.
    var result: SaveResult? { arrived.withLock { $0 } }

    func arrive(_ result: SaveResult) { arrived.withLock { $0 = result } }
  }
#endif
