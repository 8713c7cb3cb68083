#if Records
  /// Reading rows again that are in memory, and those that lists may lack.
  extension RecordTable {
    /// What reads the rows that changes concern, and the lists that may have such rows.
    func reloads(_ changes: DatabaseChanges, readAfter number: Int) -> [ReadJob] {
      let rows = changes.tables[name.lowercased()]
      let lists = store.relations.all.filter {
        $0.relation.target == record && $0.owner?.key != nil
      }
      var jobs: [ReadJob] = []
      if changes.isEverything || rows?.isAll == true || !hasAutomaticKey {
        let keys = Array(Set(liveKeys + awaitedKeys))
        if !keys.isEmpty { jobs.append(reload(record, keys, readAfter: number)) }
        for (column, lists) in Dictionary(grouping: lists, by: { $0.relation.column }) {
          jobs.append(relist(record, column, lists, readAfter: number))
        }
      } else if let rows {
        let keys = rows.numbers.map(RecordKey.integer)
        let wanted = lists.isEmpty ? keys.filter { state($0) != nil || isAwaited($0) } : keys
        if !wanted.isEmpty { jobs.append(reload(record, wanted.sorted(), readAfter: number)) }
        if rows.mayHaveReplaced {
          jobs.append(findReplaced(Array(Set(liveKeys).subtracting(wanted)), readAfter: number))
        }
      }
      return jobs
    }

    private func reload<Record: ObservableRecord>(
      _ record: Record.Type, _ keys: [RecordKey], readAfter number: Int
    ) -> ReadJob {
      { db in
        let (rows, errors) = try Self.rows(record, keys, in: record.primaryKeyName, .binary, db)
        return { [weak self] in
          guard let self else { return }
          for error in errors { store.report(error) }
          // Rows that do not fit are still there.
          let broken = Set(errors.compactMap { ($0 as? RecordError)?.row })
          let found = take(rows, readAfter: number)
          vanished(
            keys.filter { !found.contains($0) && !broken.contains($0.description) },
            readAfter: number)
        }
      }
    }

    /// Finds rows that a constraint, or a statement that replaces, has deleted.
    private func findReplaced(_ keys: [RecordKey], readAfter number: Int) -> ReadJob {
      let layout = layout
      return { db in
        var missing = Set(keys)
        for part in keys.parts(of: 10_000) {
          let marks = repeatElement("?", count: part.count).joined(separator: ", ")
          let key = layout.keyName.quotedDatabaseIdentifier
          let statement = try db.makeStatement(
            sql: """
              SELECT \(key) FROM \(layout.name.quotedDatabaseIdentifier) WHERE \(key) IN (\(marks))
              """)
          statement.arguments = StatementArguments(part.map(\.databaseValue))
          missing.subtract(try statement.keys(layout.collation))
        }
        return { [weak self] in self?.vanished(keys.filter(missing.contains), readAfter: number) }
      }
    }

    /// Reads the lists of rows again that refer to rows by one column.
    private func relist<Record: ObservableRecord>(
      _ record: Record.Type, _ column: String, _ lists: [LoadedRelation], readAfter number: Int
    ) -> ReadJob {
      let owners = lists.compactMap { $0.owner?.key }
      let collation = lists.lazy.compactMap { $0.owner?.table?.layout.collation }
        .first { $0 != .binary }
      return { db in
        let (rows, errors) = try Self.rows(record, owners, in: column, collation ?? .binary, db)
        return { [weak self] in
          guard let self else { return }
          for error in errors { store.report(error) }
          _ = take(rows, readAfter: number)
        }
      }
    }

    private static func rows<Record: ObservableRecord>(
      _ record: Record.Type, _ keys: [RecordKey], in column: String, _ collation: Collation,
      _ db: Database
    ) throws -> (rows: [Record], errors: [any Error]) {
      var rows: [Record] = []
      var errors: [any Error] = []
      for part in keys.parts(of: 10_000) {
        let request = record.filter(keys: part, in: column, collation)
          .order(Column(record.primaryKeyName))
        rows += try RowReader.fetch(db, request) { errors.append($0) }
      }
      return (rows, errors)
    }

    /// Rows are not there any more, where the database was read.
    private func vanished(_ keys: [RecordKey], readAfter number: Int) {
      for key in keys {
        if let state = state(key), state.flight == .none, state.savedNumber <= number,
          state.phase == .saved || state.phase == .deleting
        {
          state.vanished()
        }
      }
    }

    /// Takes over rows that may be in memory, or belong to a list that is; returns their keys.
    private func take(_ rows: [some ObservableRecord], readAfter number: Int) -> Set<RecordKey> {
      var found: Set<RecordKey> = []
      for row in rows {
        guard let key = key(of: row) else { continue }
        found.insert(key)
        let isKnown = state(key) != nil
        guard let object = adopt(row, readAfter: number),
          !isKnown || object.recordState.mayBeUnlisted
        else { continue }
        object.recordState.mayBeUnlisted = false
        answer(key)
        link(object)
      }
      return found
    }

    /// The objects of the rows whose column has one of these keys, read now.
    func rows(
      _ keys: [RecordKey], in column: String, _ collation: Collation = .binary
    ) throws -> [any ObservableRecord] {
      func rows<Record: ObservableRecord>(_ record: Record.Type) throws -> [any ObservableRecord] {
        var objects: [any ObservableRecord] = []
        for part in keys.parts(of: 10_000) {
          let request = record.filter(keys: part, in: column, collation)
          let rows: [Record] = try store.read { try RowReader.fetch($0, request) }
          objects += adopt(rows, readAfter: store.saves.number)
        }
        return objects
      }
      return try rows(record)
    }
  }

  extension ObservableRecord {
    /// The rows whose column has one of these keys, compared as those are.
    static func filter(
      keys: some Sequence<RecordKey>, in column: String, _ collation: Collation
    ) -> QueryInterfaceRequest<Self> {
      filter(keys.map(\.databaseValue).contains(collation.column(column)))
    }
  }

  extension [RecordKey] {
    /// The keys in an order that is the same each time.
    fileprivate func sorted() -> [RecordKey] {
      sorted { a, b in
        if case .integer(let a) = a, case .integer(let b) = b { return a < b }
        return a.description < b.description
      }
    }
  }
#endif
