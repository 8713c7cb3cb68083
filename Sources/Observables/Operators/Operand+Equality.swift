internal import LibC

extension Operand: Hashable {
  /// Whether both are the same value of the same type; NaN equals NaN (T5).
  public static func == (a: ObservationCore.Operand, b: ObservationCore.Operand) -> Bool {
    switch (a, b) {
    case (.none, .none): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.float(let a), .float(let b)): a == b || a.isNaN && b.isNaN
    case (.text(let a), .text(let b)): a.isSameText(as: b)
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
    case .text(let bytes): bytes.hashText(into: &hasher)
    case .object(let object): hasher.combine(object)
    case .value(let value): hasher.combine(value)
    case .opaque(let type): hasher.combine(type)
    case .failed(let operand):
      hasher.combine(true)
      hasher.combine(operand)
    }
  }
}

extension [UInt8] {
  /// Whether both are the same text.
  ///
  /// The generic function would compare bytes one by one.
  func isSameText(as other: [UInt8]) -> Bool {
    count == other.count
      && withUnsafeBytes { a in
        other.withUnsafeBytes { b in
          a.isEmpty || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0
        }
      }
  }

  /// Hashes a text.
  ///
  /// Only the length and the two ends of a long text are hashed, because hashing all of it would
  /// take ten times as long as comparing it.
  func hashText(into hasher: inout Hasher) {
    let end = 32768
    withUnsafeBytes { bytes in
      hasher.combine(bytes.count)
      hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes.prefix(end)))
      hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst(end).suffix(end)))
    }
  }
}
