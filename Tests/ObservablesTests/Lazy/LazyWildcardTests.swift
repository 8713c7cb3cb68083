import Observables
import Testing

/// `*` and the lazy properties of an object (P3, Z4).
@Suite struct LazyWildcardTests {
  private final class Box: ObservableModel {
    static let properties = ModelProperties(for: Box.self) {
      Property("fixed", lazy: { $0.$fixed }) { _ in 1 }
      Property("loaded", lazy: { $0.$loaded }) { $0.source }
    }
    let observation = ModelObservation()
    var source = 1
    @Lazy var fixed: Int
    @Lazy var loaded: Int
  }

  @Test func `reports each assigned value`() throws {
    let (loop, box) = (Loop(), Box())
    var calls = 0
    try loop.turn { try box.observe("*") { _ in calls += 1 } }
    for value in [3, 4, 4, 5] { loop.turn { box.fixed = value } }
    #expect(calls == 3)
  }

  @Test func `reports a value that differs after an invalidation`() throws {
    for isReadBefore in [true, false] {
      let (loop, box) = (Loop(), Box())
      var calls = 0
      if isReadBefore { _ = box.loaded }
      try loop.turn { try box.observe("*") { _ in calls += 1 } }
      loop.turn { _ = box.loaded }
      #expect(calls == 0)
      for source in [2, 2, 3] {
        loop.turn {
          box.source = source
          box.$loaded.invalidate()
        }
      }
      #expect(calls == 2)
    }
  }
}
