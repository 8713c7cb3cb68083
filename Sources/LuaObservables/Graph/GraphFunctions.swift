internal import Lua
internal import Observables

/// `obs.graph`.
final class GraphFunctions: ModuleSlice {
  override var functions: [NamedFunction] {
    [
      .init("graph", graph),
      .init(
        "is_known",
        { [self] L in
          let isKnown = try arguments.existingNode(at: 1, of: L, "graph") != nil
          L.push(isKnown)
          return 1
        }
      ),
    ]
  }

  /// graph(_, format, list of roots) → text.
  private func graph(_ L: LuaStack) throws -> CInt {
    L.height = 3
    guard L.isString(at: 2),
      let format = GraphFormat(rawValue: state.text(at: 2, of: L))
    else {
      throw badArgument(2, of: "graph", "name of a format expected")
    }
    engine.watchers.stopOrphans()
    var roots: [NodeRef] = []
    for position in stride(from: 1, through: L.rawLength(at: 3), by: 1) {
      L.rawGet(index: position, at: 3)
      // An error names the object as argument 1.
      L.copy(from: -1, to: 1)
      L.pop()
      let root = try arguments.observed(at: 1, of: L, "graph")
      engine.nodes.unobserveWhenIdle(root)
      roots.append(root)
      try state.checkStop()
    }
    let (inspection, budget) = (host.module.inspection, TextBudget(state))
    defer { budget.end() }
    let graph = engine.inspection.graph(
      of: roots, firstIndex: 1,
      naming: { slot in budget.part { inspection.name(of: slot) } },
      hiding: host.stranger, unless: { budget.isSpent })
    // From here on, labels and edges are held only by the graph.
    budget.take(graph.size)
    try budget.check()
    try state.push(text: graph.text(format), to: L)
    return 1
  }
}
