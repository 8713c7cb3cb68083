#if Records
  /// Reading again the rows in memory, and rows that lists may not contain yet.
  extension RecordTable {
    /// Makes the jobs that read the changed rows, and the lists that may contain them.
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
          let collation = lists.lazy.compactMap { $0.owner?.table?.layout.collation }
            .first { $0 != .binary }
          let keys = lists.compactMap { $0.owner?.key }
          jobs.append(reload(record, keys, in: column, collation ?? .binary, readAfter: number))
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

    /// Reads the rows with these keys, or with one of them in `column`.
    private func reload<Record: ObservableRecord>(
      _ record: Record.Type, _ keys: [RecordKey], in column: String? = nil,
      _ collation: Collation = .binary, readAfter number: Int
    ) -> ReadJob {
      { db in
        var errors: [any Error] = []
        let rows = try record.rows(with: keys, in: column, collation, from: db) {
          errors.append($0)
        }
        return { [weak self] in
          guard let self else { return }
          for error in errors { store.report(error) }
          let found = take(rows, readAfter: number)
          if column != nil { return }
          // Rows that do not fit still exist.
          let broken = Set(errors.compactMap { ($0 as? RecordError)?.row })
          vanished(
            keys.filter { !found.contains($0) && !broken.contains($0.description) },
            readAfter: number)
        }
      }
    }

    /// Finds rows that a constraint, or a replacing statement, has deleted.
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

    /// Marks rows as deleted that a read did not find.
    private func vanished(_ keys: [RecordKey], readAfter number: Int) {
      for key in keys {
        if let state = state(key), state.flight == .none, state.savedNumber <= number,
          state.phase == .saved || state.phase == .deleting
        {
          state.vanished()
        }
      }
    }

    /// Takes over rows that are in memory, or belong to a loaded list; returns their keys.
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

    /// Reads the rows with these keys, or with one of them in `column`, and returns their objects.
    func rows(
      _ keys: [RecordKey], in column: String? = nil, _ collation: Collation = .binary
    ) throws -> [any ObservableRecord] {
      func rows<Record: ObservableRecord>(_ record: Record.Type) throws -> [any ObservableRecord] {
        if keys.isEmpty { return [] }
        let rows = try store.read { try record.rows(with: keys, in: column, collation, from: $0) }
        return adopt(rows, readAfter: store.saves.number)
      }
      return try rows(record)
    }
  }

  extension ObservableRecord {
    /// Reads the rows with these keys, or with one of them in `column`, sorted by primary key.
    ///
    /// The keys are compared by `collation`. `fail` gets the errors of rows that do not fit.
    static func rows(
      with keys: [RecordKey], in column: String? = nil, _ collation: Collation = .binary,
      from db: Database, _ fail: (any Error) throws -> Void = { throw $0 }
    ) throws -> [Self] {
      var rows: [Self] = []
      for part in keys.parts(of: 10_000) {
        let wanted = part.map(\.databaseValue).contains(
          collation.column(column ?? primaryKeyName))
        try RowReader.forEach(
          db, filter(wanted).order(Column(primaryKeyName)), { row, _ in rows.append(row) }, fail)
      }
      return rows
    }
  }

  extension [RecordKey] {
    /// The keys in a reproducible order.
    fileprivate func sorted() -> [RecordKey] {
      sorted { a, b in
        if case .integer(let a) = a, case .integer(let b) = b { return a < b }
        return a.description < b.description
      }
    }
  }
#endif
