import Observables

/// Deep changes of Swift objects: collected, and undone by a history and by transactions.
func addChangeRows(to harness: inout Harness) throws {
  try addCollectingRows(to: &harness)
  try addHistoryRows(to: &harness)
  try addTransactionRows(to: &harness)
}

/// A model with a list whose elements are replaced, and with many other objects.
private final class Shelf: ObservableModel {
  static let properties = ModelProperties(for: Shelf.self) {
    Property("list", get: { $0.list })
    Property("others", get: { $0.others })
  }
  let observation = ModelObservation()
  let list = ObservableArray((0..<30).map { Leaf(value: $0) })
  let others: ObservableArray<Leaf>

  init(others count: Int) { others = ObservableArray((0..<count).map { Leaf(value: $0) }) }
}

private func addCollectingRows(to harness: inout Harness) throws {
  let (loop, count) = (Loop(), 1000)
  let shelf = Shelf(others: 10_000)
  var taken = 0
  try shelf.changes(in: loop) { _, changes in taken += changes.count }
  var value = 10_000
  let time = harness.time(1) { _ in
    taken = 0
    for i in 0..<count {
      value += 1
      shelf.others[i * 7 % 10_000].value = value
    }
    loop.flush()
    check(taken == count, "each write is a change")
  }
  harness.add(
    "changes in Swift: 1,000 of 10,000 objects in a turn", "written and collected", time / 1e6,
    unit: "ms")
  var flat: Double?
  for others in [100, 10_000] {
    let shelf = Shelf(others: others)
    try shelf.changes(in: loop) { _, changes in taken += changes.count }
    let time = harness.time(500) { count in
      taken = 0
      for i in 0..<count {
        shelf.list[i % 30] = Leaf(value: i)
        loop.flush()
      }
      check(taken == count, "each turn has one change")
    }
    harness.add(
      "changes in Swift: an element of a list of 30 replaced in a turn", "\(others) other objects",
      time / 1000, unit: "µs", limit: flat.map { $0 * 1.5 }, "≤ 1.5 × 100 others")
    flat = time / 1000
  }
  let reversing = Shelf(others: 10_000)
  try reversing.changes(in: loop) { _, changes in taken += changes.count }
  let reversed = harness.time(1) { _ in
    taken = 0
    reversing.others.set(reversing.others.elements.reversed())
    loop.flush()
    check(taken == 10_000, "each element is replaced")
  }
  harness.add(
    "changes in Swift: a list of 10,000 objects reversed in a turn", "written and collected",
    reversed / 1e6, unit: "ms")
}

private func addHistoryRows(to harness: inout Harness) throws {
  let loop = Loop()
  let shelf = Shelf(others: 10_000)
  let history = try ChangeHistory(of: shelf, in: loop, limit: 1000)
  var number = 0
  func step() {
    number += 1
    shelf.list[number % 30] = Leaf(value: number)
    loop.flush()
  }
  let made = harness.time(500) { for _ in 0..<$0 { step() } }
  harness.add("history in Swift, 10,000 other objects", "a step", made / 1000, unit: "µs")
  let both = harness.time(500) { count in
    for _ in 0..<count {
      step()
      check(history.undo(), "a step is taken back")
    }
  }
  harness.add(
    "history in Swift, 10,000 other objects", "a step and its undo", both / 1000, unit: "µs")
}

private func addTransactionRows(to harness: inout Harness) throws {
  let loop = Loop()
  for count in [10, 10_000] {
    let shelf = Shelf(others: count)
    try shelf.observe("**", in: loop) { _ in }
    var failures = 0
    let time = harness.time(1) { _ in
      do { try Transaction.run(on: [shelf], in: loop) {} } catch { failures += 1 }
    }
    check(failures == 0, "a transaction can begin")
    harness.add(
      "transaction in Swift", "opened and left, \(count) objects", time / 1000, unit: "µs")
  }
}
