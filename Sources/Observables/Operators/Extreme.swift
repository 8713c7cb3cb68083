internal import HeapModule

extension Aggregate {
  /// `@min` and `@max`: a heap of the values that are there, each once, and of some that have left,
  /// which are dropped when they come to the top.
  struct Extreme {
    private let isLargest: Bool
    private var counts: [Key: Int] = [:]
    private var heap = Heap<Key>()
    private var numbers = 0
    private var texts = 0
    private var failures: [Operand: Int] = [:]

    init(isLargest: Bool) { self.isLargest = isLargest }

    mutating func change(_ operand: Operand, by count: Int) {
      switch operand {
      case .none: return
      case .float(let number) where number.isNaN: return
      case .integer, .float: numbers += count
      case .text: texts += count
      default:
        failures.change(operand, by: count)
        return
      }
      let key = Key(operand: operand)
      let known = counts[key]
      counts[key] = (known ?? 0) + count
      if known == nil {
        heap.insert(key)
        // What has left and never comes to the top must not fill the memory.
        if heap.count > 2 * (numbers + texts) + 64 { rebuild() }
      }
    }

    private mutating func rebuild() {
      counts = counts.filter { $0.value != 0 }
      heap = Heap(counts.keys)
    }

    var value: Value {
      mutating get {
        if let failure = failures.first { return .failure(failure.key) }
        if numbers > 0, texts > 0 { return .failure(odd) }
        while let key = isLargest ? heap.max : heap.min {
          if counts[key, default: 0] != 0 { return Aggregate.value(of: key.operand) }
          counts[key] = nil
          if isLargest { heap.removeMax() } else { heap.removeMin() }
        }
        counts = [:]
        heap = Heap()
        return .none
      }
    }

    /// One of those that are fewer: numbers and strings are in no common order.
    private var odd: Operand {
      counts.first { $0.value != 0 && $0.key.isText == (texts <= numbers) }!.key.operand
    }
  }

  private static func value(of operand: Operand) -> Value {
    switch operand {
    case .integer(let number): .integer(number)
    case .float(let number): .float(number)
    case .text(let bytes): .text(bytes)
    default: .none
    }
  }

  /// A number or a string, in Lua's order: integers and floats compare by their exact values.
  private struct Key: Hashable, Comparable {
    let operand: Operand

    var isText: Bool {
      if case .text = operand { return true }
      return false
    }

    static func < (a: Key, b: Key) -> Bool {
      switch (a.operand, b.operand) {
      case (.integer(let a), .integer(let b)): a < b
      case (.float(let a), .float(let b)): a < b
      // Of two equal ones the float comes first.
      case (.integer(let a), .float(let b)): isLess(a, b)
      case (.float(let a), .integer(let b)): !isLess(b, a)
      case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
      case (.text, _): false
      default: true
      }
    }

    /// Whether an integer is less than a float, without rounding either.
    private static func isLess(_ a: Int, _ b: Double) -> Bool {
      if b >= 0x1p63 { return true }
      if b <= -0x1p63 { return false }
      let floor = b.rounded(.down)
      return a < Int(floor) || a == Int(floor) && floor < b
    }
  }
}
