#if Records
  internal import Foundation

  /// What a column stores, as far as the type of its property says so.
  enum ColumnStorage {
    case integer(Any.Type)
    case real(Any.Type)
    case text
    case data
    case other(Any.Type)

    /// How an error names it.
    var described: String {
      switch self {
      case .integer(let type), .real(let type), .other(let type): "\(type)"
      case .text: "String"
      case .data: "Data"
      }
    }

    /// Whether a column that is declared with this type may store it.
    ///
    /// The rules are those of SQLite for the affinity of a column. Numbers of any kind fit each
    /// other, and a column without a type has anything.
    func fits(_ declared: String) -> Bool {
      let declared = declared.uppercased()
      if declared.isEmpty || declared == "ANY" { return true }
      let isText = ["CHAR", "CLOB", "TEXT"].contains { declared.contains($0) }
      let isData = declared.contains("BLOB")
      let isInteger = declared.contains("INT")
      switch self {
      case .integer, .real: return isInteger || !isText && !isData
      case .text:
        return !isInteger && !isData
          && !["REAL", "FLOA", "DOUB"].contains { declared.contains($0) }
      case .data: return isData || !isInteger && !isText
      case .other: return true
      }
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

  /// Tells what an optional type wraps.
  protocol OptionalColumn { static var wrapped: Any.Type { get } }

  extension Optional: OptionalColumn { static var wrapped: Any.Type { Wrapped.self } }

  /// Columns with values that are encoded as JSON.
  enum JSONColumn {
    static func encode(_ value: some Encodable) throws -> DatabaseValue {
      if case Optional<Any>.none = value as Any { return .null }
      let encoder = JSONEncoder()
      // The text is the same for equal values.
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(value), as: UTF8.self).databaseValue
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
          type, DecodingError.Context(codingPath: [], debugDescription: "it is no JSON"))
      }
      return try JSONDecoder().decode(type, from: data)
    }
  }
#endif
