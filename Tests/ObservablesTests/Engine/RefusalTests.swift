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
  private let array = ObservableArray<Shape>()
  private let payer = Payer()

  private static let paths = [
    "@sum.sides", "@avg.sides", "@min.sides", "@max.sides", "@any.sides", "@all.sides",
    "@distinctUnionOfObjects.sides",
    "@unionOfObjects.sides", "*.sides", "**", "*.next.sides", "@max.next.sides",
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
      array.append(Shape(id, next: Shape(0)))
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
    for shape in array { (shape.sides, shape.next) = (-1 - shape.sides, Shape(0)) }
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
    (array[50].sides, array[51].sides) = (-1000, 1000)
    array[50].next!.sides = 1000
    turn()
    #expect(payer.takeCalls() == (["@any.sides", "@all.sides"].contains(path) ? 0 : 1))
    array.removeAll()
    payer.allowed = 0
    turn()
    turn()
    #expect(payer.ends == 1 && payer.calls == 0 && payer.charge == 0)
    _ = watcher
  }

  @Test func `a path that is added before the links are made anew has its links once`() throws {
    fill(100)
    let watcher = try observe("@sum.sides")
    turn()
    for shape in array { shape.sides = -shape.sides }
    payer.allowed = 1
    turn()
    payer.allowed = nil
    try loop.engine.wiring.add(Path("@max.sides"), to: watcher)
    turn()
    #expect(payer.takeCalls() == 1 && payer.ends == 0)
    loop.engine.watchers.stop(watcher)
    #expect(payer.charge == 0)
    array[0].sides = 7
  }

  /// What the path leads to, in a form that can be compared.
  private func value(of path: String) -> String {
    let values = array.map(\.sides), others = array.compactMap { $0.next?.sides }
    return switch path {
    case "@sum.sides": "\(values.reduce(0, +))"
    case "@avg.sides":
      "\(values.isEmpty ? .infinity : Double(values.reduce(0, +)) / Double(values.count))"
    case "@min.sides": "\(values.min() as Any)"
    case "@max.sides": "\(values.max() as Any)"
    case "@max.next.sides": "\(others.max() as Any)"
    case "@distinctUnionOfObjects.sides": "\(Set(values).sorted())"
    default: "\(values)"
    }
  }

  // C9: nothing is lost, and nothing is stale afterwards.
  @Test(arguments: 0..<20)
  func `an operator whose update was refused delivers each later change`(seed: Int) throws {
    let paths = [
      "@sum.sides", "@avg.sides", "@min.sides", "@max.sides", "@distinctUnionOfObjects.sides",
      "@max.next.sides",
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
          case 2 where !test.array.isEmpty: test.array[below(test.array.count)] = Shape(below(5))
          case 3 where !test.array.isEmpty:
            let shape = Shape(below(20))
            test.array[below(test.array.count)].next = below(4) == 0 ? nil : shape
          default:
            if !test.array.isEmpty { test.array[below(test.array.count)].sides = below(20) - 10 }
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
