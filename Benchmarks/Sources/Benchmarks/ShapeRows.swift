import Observables

/// The shapes of the kairo set: a row is one iteration of up to a thousand writes, each delivered
/// to its effects before the next.
func addShapeRows(to harness: inout Harness) throws {
  for isTracked in [false, true] {
    let graph = ShapeGraph(isTracked: isTracked, loop: Loop())
    for (name, count, build) in shapes {
      let iterate = try build(graph)
      let time = harness.time(count) { for _ in 0..<$0 { iterate() } }
      harness.add(name, graph.name, time / 1000, unit: "µs")
    }
  }
  addShapePeers(to: &harness)
}

private typealias Shape = (
  name: String, count: Int, build: @Sendable (ShapeGraph) throws -> () -> Void
)

private let shapes: [Shape] = [
  ("deep, 50", 20, deep), ("broad, 50", 20, broad), ("diamond, 5", 20, diamond),
  ("triangle, 10", 50, triangle), ("mux, 100", 20, mux), ("repeated, 30", 50, repeated),
  ("unstable, 20", 50, unstable), ("avoidable", 10, avoidable),
]

private func deep(_ graph: ShapeGraph) throws -> () -> Void {
  let head = Source(0)
  let last = (0..<50).reduce(head as Cell) { cell, _ in graph.plus(cell, 1) }
  return try writing(graph, head, last, [last], writes: 50) { 50 + $0 }
}

private func broad(_ graph: ShapeGraph) throws -> () -> Void {
  let head = Source(0)
  let ends = (0..<50).map { graph.plus(graph.plus(head, $0), 1) }
  return try writing(graph, head, ends[49], ends, writes: 50) { 50 + $0 }
}

private func diamond(_ graph: ShapeGraph) throws -> () -> Void {
  let head = Source(0)
  let sum = graph.sum((0..<5).map { _ in graph.plus(head, 1) })
  return try writing(graph, head, sum, [sum], writes: 500) { ($0 + 1) * 5 }
}

private func triangle(_ graph: ShapeGraph) throws -> () -> Void {
  let head = Source(0)
  var terms: [Cell] = [head]
  for _ in 1..<10 { terms.append(graph.plus(terms.last!, 1)) }
  let sum = graph.sum(terms)
  return try writing(graph, head, sum, [sum], writes: 100) { 45 + 10 * $0 }
}

private func repeated(_ graph: ShapeGraph) throws -> () -> Void {
  let head = Source(0)
  let sum = graph.repeated(head, times: 30)
  return try writing(graph, head, sum, [sum], writes: 100) { 30 * $0 }
}

private func unstable(_ graph: ShapeGraph) throws -> () -> Void {
  let head = Source(0)
  let sum = graph.switching(
    head, odd: graph.scaled(head, by: 2), even: graph.scaled(head, by: -1), times: 20)
  return try writing(graph, head, sum, [sum], writes: 100) { $0 % 2 == 1 ? 40 * $0 : -20 * $0 }
}

private func mux(_ graph: ShapeGraph) throws -> () -> Void {
  let heads = (0..<100).map { _ in Source(0) }
  let packed = graph.packed(heads)
  let ends = heads.indices.map { graph.plus(graph.picked(packed, at: $0), 1) }
  let calls = Calls()
  for end in ends { try graph.effect(end) { _ in calls.count += 1 } }
  return {
    calls.count = 0
    for factor in [1, 2] {
      for i in 0..<10 {
        graph.write(factor * i, to: heads[i])
        check(ends[i].value == factor * i + 1, "the end of the written one")
      }
    }
    check(calls.count == 18, "one call for each write that changes something")
  }
}

private func avoidable(_ graph: ShapeGraph) throws -> () -> Void {
  let head = Source(0)
  let calls = Calls()
  let work = {
    calls.count += 1
    for i in 0..<100 { _ = opaque(i) }
  }
  let busy = graph.busy(graph.scaled(graph.plus(head, 0), by: 0), work)
  let last = graph.plus(graph.plus(busy, 2), 3)
  try graph.effect(last) { _ in work() }
  check(last.value == 6, "the value before")
  let before = calls.count
  return {
    graph.write(1, to: head)
    for i in 0..<1000 {
      graph.write(i, to: head)
      check(last.value == 6, "the value is always the same")
    }
    check(calls.count == before, "nothing behind the constant runs again")
  }
}

/// One iteration: writes 1, then 0, 1 …; checks the value of `last`, and that each write called
/// each end.
private func writing(
  _ graph: ShapeGraph, _ head: Source, _ last: Cell, _ ends: [Cell], writes: Int,
  _ expected: @escaping (Int) -> Int
) throws -> () -> Void {
  let calls = Calls()
  for end in ends { try graph.effect(end) { _ in calls.count += 1 } }
  return {
    graph.write(1, to: head)
    calls.count = 0
    for i in 0..<writes {
      graph.write(i, to: head)
      check(last.value == expected(i), "the value at the end")
    }
    check(calls.count == writes * ends.count, "one call for each effect and write")
  }
}

/// Counts calls of closures.
private final class Calls {
  var count = 0
}
