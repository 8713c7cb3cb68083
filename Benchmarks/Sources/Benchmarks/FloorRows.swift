/// The same operations, written by hand for one class and one loop, without a library.
///
/// They show the cost of the bare machine: a callback keeps its object alive while it runs, and is
/// called once per turn. There are no paths, other kinds of objects, lifetimes, errors, or stops
/// while callbacks run.
func addFloorRows(to harness: inout Harness) {
  addDeliveryFloors(to: &harness)
  addPathFloors(to: &harness)
  addChainFloors(to: &harness)
}

/// A turn: the objects with pending callbacks.
final class HandTurn {
  private var dirty: ContiguousArray<HandLeaf> = []

  @inline(never)
  func add(_ leaf: HandLeaf) { dirty.append(leaf) }

  @inline(never)
  func flush() {
    while let leaf = dirty.popLast() {
      leaf.isDirty = false
      for watcher in leaf.watchers { watcher.callback(leaf) }
    }
  }
}

/// The object that a registration creates.
final class HandWatcher {
  let callback: (HandLeaf) -> Void
  init(_ callback: @escaping (HandLeaf) -> Void) { self.callback = callback }
}

final class HandLeaf {
  private unowned(unsafe) let turn: HandTurn
  fileprivate(set) var watchers: ContiguousArray<HandWatcher> = []
  /// The object to call when this one changes: the root of a path.
  private unowned(unsafe) var root: HandLeaf?
  fileprivate var isDirty = false
  var value = 0 { didSet { if value != oldValue { changed() } } }
  var next: HandLeaf? {
    didSet {
      guard next !== oldValue, root != nil || !watchers.isEmpty else { return }
      oldValue?.unhang()
      next?.hang(root ?? self)
      changed()
    }
  }

  init(_ turn: HandTurn) { self.turn = turn }

  private func changed() {
    let called = root ?? self
    if called.isDirty || called.watchers.isEmpty { return }
    called.isDirty = true
    turn.add(called)
  }

  private func hang(_ root: HandLeaf) {
    self.root = root
    next?.hang(root)
  }

  private func unhang() {
    root = nil
    next?.unhang()
  }

  @inline(never)
  func observe(_ callback: @escaping (HandLeaf) -> Void) -> HandWatcher {
    let watcher = HandWatcher(callback)
    watchers.append(watcher)
    next?.hang(self)
    return watcher
  }

  @inline(never)
  func stop(_ watcher: HandWatcher) {
    watchers.remove(at: watchers.firstIndex { $0 === watcher }!)
    if watchers.isEmpty { next?.unhang() }
  }
}

private func addDeliveryFloors(to harness: inout Harness) {
  let turn = HandTurn()
  let leaf = opaque(HandLeaf(turn))
  var calls = 0
  let watcher = leaf.observe { _ in calls += 1 }
  var value = 0
  let delivered = harness.time(1_000_000) {
    for _ in 0..<$0 {
      value += 1
      leaf.value = value
      turn.flush()
    }
  }
  check(calls == value, "one call for each write")
  harness.add("write + delivery", "by hand", delivered)
  leaf.stop(watcher)

  let leaves = (0..<10_000).map { _ in HandLeaf(turn) }
  calls = 0
  for leaf in leaves { _ = leaf.observe { _ in calls += 1 } }
  var round = 0
  let many = harness.time(1) { _ in
    round += 1
    for leaf in leaves { leaf.value = round }
    turn.flush()
  }
  check(calls == round * 10_000, "each of 10,000 objects is heard")
  harness.add("10,000 objects, one flush", "by hand", many / 1e6, unit: "ms")
}

private func addPathFloors(to harness: inout Harness) {
  let count = 200_000
  let turn = HandTurn()
  let (root, middle, leaf) = (opaque(HandLeaf(turn)), HandLeaf(turn), HandLeaf(turn))
  root.next = middle
  middle.next = leaf
  var calls = 0
  let watcher = root.observe { _ in calls += 1 }
  var value = 0
  let written = harness.time(count) {
    for _ in 0..<$0 {
      value += 1
      leaf.value = value
      turn.flush()
    }
  }
  check(calls == value, "one call for each write of the leaf")
  harness.add("3 components: leaf", "by hand", written)

  let (second, secondLeaf) = (HandLeaf(turn), HandLeaf(turn))
  second.next = secondLeaf
  calls = 0
  var replacements = 0
  let replaced = harness.time(count) {
    for _ in 0..<$0 {
      replacements += 1
      root.next = replacements % 2 == 0 ? middle : second
      turn.flush()
    }
  }
  check(calls == replacements, "one call for each replacement")
  harness.add("3 components: middle replaced", "by hand", replaced)
  root.stop(watcher)
  let registered = harness.time(count) {
    for _ in 0..<$0 { root.stop(root.observe { _ in }) }
  }
  harness.add("3 components: register + end", "by hand", registered)
}

/// A property that is computed from one other property.
private final class HandNode {
  private let getter: (HandNode) -> Int
  private let source: HandNode?
  fileprivate var dependents: ContiguousArray<HandNode> = []
  private var stored = 0
  private var isValid = false

  init(_ source: HandNode?, _ getter: @escaping (HandNode) -> Int) {
    (self.source, self.getter) = (source, getter)
    source?.dependents.append(self)
  }

  var value: Int {
    if !isValid {
      stored = source.map(getter) ?? stored
      isValid = true
    }
    return stored
  }

  func write(_ value: Int) {
    stored = value
    isValid = true
    for dependent in dependents { dependent.invalidate() }
  }

  private func invalidate() {
    guard isValid else { return }
    isValid = false
    for dependent in dependents { dependent.invalidate() }
  }
}

private func addChainFloors(to harness: inout Harness) {
  for (width, height) in [(1, 100), (10, 100), (100, 100)] {
    let source = HandNode(nil) { $0.value }
    source.write(0)
    let ends = (0..<width).map { _ in
      (0..<height).reduce(source) { node, _ in HandNode(node) { $0.value &+ 1 } }
    }
    var sum = 0
    for end in ends { sum &+= end.value }
    var value = 0
    let time = harness.time(max(1, 100_000 / (width * height))) {
      for _ in 0..<$0 {
        value += 1
        source.write(value)
        for end in ends { sum &+= end.value }
      }
    }
    check(ends.allSatisfy { $0.value == value + height }, "a value went down every chain")
    harness.add(
      "propagate, \(width)x\(height)", "by hand", time / Double(width * height))
  }
}
