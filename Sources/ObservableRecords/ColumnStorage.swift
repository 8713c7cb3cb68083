#if Records
  internal import Foundation

  /// The storage class of a column, as far as the type of its property determines it.
  enum ColumnStorage {
    case integer(Any.Type)
    case real(Any.Type)
    case text
    case data
    case other(Any.Type)

    /// The name of the type in errors.
    var described: String {
      switch self {
      case .integer(let type), .real(let type), .other(let type): "\(type)"
      case .text: "String"
      case .data: "Data"
      }
    }

    /// Whether a column with this declared type can store the property.
    ///
    /// The rules follow SQLite's column affinity. Numbers of any kind fit each other, and a column
    /// without a type fits any value.
    func fits(_ declared: String) -> Bool {
      if declared.isEmpty || declared.uppercased() == "ANY" { return true }
      let affinity = ColumnAffinity(declared)
      switch self {
      case .integer, .real: return affinity != .text && affinity != .none
      case .text: return affinity == .text || affinity == .numeric
      case .data: return affinity != .integer && affinity != .text
      case .other: return true
      }
    }

    /// Whether a column of this affinity stores each value unchanged.
    func isKept(by affinity: ColumnAffinity) -> Bool {
      switch self {
      case .integer: affinity == .integer || affinity == .numeric || affinity == .none
      case .real: affinity != .text
      case .text: affinity == .text || affinity == .none
      case .data: true
      case .other: false
      }
    }
  }

  /// The conversion that SQLite applies to values written to a column, by its declared type.
  enum ColumnAffinity: Sendable {
    case integer, text, none, real, numeric

    init(_ declared: String) {
      let declared = declared.uppercased()
      func has(_ parts: String...) -> Bool { parts.contains { declared.contains($0) } }
      if has("INT") {
        self = .integer
      } else if has("CHAR", "CLOB", "TEXT") {
        self = .text
      } else if has("BLOB") || declared.isEmpty || declared == "ANY" {
        self = .none
      } else {
        self = has("REAL", "FLOA", "DOUB") ? .real : .numeric
      }
    }

    /// The value that the column has after `value` is written.
    func stored(_ value: StoredValue) -> StoredValue {
      switch (self, value.database.storage) {
      case (.text, .int64(let number)): return StoredValue("\(number)".databaseValue)
      case (.text, .double(let number)): return StoredValue("\(number)".databaseValue)
      case (.real, .int64(let number)): return StoredValue(Double(number).databaseValue)
      case (.integer, .double(let number)), (.numeric, .double(let number)):
        return Int64(exactly: number).map { StoredValue($0.databaseValue) } ?? value
      case (.integer, .string(let text)), (.numeric, .string(let text)), (.real, .string(let text)):
        guard let number = ColumnAffinity.number(text) else { return value }
        return stored(StoredValue(number))
      default: return value
      }
    }

    /// The number to which SQLite converts a text.
    private static func number(_ text: String) -> DatabaseValue? {
      let digits = text.trimmingCharacters(in: CharacterSet(charactersIn: " \t\n\r\u{B}\u{C}"))
      guard digits.allSatisfy({ "0123456789+-.eE".contains($0) }) else { return nil }
      return Int64(digits)?.databaseValue ?? Double(digits)?.databaseValue
    }
  }

  func storageName(of type: Any.Type) -> ColumnStorage {
    let plain = (type as? any OptionalColumn.Type)?.wrapped ?? type
    switch plain {
    case is Bool.Type, is Int.Type, is Int8.Type, is Int16.Type, is Int32.Type, is Int64.Type,
      is UInt.Type, is UInt8.Type, is UInt16.Type, is UInt32.Type, is UInt64.Type:
      return .integer(plain)
    case is Double.Type, is Float.Type: return .real(plain)
    case is String.Type: return .text
    case is Data.Type: return .data
    default: return .other(plain)
    }
  }

  /// An optional type, which names its wrapped type.
  protocol OptionalColumn { static var wrapped: Any.Type { get } }

  extension Optional: OptionalColumn { static var wrapped: Any.Type { Wrapped.self } }

  /// The conversion of a column's values to and from SQLite.
  struct ColumnCoding<Value> {
    /// Converts a value for SQLite.
    let encode: (Value) throws -> StoredValue
    /// Converts a value of SQLite; returns nil if it does not fit.
    let decode: (StoredValue) -> Value?

    /// The conversion for a type that the database knows.
    static func database() -> Self where Value: DatabaseValueConvertible {
      let isWide = isWideInteger(Value.self)
      return Self { value in
        // GRDB traps for such a number.
        if isWide, let number = wideInteger(value), number > UInt64(Int64.max) {
          throw RecordError(
            .notStorable, table: "", "the number \(number) exceeds SQLite's maximum, \(Int64.max)")
        }
        return StoredValue(value.databaseValue)
      } decode: {
        Value.fromDatabaseValue($0.database)
      }
    }

    /// The conversion for values encoded as JSON.
    static func json() -> Self where Value: Codable {
      Self {
        try JSONColumn.encode($0)
      } decode: {
        try? JSONColumn.decode(Value.self, $0.database)
      }
    }
  }

  /// Whether a type has integers that are too large for SQLite.
  private func isWideInteger(_ type: Any.Type) -> Bool {
    let plain = (type as? any OptionalColumn.Type)?.wrapped ?? type
    func rawValue<Raw: RawRepresentable>(_ type: Raw.Type) -> Any.Type { Raw.RawValue.self }
    if let type = plain as? any RawRepresentable.Type { return isWideInteger(rawValue(type)) }
    return plain is UInt.Type || plain is UInt64.Type
  }

  private func wideInteger(_ value: Any) -> UInt64? {
    switch value {
    case let number as UInt64: return number
    case let number as UInt: return UInt64(number)
    case let value as any RawRepresentable: return wideInteger(value.rawValue)
    default: return nil
    }
  }

  /// The encoding of JSON columns.
  enum JSONColumn {
    static func encode(_ value: some Encodable) throws -> StoredValue {
      if case Optional<Any>.none = value as Any { return .null }
      let encoder = JSONEncoder()
      // Equal values have equal texts.
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let text = String(decoding: try encoder.encode(value), as: UTF8.self)
      return StoredValue(text.databaseValue)
    }

    static func decode<Value: Decodable>(
      _ type: Value.Type, _ stored: DatabaseValue
    ) throws -> Value {
      if stored.isNull, let none = (type as? any ExpressibleByNilLiteral.Type) {
        return none.init(nilLiteral: ()) as! Value
      }
      let data: Data? =
        switch stored.storage {
        case .string(let text): Data(text.utf8)
        case .blob(let data): data
        case .null, .int64, .double: nil
        }
      guard let data else {
        throw DecodingError.valueNotFound(
          type, DecodingError.Context(codingPath: [], debugDescription: "it is not JSON"))
      }
      return try JSONDecoder().decode(type, from: data)
    }
  }
#endif
