import Observables
import TestSupport
import Testing

/// A program that pays for its links, and refuses more after a number of checks.
private final class Payer: Receiver {
  struct Refusal: Error {}

  /// How many more checks it allows; nil for any number.
  var allowed: Int?
  /// Whether links are made anew in the next turn if they cannot be brought up to date.
  var mayStartOver = true
  /// How often it was asked again after it had refused.
  private(set) var lateChecks = 0
  private(set) var calls = 0
  private(set) var ends = 0
  private(set) var charge = 0

  override init() {
    super.init()
    chargesLinks = true
  }

  override func charge(_ bytes: Int, to payer: UnsafeMutableRawPointer?) { charge += bytes }

  override func checkLimits() throws {
    guard let left = allowed else { return }
    if left < 0 { lateChecks += 1 }
    allowed = left - 1
    if left <= 0 { throw Refusal() }
  }

  override func checkTime() throws { try checkLimits() }

  override func mayStartOver(after error: any Error) -> Bool { mayStartOver && error is Refusal }
  override func reportExhausted(_ error: any Error, _ watcher: WatcherRef) { ends += 1 }
  override func deliver(_ watcher: WatcherRef) { calls += 1 }

  func takeCalls() -> Int {
    defer { calls = 0 }
    return calls
  }
}

/// S1, S3: work that a limit ends.
struct RefusalTests {
  private let loop = Loop(clock: .virtual)
  private let array = ObservableArray<Vertex>()
  private let payer = Payer()

  private static let paths = [
    "@sum.x", "@avg.x", "@min.x", "@max.x", "@any.x", "@all.x", "@distinctUnionOfObjects.x",
    "@unionOfObjects.x", "*.x", "**", "*.a.x", "@max.a.x",
  ]

  private func observe(_ path: String) throws -> WatcherRef {
    let engine = loop.engine
    let root = try #require(array.observationToken(in: engine)?.node)
    let watcher = engine.watchers.make(root: root, receiver: payer, traits: [])
    do {
      try engine.wiring.add(Path(path), to: watcher)
    } catch {
      engine.watchers.stop(watcher)
      throw error
    }
    return watcher
  }

  /// Ends a turn; watchers that were refused wait for the next one.
  private func turn() { loop.engine.delivery.endTurn() }

  private func fill(_ count: Int) {
    for id in 0..<count {
      let vertex = Vertex(id)
      (vertex.x, vertex.a) = (id, Vertex(id))
      array.append(vertex)
    }
  }

  @Test(arguments: paths)
  func `the first refusal ends a registration, which then has cost nothing`(path: String) throws {
    fill(100)
    payer.allowed = 50
    #expect(throws: Payer.Refusal.self) { try observe(path) }
    #expect(payer.lateChecks == 0 && payer.charge == 0)
    payer.allowed = nil
    let watcher = try observe(path)
    #expect(payer.charge > 0)
    loop.engine.watchers.stop(watcher)
    #expect(payer.charge == 0)
  }

  @Test(arguments: paths, [true, false])
  func `the first refusal ends the work of a flush`(path: String, mayStartOver: Bool) throws {
    fill(100)
    payer.mayStartOver = mayStartOver
    let watcher = try observe(path)
    turn()
    for vertex in array { (vertex.x, vertex.a) = (-1 - vertex.x, Vertex(-vertex.id)) }
    array.append(array[0])
    payer.allowed = 1
    turn()
    #expect(payer.lateChecks == 0)
    guard mayStartOver else {
      #expect(payer.ends == 1 && payer.calls == 0 && payer.charge == 0)
      return
    }
    #expect(payer.ends == 0 && payer.calls == 0)
    // The next turn may take what it needs, or the watcher ends.
    payer.allowed = nil
    turn()
    #expect(payer.takeCalls() == 1 && payer.ends == 0)
    (array[50].x, array[51].x) = (-1000, 1000)
    array[50].a!.x = 1000
    turn()
    #expect(payer.takeCalls() == (["@any.x", "@all.x"].contains(path) ? 0 : 1))
    array.removeAll()
    payer.allowed = 0
    turn()
    turn()
    #expect(payer.ends == 1 && payer.calls == 0 && payer.charge == 0)
    _ = watcher
  }

  @Test func `a path that is added before the links are made anew has its links once`() throws {
    fill(100)
    let watcher = try observe("@sum.x")
    turn()
    for vertex in array { vertex.x = -vertex.x }
    payer.allowed = 1
    turn()
    payer.allowed = nil
    try loop.engine.wiring.add(Path("@max.x"), to: watcher)
    turn()
    #expect(payer.takeCalls() == 1 && payer.ends == 0)
    loop.engine.watchers.stop(watcher)
    #expect(payer.charge == 0)
    array[0].x = 7
  }

  /// What the path leads to, in a form that can be compared.
  private func value(of path: String) -> String {
    let values = array.map(\.x), others = array.compactMap { $0.a?.x }
    return switch path {
    case "@sum.x": "\(values.reduce(0, +))"
    case "@avg.x":
      "\(values.isEmpty ? .infinity : Double(values.reduce(0, +)) / Double(values.count))"
    case "@min.x": "\(values.min() as Any)"
    case "@max.x": "\(values.max() as Any)"
    case "@max.a.x": "\(others.max() as Any)"
    case "@distinctUnionOfObjects.x": "\(Set(values).sorted())"
    default: "\(values)"
    }
  }

  // C9: nothing is lost, and nothing is stale afterwards.
  @Test(arguments: 0..<20)
  func `an operator whose update was refused delivers each later change`(seed: Int) throws {
    let paths = [
      "@sum.x", "@avg.x", "@min.x", "@max.x", "@distinctUnionOfObjects.x", "@max.a.x",
    ]
    for round in 0..<20 {
      let test = RefusalTests()
      var generator = SeededGenerator(seed: 20 * seed + round)
      let path = paths.randomElement(using: &generator)!
      func below(_ limit: Int) -> Int { .random(in: 0..<limit, using: &generator) }
      test.fill(below(12))
      _ = try test.observe(path)
      for step in 0..<30 {
        let before = test.value(of: path)
        for _ in 0..<below(8) {
          switch below(5) {
          case 0: test.fill(1 + below(3))
          case 1 where !test.array.isEmpty: test.array.remove(at: below(test.array.count))
          case 2 where !test.array.isEmpty: test.array[below(test.array.count)] = Vertex(below(5))
          case 3 where !test.array.isEmpty:
            let vertex = Vertex(0)
            vertex.x = below(20)
            test.array[below(test.array.count)].a = below(4) == 0 ? nil : vertex
          default:
            if !test.array.isEmpty { test.array[below(test.array.count)].x = below(20) - 10 }
          }
        }
        let isChange = test.value(of: path) != before
        test.payer.allowed = below(3) == 0 ? below(10) : nil
        test.turn()
        let wasRefused = test.payer.allowed.map { $0 < 0 } ?? false
        test.payer.allowed = nil
        test.turn()
        let calls = test.payer.takeCalls()
        let isRight =
          wasRefused ? calls == 1 || calls == 0 && !isChange : calls == (isChange ? 1 : 0)
        #expect(
          isRight && test.payer.ends == 0,
          "seed \(seed), \(round), \(step): \(path), \(calls) calls, refused: \(wasRefused)"
        )
        if !isRight { return }
      }
    }
  }
}
