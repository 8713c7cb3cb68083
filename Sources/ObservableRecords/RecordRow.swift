#if Records
  internal import Foundation
  internal import GRDBSQLite
  internal import LibC

  /// A row that is read for a class, with errors that describe why it does not fit.
  public struct RecordRow {
    @usableFromInline let row: Row
    /// The statement that reads the row, if its columns are the columns of the class in the same
    /// order.
    @usableFromInline let statement: SQLiteStatement?
    private let record: any ObservableRecord.Type
    private var schema: RecordSchema { record.recordSchema }

    /// Wraps a row for an object of a class.
    public init(_ row: Row, of record: any ObservableRecord.Type) {
      (self.row, self.record) = (row, record)
      statement = RowReader.statement(of: row, for: record)
    }

    /// Returns the value of the column at an index in the class's list.
    ///
    /// - Throws: ``RecordError`` with the table, the column, the row, and the expected type.
    @inlinable
    public func value<Value: DatabaseValueConvertible>(
      _ column: String, _ place: Int
    ) throws -> Value {
      if let statement {
        // The row would determine anew how to read each type.
        let stored = DatabaseValue(sqliteStatement: statement, index: CInt(place))
        if let value = Value.fromDatabaseValue(stored), !isSuspect(stored, place) { return value }
      }
      return try value(column)
    }

    /// Returns the value of the JSON column at an index in the class's list.
    ///
    /// - Throws: ``RecordError`` as for other columns, with the error in the JSON.
    @_disfavoredOverload
    public func value<Value: Codable>(_ column: String, _ place: Int) throws -> Value {
      try value(column)
    }

    /// Whether a value may be a text that is not UTF-8, or a part of a text with a zero byte.
    @usableFromInline
    func isSuspect(_ stored: DatabaseValue, _ place: Int) -> Bool {
      guard case .string(let text) = stored.storage else { return false }
      return text.hasReplacement
        || sqlite3_column_bytes(statement, CInt(place)) != text.utf8.count
    }

    /// Makes a row for a new object; columns may be missing.
    package static func new(_ values: [String: any DatabaseValueConvertible]) -> Row {
      var columns: [String: (any DatabaseValueConvertible)?] = values.mapValues { $0 }
      columns[isNewName] = true
      return Row(columns)
    }

    /// A name that no column has.
    private static let isNewName = "(new)"
    private var isNew: Bool { row.hasColumn(RecordRow.isNewName) }
    @usableFromInline
    func isNew(without column: String) -> Bool { !row.hasColumn(column) && isNew }

    /// Returns the value of a column; a new object without the column gets the value of the
    /// declaration.
    ///
    /// - Throws: ``RecordError`` as for other columns.
    @inlinable
    public func value<Value: DatabaseValueConvertible>(
      _ column: String, _ place: Int, orIfNew value: @autoclosure () -> Value
    ) throws -> Value {
      if statement != nil { return try self.value(column, place) }
      return isNew(without: column) ? value() : try self.value(column)
    }

    /// Returns the value of a JSON column; a new object without the column gets the value of the
    /// declaration.
    ///
    /// - Throws: ``RecordError`` as for other columns.
    @_disfavoredOverload
    public func value<Value: Codable>(
      _ column: String, _ place: Int, orIfNew value: @autoclosure () -> Value
    ) throws -> Value {
      isNew(without: column) ? value() : try self.value(column)
    }

    /// Returns the value of a column.
    ///
    /// - Throws: ``RecordError`` with the table, the column, the row, and the expected type.
    public func value<Value: DatabaseValueConvertible>(_ column: String) throws -> Value {
      let stored = try stored(column)
      guard let value = Value.fromDatabaseValue(stored) else {
        throw wrong(column, stored, Value.self)
      }
      try checkText(column, stored)
      return value
    }

    /// Returns the value of a JSON column.
    ///
    /// - Throws: ``RecordError`` as for other columns, with the error in the JSON.
    @_disfavoredOverload
    public func value<Value: Codable>(_ column: String) throws -> Value {
      let stored = try stored(column)
      try checkText(column, stored)
      do {
        return try JSONColumn.decode(Value.self, stored)
      } catch {
        throw RecordError(
          .wrongValue, table: schema.table, column: column, row: key,
          "JSON of '\(Value.self)' was expected, not \(described(stored)) (\(reason(error)))")
      }
    }

    /// Keeps the values of computed columns, for comparison with later computed values.
    public func keepStored(in state: RecordState) {
      for column in schema.stored {
        guard let value = try? StoredValue(stored(column.name)) else { continue }
        state.storedValues[column.slot] = column.canonical(value) ?? value
      }
    }

    private func stored(_ column: String) throws -> DatabaseValue {
      do {
        return try row.decode(DatabaseValue.self, forColumn: column)
      } catch {
        // The type determines whether nil is accepted.
        if isNew { return .null }
        throw RecordError(
          .noColumn, table: schema.table, column: column, row: key,
          "the request does not read this column of '\(schema.recordType)'")
      }
    }

    private func wrong<Value>(
      _ column: String, _ stored: DatabaseValue, _ type: Value.Type
    ) -> RecordError {
      let expected = storageName(of: type).described
      return RecordError(
        .wrongValue, table: schema.table, column: column, row: key,
        "a value of type '\(expected)' was expected, not \(described(stored))")
    }

    private var key: String? {
      let stored = try? row.decode(DatabaseValue.self, forColumn: schema.recordType.primaryKeyName)
      return stored.flatMap { RecordKey(StoredValue($0), .binary) }?.description
    }

    private func described(_ value: DatabaseValue) -> String { StoredValue(value).described }

    private func reason(_ error: any Error) -> String {
      guard let error = error as? DecodingError else { return "\(error)" }
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .keyNotFound(_, let context), .dataCorrupted(let context):
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
      @unknown default: return "\(error)"
      }
    }

    /// Checks that a text is the whole text.
    ///
    /// It has replacement characters for bytes that are not UTF-8, and ends before a zero byte.
    private func checkText(_ column: String, _ stored: DatabaseValue) throws {
      guard case .string(let text) = stored.storage else { return }
      let isUTF8 = try row.withUnsafeData(named: column) { data -> Bool? in
        guard let data, data.count != text.utf8.count || text.hasReplacement else { return nil }
        let whole = String(data: data, encoding: .utf8)
        return whole == text ? nil : whole != nil
      }
      guard let isUTF8 else { return }
      throw RecordError(
        isUTF8 ? .wrongValue : .notUTF8, table: schema.table, column: column, row: key,
        isUTF8
          ? "the text has a zero byte, which ends a text in SQLite" : "the text is not UTF-8")
    }
  }

  extension String {
    /// Whether it contains U+FFFD, the replacement for bytes that could not be decoded.
    fileprivate var hasReplacement: Bool {
      var copy = self
      return copy.withUTF8 { bytes in
        guard let start = bytes.baseAddress else { return false }
        var place = 0
        // Very few texts contain the first byte of the character.
        while let found = memchr(start + place, 0xEF, bytes.count - place) {
          place = UnsafeRawPointer(start).distance(to: found)
          if place + 2 < bytes.count, bytes[place + 1] == 0xBF, bytes[place + 2] == 0xBD {
            return true
          }
          place += 1
        }
        return false
      }
    }
  }
#endif
