import Observables
import TestSupport
import Testing

@Suite struct `Lifetimes of collections` {
  private let loop = Loop()

  private static let paths = [
    "*", "#0", "#1", "0", "0.price", "*.price", "price", "count", "@sum.price", "@min.price",
    "@max.price", "@first", "@last.price", "@any", "@distinctUnionOfObjects",
    "@unionOfObjects.price",
  ]

  // L6
  @Test(arguments: paths) func `a removed element is released`(path: String) throws {
    let probe = LifetimeProbe()
    let array: ObservableArray<Article> = []
    array.append(contentsOf: (0..<3).map { Article($0, probe: probe) })
    try array.observe(Path(path), in: loop) { _ in }
    array.removeFirst()
    loop.endTurn()
    #expect(probe.alive == 2)
    array[0] = Article(7, probe: probe)
    loop.endTurn()
    #expect(probe.alive == 2)
    array.removeAll()
    loop.endTurn()
    #expect(probe.alive == 0)
  }

  // L6, C10
  @Test func `a removed element is released after its edits were delivered`() throws {
    let probe = LifetimeProbe()
    let array: ObservableArray<Article> = []
    let watcher = try array.observeEdits(in: loop) { _, _ in }
    array.append(contentsOf: (0..<100).map { Article($0, probe: probe) })
    loop.endTurn()
    array.sort { $0.number > $1.number }
    array.removeSubrange(10..<90)
    loop.endTurn()
    #expect(probe.alive == 20)
    watcher.pause()
    array.removeAll()
    loop.endTurn()
    watcher.stop()
    loop.endTurn()
    #expect(probe.alive == 0)
  }

  // L3
  @Test(arguments: paths) func `a deallocated collection ends its watchers`(path: String) throws {
    let probe = LifetimeProbe()
    var ended: [String] = []
    var watcher: Watcher?
    do {
      let array = ObservableArray([Article(0, probe: probe), Article(1, probe: probe)])
      watcher = try array.observe(
        Path(path), in: loop, options: WatcherOptions(onEnd: { ended.append("\($0)") })
      ) { _ in }
      array.append(Article(2, probe: probe))
      loop.endTurn()
    }
    loop.step()
    #expect(watcher?.isActive == false)
    #expect(ended == [path])
    #expect(probe.alive == 0)
    #expect(loop.statistics.watchers == 0)
    #expect(loop.statistics.observedObjects == 0)
  }

  // L2
  @Test func `a changed collection is kept until its watchers were called`() throws {
    var calls = 0
    weak var weakArray: ObservableArray<Int>?
    do {
      let array: ObservableArray<Int> = [1]
      weakArray = array
      try array.observe("*", in: loop) { _ in calls += 1 }
      array.append(2)
    }
    #expect(weakArray != nil)
    loop.endTurn()
    #expect(calls == 1)
    #expect(weakArray == nil)
  }

  // L6, C7
  @Test func `a cleared array of many observed elements leaves nothing`() throws {
    let count = Size.of(100_000, light: 2_000)
    let probe = LifetimeProbe()
    let array: ObservableArray<Article> = []
    try array.observe("*.price", in: loop) { _ in }
    try array.observe("@sum.price", in: loop) { _ in }
    try array.observeEdits(in: loop) { _, _ in }
    array.append(contentsOf: (0..<count).map { Article($0, price: 1, probe: probe) })
    loop.endTurn()
    #expect(try array.value(at: "@sum.price") as? Int == count)
    #expect(loop.statistics.observedObjects == count + 1)
    array.removeAll()
    loop.endTurn()
    #expect(probe.alive == 0)
    #expect(loop.statistics.observedObjects == 1)
    #expect(try array.value(at: "@sum.price") as? Int == 0)
  }

  // L6
  @Test func `rounds of watching, changing and stopping leave nothing`() throws {
    let probe = LifetimeProbe()
    let array: ObservableArray<Article> = []
    let paths: [Path] = ["*.price", "#1", "@max.price", "count", "*"]
    for round in 0..<Size.of(10_000, light: 500) {
      var watchers = try paths.map { try array.observe($0, in: loop) { _ in } }
      watchers.append(try array.observeEdits(in: loop) { _, _ in })
      array.insert(Article(round, price: round, probe: probe), at: 0)
      if round % 2 == 0 { loop.endTurn() }
      if array.count > 3 { array.removeLast() }
      if round % 3 == 0 { loop.endTurn() }
      for watcher in watchers { watcher.stop() }
    }
    loop.endTurn()
    #expect(probe.alive == 3)
    #expect(loop.statistics.watchers == 0)
    #expect(loop.statistics.observedObjects == 0)
  }

  // L6, C5, C6
  @Test func `a value removed from a dictionary or a set is released`() throws {
    let probe = LifetimeProbe()
    let dictionary: ObservableDictionary<String, Article> = [:]
    for path: Path in ["*", "key", "key.price", "*.price", "count", "@sum.price"] {
      try dictionary.observe(path, in: loop) { _ in }
    }
    try dictionary.observeEdits(in: loop) { _, _ in }
    for number in 0..<10 {
      dictionary["key"] = Article(number, probe: probe)
      dictionary["other"] = dictionary["key"]
      loop.endTurn()
      #expect(probe.alive == 1)
    }
    dictionary.removeAll()
    loop.endTurn()
    #expect(probe.alive == 0)
  }
}
