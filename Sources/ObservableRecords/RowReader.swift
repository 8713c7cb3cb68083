#if Records
  internal import LibC

  /// Reads the rows of requests as objects.
  ///
  /// Most requests read the columns of a class in the order of its list, so each value is found by
  /// its index. The initializer learns this from a thread-specific value, as GRDB passes it only a
  /// row.
  enum RowReader {
    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      let status = pthread_key_create(&key, nil)
      precondition(status == 0, "The process has no keys left for values of threads")
      return key
    }()

    /// The current read of this thread.
    private struct Reading {
      let record: ObjectIdentifier
      let statement: SQLiteStatement
      let row: ObjectIdentifier
    }

    /// The statement that reads a row, if its columns are the columns of the class in the same
    /// order.
    static func statement(
      of row: Row, for record: any ObservableRecord.Type
    ) -> SQLiteStatement? {
      let found = pthread_getspecific(key)?.assumingMemoryBound(to: Reading?.self).pointee
      guard let reading = found, reading.row == ObjectIdentifier(row),
        reading.record == ObjectIdentifier(record)
      else { return nil }
      return reading.statement
    }

    /// Calls `use` with each row of a request that fits, and `fail` with the error of each row that
    /// does not.
    ///
    /// `use` also gets the statement, if its columns are the columns of the class in the same
    /// order.
    static func forEach<Record: ObservableRecord>(
      _ db: Database, _ request: some FetchRequest,
      _ use: (Record, SQLiteStatement?) throws -> Void,
      _ fail: (any Error) throws -> Void
    ) throws {
      let prepared = try request.makePreparedRequest(db, forSingleResult: false)
      let names = Record.recordSchema.columns.map(\.name)
      let isPlain = prepared.adapter == nil && prepared.statement.columnNames.starts(with: names)
      let cursor = try Row.fetchCursor(prepared.statement, adapter: prepared.adapter)
      let statement = isPlain ? prepared.statement.sqliteStatement : nil
      let former = pthread_getspecific(key)
      defer { pthread_setspecific(key, former) }
      var reading: Reading?
      try withUnsafeMutablePointer(to: &reading) { reading in
        pthread_setspecific(key, reading)
        while let row = try cursor.next() {
          reading.pointee = statement.map {
            Reading(
              record: ObjectIdentifier(Record.self), statement: $0, row: ObjectIdentifier(row))
          }
          do { try use(try Record(row: row), statement) } catch { try fail(error) }
        }
      }
    }
  }
#endif
