/// A value in the form that records and logs keep: a small value itself, an object by its name.
///
/// It keeps nothing alive and runs no code of the program: an object's `description` is not used.
public enum RecordedValue: Sendable, Hashable {
  /// No value: nil.
  case none
  /// A boolean.
  case boolean(Bool)
  /// An integer.
  case integer(Int)
  /// Another number.
  case number(Double)
  /// A text; a long text is cut after 60 characters and followed by "…".
  case text(String)
  /// The name of an object, or the type of a value of any other kind.
  case object(String)
}

extension RecordedValue {
  /// The number of characters of a text that are kept.
  package static let textLimit = 60

  /// Makes the recorded form of a Swift value, which must not be a nested optional.
  init(_ value: Any?) {
    switch value {
    case nil: self = .none
    case let value as Bool: self = .boolean(value)
    case let value as Int: self = .integer(value)
    case let value as Double: self = .number(value)
    case let value as String: self = .shortened(value)
    case let value as Float: self = .number(Double(value))
    case let value as Substring: self = .shortened(value)
    case let value as Character: self = .text("\(value)")
    case let value as Int8: self = .integer(Int(value))
    case let value as Int16: self = .integer(Int(value))
    case let value as Int32: self = .integer(Int(value))
    case let value as Int64: self = .integer(Int(value))
    case let value as UInt8: self = .integer(Int(value))
    case let value as UInt16: self = .integer(Int(value))
    case let value as UInt32: self = .integer(Int(value))
    case let value as UInt: self = Int(exactly: value).map(Self.integer) ?? .number(Double(value))
    case let value as UInt64: self = Int(exactly: value).map(Self.integer) ?? .number(Double(value))
    case let value?: self = .object("\(type(of: value))")
    }
  }

  /// A text, cut to the limit.
  package static func shortened(_ text: some StringProtocol) -> RecordedValue {
    let kept = text.prefix(textLimit)
    return .text(kept.endIndex == text.endIndex ? String(kept) : "\(kept)…")
  }
}

extension RecordedValue {
  /// The bytes that it takes outside its inline storage.
  var heapSize: Int {
    switch self {
    case .text(let text), .object(let text): text.heapSize
    default: 0
    }
  }
}

extension String {
  /// The bytes that the text takes outside its inline storage, which holds short texts.
  var heapSize: Int { utf8.count > 15 ? utf8.count + 32 : 0 }
}

extension RecordedValue: CustomStringConvertible {
  /// "nil", "true", "1", "1.5", a text in quotes, or the name of an object.
  public var description: String {
    switch self {
    case .none: "nil"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .text(let text): text.debugDescription
    case .object(let name): name
    }
  }

  /// "old → new"; an unknown old value is left out.
  static func text(from old: RecordedValue?, to new: RecordedValue?) -> String? {
    guard let new else { return nil }
    return old.map { "\($0) → \(new)" } ?? "→ \(new)"
  }
}
