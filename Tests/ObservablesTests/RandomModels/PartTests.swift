import Observables
import TestSupport
import Testing

/// Failures found by random programs over models, as short as possible.
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
  @Test func `a write that needs a lazy property first makes each call once, in order`() throws {
    let (a, b) = (Part(), Part())
    b.x = 2
    try a.observeImmediately("deep", "child.leader.child", in: loop) { [log] _, change in
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
  @Test func `a change after an assignment has the assigned value as its old one`() throws {
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
  @Test func `a watched operator is read with the lazy properties below it`() throws {
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

  // T9
  @Test func `a batch reports the write, and not an invalidated but equal value`() throws {
    let (a, b) = (Part(), Part())
    (a.items, b.x) = ([b], 1)
    _ = a.deep
    try a.observeImmediately("leader.deep", "leader.child.leader.leader.x", in: loop) {
      [log] _, change in log.note(change.key)
    }
    loop.batch { (b.child, b.child) = (b, a) }
    #expect(log.take() == ["child"])
    // Otherwise the two objects would keep each other alive.
    b.child = nil
  }

  // Z4
  @Test func `a value delivered in one flush is not delivered again in the next`() throws {
    let (a, b) = (Part(), Part())
    var step = 0
    try a.observe("total", in: loop) { [log] _ in log.note("1") }
    try b.observe("x", in: loop) { [log] _ in
      if step == 0 { (step, a.x) = (1, 2) }
      log.note("2")
    }
    try a.observe("total", in: loop) { [log] _ in log.note("3") }
    try b.observe("x", in: loop) { [log] _ in
      if step == 1 { (step, a.x) = (2, 1) }
      log.note("4")
    }
    loop.turn { (a.x, b.x) = (1, 1) }
    // The first received 1, and the last value is 1; the third received 2, then 1.
    #expect(log.take() == ["1", "2", "3", "4", "3"])
  }

  // Z5
  @Test func `an assignment before the first read ends with the next change`() {
    let (a, b) = (Part(), Part())
    (a.choice, a.total, a.load) = (100, 101, 102)
    #expect((a.choice, a.total, a.load) == (100, 101, 102))
    a.y = 3
    #expect((a.choice, a.total, a.load) == (3, 101, 3))
    (a.child, a.x) = (b, 2)
    a.choice = 103
    // The getter read the total of `b` before the assignment, and no longer `y`.
    a.y = 4
    #expect(a.choice == 103)
    b.x = 5
    #expect(a.choice == 5)
  }

  // Z5
  @Test func `an assignment ends when an element of a sum changes, comes or leaves`() {
    let (a, b, c) = (Part(), Part(), Part())
    (b.x, a.items) = (1, [])
    #expect(a.load == 0)
    a.items!.append(b)
    a.load = 100
    #expect(a.load == 100)
    b.x = 0
    #expect(a.load == 0)
    // The sum is 1 when the property is computed, and 0 from the assignment on.
    b.x = 1
    #expect(a.load == 1)
    a.items![0] = c
    a.load = 101
    #expect(a.load == 101)
    a.items!.append(c)
    #expect(a.load == 0)
  }

  // Z5
  @Test func `an assignment ends with a write below an invalid property with a new object`() {
    let (a, b) = (Part(), Part())
    #expect(a.deep == 0)
    a.child = b
    a.deep = 100
    b.x = 1
    #expect(a.deep == 1)
  }

  // T9
  @Test func `a batch reports a replaced object, and not unchanged values below it`() throws {
    let parts = (0..<4).map { _ in Part() }
    (parts[3].child, parts[1].child, parts[2].child) = (parts[1], parts[0], parts[0])
    try parts[3].observeImmediately("child.child.total", in: loop) { [log] _, change in
      log.note(change.key)
    }
    loop.batch { (parts[0].x, parts[3].child, parts[0].x) = (3, parts[2], 0) }
    #expect(log.take() == ["child"])
  }

  // L1, Z2
  @Test func `a former value is released when its last watcher has ended`() throws {
    weak var former: Part?
    let part = Part()
    do {
      let first = Part()
      former = first
      part.items = [first]
      let watcher = try part.observe("leader.x", in: loop) { _ in }
      loop.endTurn()
      watcher.pause()
      part.items = nil
      #expect(part.leader == nil)
      watcher.stop()
    }
    loop.endTurn()
    #expect(former == nil)
  }

  // X3
  @Test func `changes can be inverted that fill a new list with old and new objects`() throws {
    let part = Part()
    var changes: [DeepChange] = []
    try part.changes(in: loop) { _, list in changes = list }
    loop.turn { part.items = [Part(), part] }
    try part.apply(changes.inverted)
    #expect(part.items == nil)
  }
}
