#if Records
  internal import Glibc

  /// Reads the rows of requests as objects.
  ///
  /// Most requests read the columns of a class in the order of its list: then each value is found
  /// by its place. An initializer learns that by a mark of the thread, as GRDB hands it just a row.
  enum RowReader {
    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      let status = pthread_key_create(&key, nil)
      precondition(status == 0, "The process has no keys left for values of threads")
      return key
    }()

    /// What this thread reads.
    private struct Reading {
      let record: ObjectIdentifier
      let statement: SQLiteStatement
      let row: ObjectIdentifier
    }

    /// The statement that reads a row, where that has the columns of a class in their order.
    static func statement(
      of row: Row, for record: any ObservableRecord.Type
    ) -> SQLiteStatement? {
      let found = pthread_getspecific(key)?.assumingMemoryBound(to: Reading?.self).pointee
      guard let reading = found, reading.row == ObjectIdentifier(row),
        reading.record == ObjectIdentifier(record)
      else { return nil }
      return reading.statement
    }

    /// Calls `use` with each row of a request that fits, and `fail` with the error of another one.
    ///
    /// With a row `use` gets the statement that reads it, where that has the columns of the class
    /// in their order.
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
