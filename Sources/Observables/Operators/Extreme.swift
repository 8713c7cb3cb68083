internal import LibC

extension Aggregate {
  /// The state of `@min` and `@max`, for numbers or strings.
  struct Extreme {
    private let isLargest: Bool
    private var integers: Ranking<Int>
    private var floats: Ranking<Double>
    private var texts: Ranking<Text>
    private var failures = Failures()

    init(isLargest: Bool) {
      self.isLargest = isLargest
      integers = Ranking(isLargest: isLargest)
      floats = Ranking(isLargest: isLargest)
      texts = Ranking(isLargest: isLargest)
    }

    /// The number of different values that are kept.
    var size: Int { integers.size + floats.size + texts.size }

    mutating func change(_ operand: Operand, by count: Int) {
      switch operand {
      case .none: break
      case .integer(let number): integers.change(number, by: count)
      // NaN has no place in the order.
      case .float(let number): if !number.isNaN { floats.change(number, by: count) }
      case .text(let bytes): texts.change(Text(bytes: bytes), by: count)
      default: failures.change(operand, by: count)
      }
    }

    var value: Value {
      mutating get {
        if let failure = failures.first { return .failure(failure) }
        guard let text = texts.first else {
          return switch number {
          case .integer(let number): .integer(number)
          case .float(let number): .float(number)
          default: .none
          }
        }
        let number = number
        if number == .none { return .text(text.bytes) }
        // Numbers and strings have no common order. The rarer kind is reported as wrong.
        let isText = texts.count <= integers.count + floats.count
        return .failure(isText ? .text(text.bytes) : number)
      }
    }

    /// The extreme of the numbers; if an integer and a float are equal, it is the integer.
    private var number: Operand {
      mutating get {
        guard let integer = integers.first else { return floats.first.map(Operand.float) ?? .none }
        guard let float = floats.first else { return .integer(integer) }
        let isFloat = isLargest ? integer.isLess(than: float) : integer.isGreater(than: float)
        return isFloat ? .float(float) : .integer(integer)
      }
    }
  }

  /// A string, ordered by its bytes.
  private struct Text: Hashable, Comparable {
    let bytes: [UInt8]

    // The generic functions compare and hash bytes one by one.
    static func == (a: Text, b: Text) -> Bool { a.bytes.isSameText(as: b.bytes) }

    static func < (a: Text, b: Text) -> Bool {
      let order = a.bytes.withUnsafeBytes { a in
        b.bytes.withUnsafeBytes { b in
          let common = min(a.count, b.count)
          return common == 0 ? 0 : memcmp(a.baseAddress!, b.baseAddress!, common)
        }
      }
      return order != 0 ? order < 0 : a.bytes.count < b.bytes.count
    }

    func hash(into hasher: inout Hasher) { bytes.hashText(into: &hasher) }
  }
}

// The comparison is the same as in Lua: neither number is rounded.
extension Int {
  fileprivate func isLess(than number: Double) -> Bool {
    if number >= 0x1p63 { return true }
    return number > -0x1p63 && self < Int(number.rounded(.up))
  }

  fileprivate func isGreater(than number: Double) -> Bool {
    if number < -0x1p63 { return true }
    return number < 0x1p63 && self > Int(number.rounded(.down))
  }
}
