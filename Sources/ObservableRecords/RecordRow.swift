#if Records
  internal import Foundation

  /// A row that is read for a class, with errors that say where it does not fit.
  public struct RecordRow {
    private let row: Row
    private let schema: RecordSchema

    /// The row, for an object of a class.
    public init(_ row: Row, of record: any ObservableRecord.Type) {
      self.row = row
      schema = record.recordSchema
    }

    /// A row for a new object, of which not all columns are given.
    package static func new(_ values: [String: any DatabaseValueConvertible]) -> Row {
      var columns: [String: (any DatabaseValueConvertible)?] = values.mapValues { $0 }
      columns[isNewName] = true
      return Row(columns)
    }

    /// What no column is called.
    private static let isNewName = "(new)"
    private var isNew: Bool { row.hasColumn(RecordRow.isNewName) }

    /// The value of a column; a new object that is not given one has that of the declaration.
    ///
    /// - Throws: ``RecordError`` as for other columns.
    public func value<Value: DatabaseValueConvertible>(
      _ column: String, orIfNew value: @autoclosure () -> Value
    ) throws -> Value {
      isNew && !row.hasColumn(column) ? value() : try self.value(column)
    }

    /// The value of a column with JSON; a new object that is not given one has that of the
    /// declaration.
    ///
    /// - Throws: ``RecordError`` as for other columns.
    @_disfavoredOverload
    public func value<Value: Codable>(
      _ column: String, orIfNew value: @autoclosure () -> Value
    ) throws -> Value {
      isNew && !row.hasColumn(column) ? value() : try self.value(column)
    }

    /// The value of a column.
    ///
    /// - Throws: ``RecordError`` that names the table, the column, the row, and what was expected.
    public func value<Value: DatabaseValueConvertible>(_ column: String) throws -> Value {
      let stored = try stored(column)
      guard let value = Value.fromDatabaseValue(stored) else {
        throw wrong(column, stored, Value.self)
      }
      if case .string(let text) = stored.storage, text.hasReplacement {
        try checkText(column, text)
      }
      return value
    }

    /// The value of a column with JSON.
    ///
    /// - Throws: ``RecordError`` as for other columns, with what is wrong in the JSON.
    @_disfavoredOverload
    public func value<Value: Codable>(_ column: String) throws -> Value {
      let stored = try stored(column)
      do {
        return try JSONColumn.decode(Value.self, stored)
      } catch {
        throw RecordError(
          .wrongValue, table: schema.table, column: column, row: key,
          "JSON of '\(Value.self)' was expected, not \(described(stored)) (\(reason(error)))")
      }
    }

    /// Notes the values of computed columns, which are compared with what is computed later.
    public func keepStored(in state: RecordState) {
      for column in schema.stored {
        state.storedValues[column.slot] = try? stored(column.name)
      }
    }

    private func stored(_ column: String) throws -> DatabaseValue {
      do {
        return try row.decode(DatabaseValue.self, forColumn: column)
      } catch {
        // Whether nil will do says the type.
        if isNew { return .null }
        throw RecordError(
          .noColumn, table: schema.table, column: column, row: key,
          "the request does not read this column, which '\(schema.recordType)' has")
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
      return stored.flatMap(RecordKey.init)?.description
    }

    private func described(_ value: DatabaseValue) -> String {
      switch value.storage {
      case .null: return "NULL"
      case .int64(let number): return "the number \(number)"
      case .double(let number): return "the number \(number)"
      case .string(let text):
        return "the text '\(text.count > 40 ? text.prefix(40) + "…" : text[...])'"
      case .blob(let data): return "\(data.count) bytes"
      }
    }

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

    /// Checks a text that has characters which SQLite's texts get for bytes that are no UTF-8.
    private func checkText(_ column: String, _ text: String) throws {
      let isText = try row.withUnsafeData(named: column) { data -> Bool in
        guard let data else { return true }
        return String(data: data, encoding: .utf8) == text
      }
      if !isText {
        throw RecordError(
          .notUTF8, table: schema.table, column: column, row: key, "the text is no UTF-8")
      }
    }
  }

  extension String {
    /// Whether it has the character that stands for bytes that could not be read.
    fileprivate var hasReplacement: Bool {
      var copy = self
      return copy.withUTF8 { bytes in
        var index = 0
        while index + 2 < bytes.count {
          if bytes[index] == 0xEF, bytes[index + 1] == 0xBF, bytes[index + 2] == 0xBD {
            return true
          }
          index += 1
        }
        return false
      }
    }
  }
#endif
