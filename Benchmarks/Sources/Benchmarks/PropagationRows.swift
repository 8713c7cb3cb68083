import Observables
import OpenCombine

/// One source, chains of computed properties, an effect at the end of each: the cost of an update
/// for each computed property.
func addPropagationRows(to harness: inout Harness) throws {
  for width in [1, 10, 100] {
    for height in [1, 10, 100] {
      let concept = "propagate, \(width)x\(height)"
      let updates = max(1, 100_000 / (width * height))
      for isTracked in [false, true] {
        let loop = Loop()
        let graph = ShapeGraph(isTracked: isTracked, loop: loop)
        let time = try propagation(graph, width, height, updates, harness)
        // In a short chain, most of the time is the delivery, which has another limit.
        harness.add(concept, graph.name, time, limit: isTracked || height < 100 ? nil : 25)
      }
      harness.add(
        concept, "OpenCombine CurrentValueSubject, map", combined(width, height, updates, harness))
    }
  }
}

private func propagation(
  _ graph: ShapeGraph, _ width: Int, _ height: Int, _ updates: Int, _ harness: Harness
) throws -> Double {
  let source = Source(0)
  var calls = 0
  let ends = (0..<width).map { _ in
    (0..<height).reduce(source as Cell) { cell, _ in graph.plus(cell, 1) }
  }
  for end in ends { try graph.effect(end) { _ in calls += 1 } }
  let time = harness.time(updates) {
    for _ in 0..<$0 { graph.write(source.value + 1, to: source) }
  }
  check(ends.allSatisfy { $0.value == source.value + height }, "a value went down every chain")
  check(calls == source.value * width, "one call for each chain and write")
  return time / Double(width * height)
}

private func combined(
  _ width: Int, _ height: Int, _ updates: Int, _ harness: Harness
) -> Double {
  let source = CurrentValueSubject<Int, Never>(0)
  var calls = 0
  var last = 0
  let sinks = (0..<width).map { _ in
    (0..<height).reduce(source.eraseToAnyPublisher()) { publisher, _ in
      publisher.map { $0 + 1 }.eraseToAnyPublisher()
    }.sink {
      calls += 1
      last = $0
    }
  }
  let time = harness.time(updates) {
    for _ in 0..<$0 { source.value += 1 }
  }
  check(last == source.value + height, "a value went down every chain")
  check(calls == (source.value + 1) * width, "one call for each chain and write")
  for sink in sinks { sink.cancel() }
  return time / Double(width * height)
}
