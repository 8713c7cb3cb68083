extension Operand {
  /// Makes the operand for a Swift value; for an optional, it is the operand of the wrapped value.
  package init<Value>(_ value: Value) {
    // The most frequent types of elements are recognized without a dynamic cast.
    if Value.self == Int.self {
      self = .integer(unsafeBitCast(value, to: Int.self))
    } else if Value.self == Double.self {
      self = .float(unsafeBitCast(value, to: Double.self))
    } else if Value.self == Bool.self {
      self = .boolean(unsafeBitCast(value, to: Bool.self))
    } else if let object = reference(of: value) {
      self = .object(UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()))
    } else if let text = value as? String {
      self = .text(Array(text.utf8))
    } else {
      self.init(of: flattened(value))
    }
  }

  /// Makes the operand for a value of unknown type.
  package init(of value: Any?) {
    if let object = value.flatMap({ reference(to: $0) }) {
      self = .object(UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()))
      return
    }
    switch value {
    case nil: self = .none
    case let value as Bool: self = .boolean(value)
    case let value as String: self = .text(Array(value.utf8))
    case let value as Double: self = .float(value)
    case let value as Float: self = .float(Double(value))
    case let value as any BinaryInteger: self = Operand.integer(of: value)
    case let value?:
      if let value = value as? any Hashable {
        self = .value(AnyHashable(value))
      } else {
        self = .opaque(type: "\(type(of: value))")
      }
    }
  }

  /// The operand for an integer; an integer of more than 64 bits becomes a float, as in Lua.
  private static func integer(of value: some BinaryInteger) -> Operand {
    Int(exactly: value).map(Operand.integer) ?? .float(Double(value))
  }
}

extension Operand {
  /// Whether the operand is nil, a truth value, a number or text.
  var isPlain: Bool {
    switch self {
    case .none, .boolean, .integer, .float, .text: true
    case .object, .value, .opaque, .failed: false
    }
  }

  /// The Swift value of a plain operand; nil for all others.
  package var plain: Any? {
    switch self {
    case .none, .object, .value, .opaque, .failed: nil
    case .boolean(let value): value
    case .integer(let number): number
    case .float(let number): number
    case .text(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }
}
