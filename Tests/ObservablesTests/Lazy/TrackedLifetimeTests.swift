import Observables
import Testing

/// Tracked properties of deallocated objects leave nothing behind.
@Suite struct TrackedLifetimeTests {
  @Test func `a tracked property that dies leaves nothing in the objects that it read`() {
    // Z10, L3
    let loop = Loop()
    let (first, second) = (Reading(), Reading())
    loop.turn {
      let pair = Pair(first, second)
      #expect(pair.sum == 3)
    }
    #expect(loop.statistics.observedObjects == 0)
    loop.turn { (first.value, second.value) = (5, 6) }
  }
}

/// Dependencies of a tracked getter that reads through a key path.
@Suite struct TrackedPathTests {
  @Test func `a getter depends on the elements below an operator that is observed already`() throws
  {
    // Z10, C9
    let loop = Loop()
    let basket = Basket()
    try loop.turn {
      basket.readings.append(Reading())
      basket.readings.append(Reading())
      try basket.observe("readings.@sum.value") { _ in }
    }
    #expect(basket.total == 2)
    loop.turn { basket.readings[0].value = 5 }
    #expect(basket.total == 6)
    loop.turn { basket.readings.remove(at: 1) }
    #expect(basket.total == 5)
    #expect(basket.first == 5)
    loop.turn { basket.readings.insert(Reading(), at: 0) }
    #expect(basket.first == 1)
  }
}

private final class Basket: ObservableModel {
  static let properties = ModelProperties(for: Basket.self) {
    Property("readings", get: { $0.readings })
    Property("total", tracked: { $0.$total }) {
      try $0.value(at: "readings.@sum.value") as? Int ?? 0
    }
    Property("first", tracked: { $0.$first }) {
      try $0.value(at: "readings.0.value") as? Int ?? 0
    }
  }
  let observation = ModelObservation()
  var readings: ObservableArray<Reading> {
    observation.access(0, of: self)
    return stored
  }
  private let stored = ObservableArray<Reading>()
  @Lazy var total: Int
  @Lazy var first: Int
}

/// Objects that are deallocated while one of their properties is computed.
@Suite struct LeavingTests {
  @Test(arguments: [false, true])
  func `a getter that drops the last reference to its object finishes with it`(isObserved: Bool)
    throws
  {
    // L2, Z8
    let loop = Loop()
    try loop.turn {
      let owner = Owner()
      if isObserved { try owner.leaving!.observe("dependency") { _ in } }
      let lazy = owner.leaving!.$length
      #expect(try lazy.get() == 7)
      #expect(owner.leaving == nil && owner.seen == 7)
      owner.leaving = Leaving(owner)
      let independent = owner.leaving!.$size
      #expect(try independent.get() == 7)
      #expect(owner.leaving == nil)
    }
    #expect(loop.statistics.observedObjects == 0)
  }
}

private final class Owner {
  var leaving: Leaving?
  var seen = 0
  init() { leaving = Leaving(self) }
}

private final class Leaving: ObservableModel {
  static let properties = ModelProperties(for: Leaving.self) {
    Property("dependency", get: { $0.dependency })
    Property("length", lazy: { $0.$length }, from: ["dependency"]) { $0.leave() }
    Property("size", lazy: { $0.$size }) { $0.leave() }
  }
  let observation = ModelObservation()
  private weak var owner: Owner?
  let dependency = 0
  let text = "leaving"
  @Lazy var length: Int
  @Lazy var size: Int
  init(_ owner: Owner) { self.owner = owner }

  private func leave() -> Int {
    let owner = owner!
    owner.leaving = nil
    owner.seen = text.count
    return owner.seen
  }
}

private final class Reading: ObservableModel {
  static let properties = ModelProperties(for: Reading.self) {
    Property("value", get: { $0.value }, set: { $0.value = $1 })
  }
  let observation = ModelObservation()
  @Observed(0) var value = 1
}

private final class Pair: ObservableModel {
  static let properties = ModelProperties(for: Pair.self) {
    Property("sum", tracked: { $0.$sum }) { $0.first.value + 2 * $0.second.value }
  }
  let observation = ModelObservation()
  private let first: Reading
  private let second: Reading
  @Lazy var sum: Int

  init(_ first: Reading, _ second: Reading) { (self.first, self.second) = (first, second) }
}
