import Observables
import Testing

/// What random programs over models have found, as short as it can be.
@Suite struct PartTests {
  private let loop = Loop()
  private let log = Log()

  // L5, Z2
  @Test func `stopping the watchers of a model leaves its lazy properties alone`() {
    loop.turn {
      let part = Part()
      #expect(part.total == 0)
      #expect(part.stopObserving("x") == 0)
      #expect(part.stopObserving() == 0)
      part.x = 5
      #expect(part.total == 5)
    }
  }

  // Z3
  @Test func `a wildcard in the middle of a path leaves lazy properties alone`() throws {
    let (a, b, c) = (Part(), Part(), Part())
    try a.observe("*.x", in: loop) { _ in }
    #expect(!a.$total.isValid)
    (c.child, a.leader) = (a, b)
    try c.observe("child.*.y", in: loop) { [log] _ in log.note("c") }
    loop.turn { b.y = 1 }
    #expect(log.take() == [])
  }

  // T9
  @Test func `a write that needs a lazy property at first calls each once, in order`() throws {
    let (a, b) = (Part(), Part())
    b.x = 2
    try a.observeImmediately(["deep", "child.leader.child"], in: loop) { [log] _, change in
      log.note(change.key)
    }
    loop.turn { a.child = b }
    #expect(log.take() == ["child"])

    let (c, d, items) = (Part(), Part(), ObservableArray<Part>())
    c.items = items
    try items.observeImmediately("*.leader.x", in: loop) { [log] _, _ in log.note("1") }
    try c.observeImmediately("leader.x", in: loop) { [log] _, _ in log.note("2") }
    loop.turn { items.append(d) }
    #expect(log.take() == ["1", "2"])
  }

  // Z5, T9
  @Test func `what follows an assignment is told with the value that it gave`() throws {
    let part = Part()
    part.x = 1
    try part.observeImmediately("total", in: loop) { [log] part, change in
      log.note("\(change.old!)→\(change.new!)")
      if part.x == 1 { part.x = 0 }
    }
    loop.turn { part.total = 101 }
    #expect(log.take() == ["1→101", "101→0"])
  }

  // C9
  @Test func `an operator that is watched is read with the lazy properties below it`() throws {
    let (parts, part) = (ObservableArray<Part>(), Part())
    try parts.observe("@sum.total", in: loop) { _ in }
    loop.turn { parts.append(part) }
    var sum: Any?
    loop.turn {
      part.x = 2
      sum = try? parts.value(at: "@sum.total")
    }
    #expect(sum as? Int == 2)
  }
}
