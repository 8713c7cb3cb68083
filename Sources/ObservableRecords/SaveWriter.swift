#if Records
  internal import Foundation
  internal import GRDBSQLite

  /// Writes the operations of a plan in a transaction.
  struct SaveWriter {
    private let plan: SavePlan
    private let db: Database
    var result = SaveResult()
    /// The group under way.
    private(set) var group: [Int]?
    /// The operation under way.
    private(set) var operation: Int?
    /// Whether a statement has ended the transaction.
    private(set) var hasLostTransaction = false
    /// Whether all writes of others are in memory.
    private var isAlone = false
    /// The operations on rows of tables whose constraints may replace rows.
    private var replaceable: [SaveReference: Int] = [:]
    private var written: Set<Int> = []

    init(_ plan: SavePlan, _ db: Database) { (self.plan, self.db) = (plan, db) }

    /// Whether an error is due to the written rows, not to the state of the database.
    static func isOfRows(_ error: any Error) -> Bool {
      guard let error = error as? DatabaseError else {
        return error is RecordError || error is ValuesTaken
      }
      let codes: [ResultCode] = [
        .SQLITE_CONSTRAINT, .SQLITE_ERROR, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_RANGE,
      ]
      return codes.contains(error.resultCode.primaryResultCode)
    }

    mutating func write(
      _ groups: [[Int]], _ collector: ChangeCollector
    ) throws -> Database.TransactionCompletion {
      // Rows may refer to each other, so references are checked when all rows are written.
      try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
      result.version = try db.dataVersion()
      isAlone =
        result.version == plan.knownVersion && collector.otherTransactions == plan.knownOthers
      if plan.needsPresent, !isAlone {
        result.isOutdated = true
        return .rollback
      }
      for (place, operation) in plan.operations.enumerated() where operation.layout.mayReplace {
        if let reference = SaveReference(operation) { replaceable[reference] = place }
      }
      if groups.count == 1 {
        try write(groups[0])
      } else {
        try writeEach(of: groups)
      }
      return result.replaced.isEmpty ? .commit : .rollback
    }

    /// Writes each group in a savepoint, and repeats failed groups while other groups succeed:
    /// these may have freed values that the failed groups need.
    private mutating func writeEach(of groups: [[Int]]) throws {
      var waiting = groups
      var isProgress = true
      while isProgress {
        var failures: [SaveResult.Failure] = []
        for group in waiting {
          let former = (result, written)
          do {
            try db.inSavepoint {
              try write(group)
              try checkReferences()
              return .commit
            }
          } catch {
            hasLostTransaction = !db.isInsideTransaction
            if hasLostTransaction || !SaveWriter.isOfRows(error) { throw error }
            (result, written) = former
            failures.append(
              SaveResult.Failure(error: error, operation: operation, group: group))
          }
        }
        isProgress = !failures.isEmpty && failures.count < waiting.count
        waiting = failures.map(\.group)
        result.failures = failures
      }
    }

    /// Checks that every referenced row exists.
    func checkReferences() throws {
      var (isBroken, highest) = (CInt(0), CInt(0))
      sqlite3_db_status(
        db.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &isBroken, &highest, 0)
      if isBroken != 0 {
        throw DatabaseError(
          resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: "FOREIGN KEY constraint failed")
      }
    }

    /// Writes operations in order; operations whose unique values are taken come last.
    ///
    /// Other operations may free these values. If all remaining operations wait for each other,
    /// their rows first get unused values.
    private mutating func write(_ group: [Int]) throws {
      self.group = group
      operation = nil
      if !isAlone { for place in group { try findConflicts(place) } }
      var waiting = group
      var hasMovedAside = false
      while !waiting.isEmpty {
        var postponed: Set<Int> = []
        var first: (place: Int, error: any Error)?
        for place in waiting {
          if !postponed.isEmpty, refers(place, toAnyOf: postponed) {
            postponed.insert(place)
            continue
          }
          operation = place
          do {
            try run(place)
            written.insert(place)
          } catch  where group.count > 1 && SaveWriter.isTaken(error) && db.isInsideTransaction {
            first = first ?? (place, error)
            postponed.insert(place)
          }
        }
        if let first, postponed.count == waiting.count {
          operation = first.place
          if hasMovedAside { throw first.error }
          hasMovedAside = true
          if try !moveAside(waiting) { throw first.error }
        }
        waiting.removeAll { !postponed.contains($0) }
      }
      operation = nil
      try referToLaterRows(group)
    }

    /// Whether a row needs the key of a row that is not inserted yet.
    private func refers(_ place: Int, toAnyOf places: Set<Int>) -> Bool {
      plan.operations[place].parents.contains { _, parent in
        if case .insert = plan.operations[parent].kind { places.contains(parent) } else { false }
      }
    }

    /// Whether another row has the unique values of the row.
    private static func isTaken(_ error: any Error) -> Bool {
      guard let error = error as? DatabaseError else { return error is ValuesTaken }
      let codes: [ResultCode] = [
        .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID,
      ]
      return codes.contains(error.extendedResultCode)
    }

    /// Gives unused unique values to rows that are to be updated; returns false if no row has got
    /// any.
    private func moveAside(_ places: [Int]) throws -> Bool {
      var hasMoved = false
      for place in places {
        let operation = plan.operations[place]
        guard case .update = operation.kind else { continue }
        for (column, value) in zip(operation.columns, operation.values)
        where operation.layout.isUnique(column.name) {
          let update = try db.cachedStatement(sql: operation.update([column]))
          let free = try freeValue(like: value.database, of: column, operation)
          // A table that does not accept the unused value may accept the final one.
          if (try? update.execute(arguments: [free, operation.key?.database])) != nil {
            hasMoved = true
          }
        }
      }
      return hasMoved
    }

    private func freeValue(
      like value: DatabaseValue, of column: RecordColumn, _ operation: SavePlan.Operation
    ) throws -> DatabaseValue {
      if operation.layout.mayBeNull(column.name) { return .null }
      switch value.storage {
      case .string: return UUID().uuidString.databaseValue
      case .blob: return Data(UUID().uuidString.utf8).databaseValue
      case .null, .int64, .double:
        let name = column.name.quotedDatabaseIdentifier
        return try DatabaseValue.fetchOne(
          db, sql: "SELECT max(\(name)) + 1 FROM \(operation.table)") ?? .null
      }
    }

    /// Writes references to rows that are inserted after the referring rows.
    private func referToLaterRows(_ group: [Int]) throws {
      for place in group {
        let operation = plan.operations[place]
        for (value, parent) in operation.parents where parent >= place {
          try db.cachedStatement(sql: operation.update([operation.columns[value]])).execute(
            arguments: [
              result.keys[parent]?.database, (result.keys[place] ?? operation.key)?.database,
            ])
        }
      }
    }

    /// Notes columns that another user has changed since they were read.
    private mutating func findConflicts(_ place: Int) throws {
      let operation = plan.operations[place]
      guard case .update = operation.kind else { return }
      let names = operation.columns.map(\.name.quotedDatabaseIdentifier)
      let found = try Row.fetchOne(
        db,
        sql: """
          SELECT \(names.joined(separator: ", ")) FROM \(operation.table) \
          WHERE \(operation.keyName) = ?
          """, arguments: [operation.key?.database])
      guard let found else { return }
      let conflicts = operation.columns.indices.filter { index in
        // The program does not choose the value of a computed column.
        if operation.columns[index].isComputed { return false }
        let value = StoredValue(found[index])
        // The same value may be written in several ways.
        let other = operation.columns[index].canonical(value) ?? value
        return other != operation.former[index] && other != operation.values[index]
      }
      if !conflicts.isEmpty {
        result.conflicts[place] = conflicts.map { operation.columns[$0].name }
      }
    }

    private mutating func run(_ place: Int) throws {
      let operation = plan.operations[place]
      var values = operation.values
      for (value, parent) in operation.parents { values[value] = result.keys[parent] ?? .null }
      let names = operation.columns.map(\.name.quotedDatabaseIdentifier)
      let rivals = try rivals(of: place, values)
      switch operation.kind {
      case .insert:
        let marks = repeatElement("?", count: values.count).joined(separator: ", ")
        let statement = try db.cachedStatement(
          sql: values.isEmpty
            ? "INSERT INTO \(operation.table) DEFAULT VALUES"
            : "INSERT INTO \(operation.table) (\(names.joined(separator: ", "))) VALUES (\(marks))")
        try statement.execute(arguments: StatementArguments(values.map(\.database)))
        if db.changesCount == 0 { throw operation.error("the table has ignored the row") }
        result.keys[place] =
          operation.key ?? StoredValue(db.lastInsertedRowID.databaseValue)
      case .update:
        try db.cachedStatement(sql: operation.update(operation.columns)).execute(
          arguments: StatementArguments((values + [operation.key ?? .null]).map(\.database)))
        if db.changesCount == 0 {
          if try exists(operation.key, operation) {
            throw operation.error("the table has ignored the change")
          }
          result.missing.append(place)
        }
      case .delete:
        try db.cachedStatement(
          sql: "DELETE FROM \(operation.table) WHERE \(operation.keyName) = ?"
        ).execute(arguments: [operation.key?.database])
      case .refused(let error): throw error
      }
      try findReplaced(rivals, by: place)
    }

    /// Whether the table of an operation has a row with this key.
    private func exists(_ key: StoredValue?, _ operation: SavePlan.Operation) throws -> Bool {
      let statement = try db.cachedStatement(
        sql: "SELECT 1 FROM \(operation.table) WHERE \(operation.keyName) = ?")
      return try Bool.fetchOne(statement, arguments: [key?.database]) != nil
    }

    // MARK: Constraints that replace rows

    /// Returns the keys of rows with the unique values of a row, if a constraint may delete them.
    ///
    /// - Throws: an error if the save has not written one of them yet, which may free the values.
    private func rivals(of place: Int, _ values: [StoredValue]) throws -> [StoredValue] {
      let operation = plan.operations[place]
      guard operation.layout.mayReplace else { return [] }
      switch operation.kind {
      case .delete, .refused: return []
      case .insert, .update: break
      }
      var conditions: [String] = []
      var arguments: [StoredValue] = []
      for key in operation.layout.uniqueKeys where key.isConstraint {
        let places = key.columns.map { operation.place(of: $0.name) }
        // A column that is not written has the value of the existing row, or NULL.
        if places.allSatisfy({ $0 == nil }) { continue }
        conditions.append(
          zip(key.columns, places).map { column, place in
            let name = column.name.quotedDatabaseIdentifier
            arguments.append(place.map { values[$0] } ?? operation.key ?? .null)
            let value =
              place == nil
              ? "(SELECT \(name) FROM \(operation.table) WHERE \(operation.keyName) = ?)" : "?"
            return "\(name) = \(value) COLLATE \(column.collation.quotedDatabaseIdentifier)"
          }.joined(separator: " AND "))
      }
      if conditions.isEmpty { return [] }
      let statement = try db.cachedStatement(
        sql: """
          SELECT \(operation.keyName) FROM \(operation.table) \
          WHERE (\(conditions.joined(separator: " OR "))) AND \(operation.keyName) IS NOT ?
          """)
      arguments.append(operation.key ?? .null)
      let keys = try DatabaseValue.fetchAll(
        statement, arguments: StatementArguments(arguments.map(\.database))
      ).map(StoredValue.init)
      for key in keys.compactMap({ RecordKey($0, operation.layout.collation) }) {
        let row = SaveReference(table: operation.layout.name.lowercased(), key: key)
        if let other = replaceable[row], !written.contains(other) {
          throw ValuesTaken(table: operation.layout.name, key: key)
        }
      }
      return keys
    }

    /// Notes the rows that a statement has deleted.
    private mutating func findReplaced(_ rivals: [StoredValue], by place: Int) throws {
      if rivals.isEmpty || !plan.findsReplaced { return }
      let operation = plan.operations[place]
      for key in rivals where try !exists(key, operation) {
        let insertion = result.keys.first {
          $0.value == key && plan.operations[$0.key].layout === operation.layout
        }
        result.replaced.append(
          SaveResult.Replaced(operation: place, key: key, insertion: insertion?.key))
      }
    }
  }

  /// An error: another row of the save has unique values of the row to be written.
  private struct ValuesTaken: Error, CustomStringConvertible {
    let table: String
    let key: RecordKey
    var description: String {
      "table '\(table)': row \(key), which is also unsaved, has the same unique values as this row"
    }
  }

  extension SavePlan.Operation {
    /// The quoted name of the table.
    fileprivate var table: String { layout.name.quotedDatabaseIdentifier }
    /// The quoted name of the key.
    fileprivate var keyName: String { layout.keyName.quotedDatabaseIdentifier }

    /// The statement that updates columns of a row.
    fileprivate func update(_ columns: [RecordColumn]) -> String {
      let values = columns.map { "\($0.name.quotedDatabaseIdentifier) = ?" }
      return "UPDATE \(table) SET \(values.joined(separator: ", ")) WHERE \(keyName) = ?"
    }
  }
#endif
