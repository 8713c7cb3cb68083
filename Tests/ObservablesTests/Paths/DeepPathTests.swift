import Observables
import Testing

/// X1: `**` over Swift models and collections.
struct DeepPathTests {
  private class Unit: ObservableModel {
    class var properties: ModelProperties { unitProperties }
    private static let unitProperties = ModelProperties(for: Unit.self) {
      Property("hp", get: { $0.hp }, set: { $0.hp = $1 })
      Property("leader", get: { $0.leader }, set: { $0.leader = $1 })
      Property("cache", get: { $0.cache }, set: { $0.cache = $1 }).opaque
      Property("crew", get: { $0.crew })
      Property("items", get: { $0.items }, set: { $0.items = $1 })
    }
    let observation = ModelObservation()
    var hp = 0 { didSet { observation.didSet(0, from: oldValue, to: hp) } }
    var leader: Unit? { didSet { observation.didSet(1, from: oldValue, to: leader) } }
    var cache: Unit? { didSet { observation.didSet(2, from: oldValue, to: cache) } }
    let crew = ObservableArray<Unit>()
    var items: [Unit] = [] { didSet { observation.didSet(4, from: oldValue, to: items) } }
  }

  private final class Log: Unit, OpaqueObject {
    override class var properties: ModelProperties { logProperties }
    private static let logProperties = ModelProperties(
      for: Log.self, inheriting: Unit.properties
    ) {}
  }

  private final class Counter {
    let loop = Loop(clock: .virtual)
    private var count = 0

    func observe(_ unit: Unit, _ path: Path) throws -> Watcher {
      try unit.observe(path, in: loop) { [unowned self] _ in count += 1 }
    }

    /// The number of watcher calls that `body` causes.
    func calls(_ body: () -> Void) -> Int {
      count = 0
      loop.turn(body)
      return count
    }
  }

  @Test func `any change below is reported`() throws {
    let (root, deep, counter) = (Unit(), Unit(), Counter())
    let watcher = try counter.observe(root, "**")
    #expect(counter.calls { root.hp = 1 } == 1)
    #expect(counter.calls { root.leader = Unit() } == 1)
    #expect(counter.calls { root.leader!.crew.append(deep) } == 1)
    #expect(counter.calls { deep.hp = 1 } == 1)
    #expect(counter.calls { root.items = [deep] } == 1)
    #expect(counter.calls { root.leader = nil } == 1)
    #expect(counter.calls { deep.hp = 2 } == 1)
    #expect(counter.calls { root.items = [] } == 1)
    #expect(counter.calls { deep.hp = 3 } == 0)
    watcher.stop()
    counter.loop.turn {}
    #expect(root.observedKeys.isEmpty && deep.observedKeys.isEmpty)
  }

  @Test func `names are found at any depth, and cycles count once`() throws {
    let (root, other, counter) = (Unit(), Unit(), Counter())
    defer { (root.leader, other.leader) = (nil, nil) }
    let watcher = try counter.observe(root, "**.hp")
    defer { watcher.stop() }
    #expect(counter.calls { root.leader = other } == 1)
    #expect(counter.calls { other.leader = root } == 0)
    #expect(counter.calls { other.hp = 1 } == 1)
    #expect(counter.calls { root.crew.append(other) } == 0)
    #expect(counter.calls { root.leader = nil } == 0)
    #expect(counter.calls { other.hp = 2 } == 1)
    #expect(counter.calls { root.crew.removeAll() } == 1)
    #expect(counter.calls { other.hp = 3 } == 0)
  }

  @Test func `opaque properties and classes are leaves`() throws {
    let (root, cache, log, counter) = (Unit(), Unit(), Log(), Counter())
    let watcher = try counter.observe(root, "**")
    defer { watcher.stop() }
    #expect(counter.calls { root.cache = cache } == 1)
    #expect(counter.calls { cache.hp = 1 } == 0)
    #expect(counter.calls { root.leader = log } == 1)
    #expect(counter.calls { log.hp = 1 } == 0)
    let other = try counter.observe(log, "**")
    defer { other.stop() }
    #expect(counter.calls { log.hp = 2 } == 1)
    #expect(counter.calls { log.leader = cache } == 1)
    #expect(counter.calls { cache.hp = 2 } == 0)
  }

  @Test func `removed objects are not kept alive`() throws {
    let (root, counter) = (Unit(), Counter())
    let watcher = try counter.observe(root, "**")
    weak var gone: Unit?
    do {
      let unit = Unit()
      gone = unit
      counter.loop.turn { root.crew.append(unit) }
    }
    #expect(gone != nil)
    counter.loop.turn { root.crew.removeAll() }
    #expect(gone == nil)
    watcher.stop()
  }

  @Test(arguments: [
    ("**.1", "'1' (write '#1')"), ("crew.**.@sum.hp", "'@sum'"), ("**.&x", "'&x'"),
  ])
  func `digits, operators and members behind ** are errors`(text: String, part: String) throws {
    let unit = Unit()
    let error = #expect(throws: PathError.self) {
      try unit.observe(Path(text), in: Loop(clock: .virtual)) { _ in }
    }
    #expect(
      error?.description.contains("only names, '*', 'count' and '#n' can follow '**', not \(part)")
        == true)
  }

  @Test func `a deep path has many values`() {
    let unit = Unit()
    #expect(throws: PathError.self) { try unit.value(at: "**.hp") }
    #expect(Path("a.**.b").description == "a.**.b")
    #expect(Path("**", "b").description == #"\**.b"#)
  }
}
