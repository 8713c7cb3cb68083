import Observables
import Testing

/// What is left of tracked properties whose objects are gone.
@Suite struct TrackedLifetimeTests {
  @Test func `a tracked property that dies leaves nothing in any of the objects that it read`() {
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

private final class Reading: ObservableModel {
  static let properties = ModelProperties(for: Reading.self) {
    Property("value", get: { $0.value }, set: { $0.value = $1 })
  }
  let observation = ModelObservation()
  private var stored = 1
  var value: Int {
    get {
      observation.access(0, of: self)
      return stored
    }
    set {
      let old = stored
      stored = newValue
      observation.didSet(0, from: old, to: newValue)
    }
  }
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
