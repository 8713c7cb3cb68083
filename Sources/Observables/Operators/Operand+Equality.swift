extension Operand: Hashable {
  /// Whether both are the same value of the same type; NaN equals NaN (T5).
  public static func == (a: ObservationCore.Operand, b: ObservationCore.Operand) -> Bool {
    switch (a, b) {
    case (.none, .none): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.float(let a), .float(let b)): a == b || a.isNaN && b.isNaN
    case (.text(let a), .text(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    case (.value(let a), .value(let b)): a == b
    case (.opaque(let a), .opaque(let b)): a == b
    case (.failed(let a), .failed(let b)): a == b
    default: false
    }
  }

  /// Hashes the value.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .none: hasher.combine(0)
    case .boolean(let value): hasher.combine(value)
    case .integer(let number): hasher.combine(number)
    // All NaN are equal, though their bits differ.
    case .float(let number): hasher.combine(number.isNaN ? .nan : number)
    case .text(let bytes): bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    case .object(let object): hasher.combine(object)
    case .value(let value): hasher.combine(value)
    case .opaque(let type): hasher.combine(type)
    case .failed(let operand):
      hasher.combine(true)
      hasher.combine(operand)
    }
  }
}
