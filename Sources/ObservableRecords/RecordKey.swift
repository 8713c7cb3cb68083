#if Records
  internal import Foundation

  /// The primary key of a row, compared as SQLite compares it.
  ///
  /// Nearly all keys are numbers. Larger values are stored indirectly, so that they do not enlarge
  /// each key.
  enum RecordKey: Hashable, Sendable {
    case integer(Int64)
    indirect case text(Text)
    indirect case data(Data)
    case real(Double)

    struct Text: Hashable, Sendable {
      let text: String
      let collation: Collation

      static func == (a: Text, b: Text) -> Bool { a.collation.isSame(a.text, b.text) }
      func hash(into hasher: inout Hasher) { collation.hash(text, into: &hasher) }
    }

    /// The key that is stored as `value` in a column of this collation; nil for NULL.
    init?(_ value: StoredValue, _ collation: Collation) {
      switch value.database.storage {
      case .null: return nil
      case .int64(let number): self = .integer(number)
      case .double(let number):
        // Equal numbers are the same key.
        self = Int64(exactly: number).map(RecordKey.integer) ?? .real(number)
      case .string(let text): self = .text(Text(text: text, collation: collation))
      case .blob(let data): self = .data(data)
      }
    }

    func hash(into hasher: inout Hasher) {
      // Keys of one table are nearly always of one kind.
      switch self {
      case .integer(let number): hasher.combine(number)
      case .text(let text): hasher.combine(text)
      case .data(let data): hasher.combine(data)
      case .real(let number): hasher.combine(number)
      }
    }

    var databaseValue: DatabaseValue {
      switch self {
      case .integer(let number): number.databaseValue
      case .text(let text): text.text.databaseValue
      case .data(let data): data.databaseValue
      case .real(let number): number.databaseValue
      }
    }

    var value: StoredValue { StoredValue(databaseValue) }
  }

  extension RecordKey: CustomStringConvertible {
    var description: String {
      switch self {
      case .integer(let number): "\(number)"
      case .text(let text): "'\(text.text)'"
      case .data(let data): "\(data.count) bytes"
      case .real(let number): "\(number)"
      }
    }
  }

  extension Statement {
    /// Returns the keys in the first column.
    func keys(_ collation: Collation) throws -> [RecordKey] {
      let values = try DatabaseValue.fetchCursor(self)
      var keys: [RecordKey] = []
      while let value = try values.next() {
        if let key = RecordKey(StoredValue(value), collation) { keys.append(key) }
      }
      return keys
    }
  }
#endif
