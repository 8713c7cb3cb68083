import Observables

/// cellx: layers of four computed properties, each with an effect; a row is one pass of four writes
/// that are delivered together.
func addCellxRows(to harness: inout Harness) throws {
  for layers in [10, 100, 1000, 2500, 5000] {
    for isTracked in [false, true] {
      let graph = ShapeGraph(isTracked: isTracked, loop: Loop())
      let pass = try cellx(graph, layers)
      let time = harness.time(max(1, 1000 / layers)) { for _ in 0..<$0 { pass() } }
      harness.add("cellx, \(layers) layers", graph.name, time / 1000, unit: "µs")
    }
  }
}

private let inputs = [[1, 2, 3, 4], [4, 3, 2, 1]]
/// The published values of the last layer for these inputs.
private let published = [
  1000: [[-3, -6, -2, 2], [-2, -4, 2, 3]],
  2500: [[-3, -6, -2, 2], [-2, -4, 2, 3]],
  5000: [[2, 4, -1, -6], [-2, 1, -4, -4]],
]

private func cellx(_ graph: ShapeGraph, _ layers: Int) throws -> () -> Void {
  let sources = inputs[0].map { Source($0) }
  var calls = 0
  var last: [Cell] = sources
  for _ in 0..<layers {
    let layer = last
    last = [
      graph.plus(layer[1], 0), graph.add(layer[0], layer[2], factor: -1),
      graph.add(layer[1], layer[3]), graph.plus(layer[2], 0),
    ]
    for cell in last { try graph.effect(cell) { _ in calls += 1 } }
  }
  let answers = inputs.map { answer(layers, $0) }
  if let published = published[layers] {
    check(answers == published, "the values that were published for \(layers) layers")
  }
  let ends = last
  var now = 0
  check(ends.map(\.value) == answers[now], "the values before")
  return {
    now = 1 - now
    calls = 0
    for (source, value) in zip(sources, inputs[now]) { source.value = value }
    graph.loop.flush()
    for (end, value) in zip(ends, answers[now]) { check(end.value == value, "the values after") }
    check(calls > layers, "the effects were called")
  }
}

/// The values of the last layer, computed without a graph.
private func answer(_ layers: Int, _ input: [Int]) -> [Int] {
  (0..<layers).reduce(input) { layer, _ in
    [layer[1], layer[0] - layer[2], layer[1] + layer[3], layer[2]]
  }
}
