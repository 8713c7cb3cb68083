/// A value in a change: plain data, or another value of the program.
public enum ChangeValue {
  /// A boolean.
  case boolean(Bool)
  /// An integer.
  case integer(Int)
  /// Another number.
  case number(Double)
  /// Text.
  case text(String)
  /// A list, or the members of a set.
  case list([ChangeValue])
  /// The properties of an object, or a dictionary.
  case map([String: ChangeValue])
  /// Any other value of the program, for changes that don't leave it.
  case native(Any)
}

extension ChangeValue {
  /// Makes the data for the value of a property, an element, or a key.
  package init(_ value: Any) {
    switch value {
    case let value as Bool: self = .boolean(value)
    case let value as Int: self = .integer(value)
    case let value as Double: self = .number(value)
    case let value as String: self = .text(value)
    case let value as Float: self = .number(Double(value))
    case let value as any BinaryInteger:
      if let integer = Int(exactly: value) {
        self = .integer(integer)
      } else {
        self = .native(value)
      }
    case let value as ChangeValue: self = value
    case let value as any RawRepresentable: self = ChangeValue(value.rawValue)
    case let value as [Any] where !(value is any AnyObjectList):
      self = .list(value.map { ChangeValue($0) })
    case let value as [String: Any]: self = .map(value.mapValues { ChangeValue($0) })
    default: self = .native(value)
    }
  }

  /// The Swift values that this data can represent, the most natural first.
  var candidates: [Any?] {
    switch self {
    case .boolean(let value): [value]
    case .integer(let value):
      [
        value, Double(value), Int64(value), Int32(exactly: value), Int16(exactly: value),
        Int8(exactly: value), UInt(exactly: value), UInt64(exactly: value),
        UInt32(exactly: value), UInt16(exactly: value), UInt8(exactly: value), Float(value),
      ].filter { $0.flatMap { flattened($0) } != nil }
    case .number(let value):
      [value, Float(value)] + (Int(exactly: value).map { [$0] } ?? [])
    case .text(let value): [value]
    case .list(let values):
      values.first.map { first in
        first.candidates.compactMap { $0 }.indices.map { place in
          values.map { $0.candidates.indices.contains(place) ? $0.candidates[place] as Any : 0 }
        }
      } ?? [[Int](), [Double](), [String](), [Bool](), [Any]()]
    case .map(let values): [values.mapValues { $0.candidates.first.flatMap { $0 } as Any }]
    case .native(let value): [value]
    }
  }
}

/// Lists of objects are not data.
private protocol AnyObjectList {}
extension Array: AnyObjectList where Element: AnyObject {}

extension ChangeValue: Equatable {
  /// Whether both are the same: numbers by value, values of the program by T5.
  public static func == (a: ChangeValue, b: ChangeValue) -> Bool {
    switch (a, b) {
    case (.boolean(let a), .boolean(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.number(let a), .number(let b)): a == b || a != a && b != b
    case (.integer(let a), .number(let b)), (.number(let b), .integer(let a)): Double(a) == b
    case (.text(let a), .text(let b)): a == b
    case (.list(let a), .list(let b)): a == b
    case (.map(let a), .map(let b)): a == b
    // In scripts, an empty list is the same as an empty object.
    case (.list(let a), .map(let b)), (.map(let b), .list(let a)): a.isEmpty && b.isEmpty
    case (.native(let a), .native(let b)): isSameValue(a, b)
    default: false
    }
  }
}

extension ChangeValue: Codable {
  /// Reads plain data.
  public init(from decoder: any Decoder) throws {
    if let list = try? [ChangeValue](from: decoder) {
      self = .list(list)
      return
    }
    if let map = try? [String: ChangeValue](from: decoder) {
      self = .map(map)
      return
    }
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Int.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  /// Writes plain data.
  ///
  /// - Throws: `EncodingError` for a value of the program that is not encodable.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .boolean(let value): try value.encode(to: encoder)
    case .integer(let value): try value.encode(to: encoder)
    case .number(let value): try value.encode(to: encoder)
    case .text(let value): try value.encode(to: encoder)
    case .list(let values): try values.encode(to: encoder)
    case .map(let values): try values.encode(to: encoder)
    case .native(let value):
      guard let value = value as? any Encodable else {
        throw EncodingError.invalidValue(
          value,
          .init(
            codingPath: encoder.codingPath,
            debugDescription: "a value of type \(type(of: value)) is not data"))
      }
      try value.encode(to: encoder)
    }
  }
}

extension ChangeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Text.
  public init(stringLiteral value: String) { self = .text(value) }
  /// An integer.
  public init(integerLiteral value: Int) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// A list.
  public init(arrayLiteral elements: ChangeValue...) { self = .list(elements) }
  /// An object.
  public init(dictionaryLiteral elements: (String, ChangeValue)...) {
    self = .map(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}
