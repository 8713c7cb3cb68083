import Lua
import LuaObservables
import Observables
import Testing

/// The Swift side of the cases of lazy properties.
///
/// `swift_graph` is a table of functions over numbers that identify nodes and watchers, for cases
/// that Swift code carries out.
final class SwiftGraph {
  private unowned let host: LuaHost
  private var nodes: [GraphNode?] = []
  private var witnesses: [Witness] = []
  private var watchers: [Watcher] = []
  private var boxed: [WeakBoxed] = []

  private struct Witness {
    weak var node: GraphNode?
  }

  private struct WeakBoxed {
    weak var node: BoxedNode?
  }

  init(_ host: LuaHost) { self.host = host }

  /// Breaks the cycles between nodes; called when the host closes.
  func close() {
    for node in nodes { node?.unlink() }
    for case let node? in boxed.map(\.node) {
      (node.left, node.right, node.inputs) = (nil, nil, nil)
    }
    nodes = []
  }

  private func node(_ number: Int) throws -> GraphNode {
    guard nodes.indices.contains(number), let node = nodes[number] else {
      throw CaseError("no node \(number)")
    }
    return node
  }

  private func add(_ node: GraphNode) -> Int {
    nodes.append(node)
    return nodes.count - 1
  }

  private func operation(_ name: String) throws -> GraphOperation {
    guard let operation = GraphOperation(rawValue: name) else {
      throw CaseError("there is no operation \(name)")
    }
    return operation
  }

  func install() throws {
    let state = host.state
    let core = try state.makeTable()
    try core.set(
      "new_node",
      to: state.function("new_node") {
        [unowned self] (way: String, name: String, source: Int) -> Int in
        let operation = try operation(name)
        return add(
          way == "tracked"
            ? TrackedNode(operation, source: source) : GraphNode(operation, source: source))
      })
    try core.set(
      "new_boxed",
      to: state.function("new_boxed") { [unowned self] (name: String, source: Int) -> LuaValue in
        let node = try BoxedNode(operation(name), source: source, host: host)
        boxed.append(WeakBoxed(node: node))
        return try host.value(for: node)
      })
    try installNodes(core, state)
    try installProperties(core, state)
    try installWatchers(core, state)
    try host.set("swift_graph", to: core)
  }

  private func installNodes(_ core: LuaTable, _ state: LuaState) throws {
    try core.set(
      "write",
      to: state.function("write") { [unowned self] (number: Int, value: Int) in
        try node(number).source = value
      })
    try core.set(
      "link",
      to: state.function("link") { [unowned self] (number: Int, key: String, other: Int) in
        let other = other < 0 ? nil : try node(other)
        if key == "left" { try node(number).left = other } else { try node(number).right = other }
      })
    try core.set(
      "list",
      to: state.function("list") { [unowned self] (number: Int, others: LuaValue) in
        guard case .table(let table) = others else { return try node(number).inputs = nil }
        let members = try (0..<table.length).map { try node(table.get($0 + 1, as: Int.self)) }
        try node(number).inputs = ObservableArray(members)
      })
    try core.set(
      "insert",
      to: state.function("insert") { [unowned self] (number: Int, at: Int, other: Int) in
        try node(number).inputs!.insert(node(other), at: at)
      })
    try core.set(
      "remove",
      to: state.function("remove") { [unowned self] (number: Int, at: Int) in
        _ = try node(number).inputs!.remove(at: at)
      })
    try core.set(
      "release",
      to: state.function("release") { [unowned self] (number: Int) in nodes[number] = nil })
    try core.set(
      "witness",
      to: state.function("witness") { [unowned self] (number: Int) -> Int in
        witnesses.append(Witness(node: try node(number)))
        return witnesses.count - 1
      })
    try core.set(
      "is_alive",
      to: state.function("is_alive") { [unowned self] (witness: Int) in
        witnesses[witness].node != nil
      })
  }

  private func installProperties(_ core: LuaTable, _ state: LuaState) throws {
    try core.set(
      "read",
      to: state.function("read") { [unowned self] (number: Int, name: String) -> Int in
        try node(number).lazy(name).get()
      })
    try core.set(
      "peek",
      to: state.function("peek") { [unowned self] (number: Int, name: String) -> LuaValue in
        try node(number).lazy(name).peek.map { .integer(Int64($0)) } ?? .nil
      })
    try core.set(
      "set",
      to: state.function("set") { [unowned self] (number: Int, name: String, value: Int) in
        let node = try node(number)
        switch name {
        case "value": node.value = value
        case "deep": node.deep = value
        case "total": node.total = value
        case "kept": node.kept = value
        default: throw CaseError("the cases do not assign \(name)")
        }
      })
    try core.set(
      "invalidate",
      to: state.function("invalidate") { [unowned self] (number: Int, name: String) in
        if name.isEmpty { try node(number).invalidate() } else { try node(number).invalidate(name) }
      })
    try core.set(
      "is_valid",
      to: state.function("is_valid") { [unowned self] (number: Int, name: String) -> Bool in
        try node(number).lazy(name).isValid
      })
    try core.set(
      "force",
      to: state.function("force") { [unowned self] (number: Int) in try node(number).force() }
    )
    try core.set(
      "runs",
      to: state.function("runs") { [unowned self] (number: Int, name: String) -> Int in
        try node(number).runs[name] ?? 0
      })
    try core.set(
      "boxed_runs",
      to: state.function("boxed_runs") { [unowned self] (value: LuaValue, name: String) -> Int in
        try boxedNode(value).runs[name] ?? 0
      })
  }

  private func boxedNode(_ value: LuaValue) throws -> BoxedNode {
    // Newest first: programs run one after the other, and only the last one asks.
    for entry in boxed.reversed() {
      if let node = entry.node, try host.value(for: node) == value { return node }
    }
    throw CaseError("\(value) is no node")
  }

  private func installWatchers(_ core: LuaTable, _ state: LuaState) throws {
    try core.set(
      "observe",
      to: state.function("observe") {
        [unowned self]
        (
          number: Int, path: String, isImmediate: Bool, once: Bool, initial: Bool, call: LuaFunction
        ) -> Int in
        let options = WatcherOptions(initial: initial, once: once)
        let node = try node(number)
        watchers.append(
          isImmediate
            ? try node.observeImmediately(Path(path), in: host.loop, options: options) { _, _ in
              SwiftGraph.attempt(call)
            }
            : try node.observe(Path(path), in: host.loop, options: options) { _ in
              SwiftGraph.attempt(call)
            })
        return watchers.count - 1
      })
    try core.set(
      "batch",
      to: state.function("batch") { [unowned self] (body: LuaFunction) in
        try host.loop.batch { _ = try body.call() }
      })
    try core.set(
      "stop_watcher",
      to: state.function("stop") { [unowned self] (number: Int) in watchers[number].stop() })
    try core.set(
      "pause_watcher",
      to: state.function("pause") { [unowned self] (number: Int) in watchers[number].pause() })
    try core.set(
      "resume_watcher",
      to: state.function("resume") { [unowned self] (number: Int) in watchers[number].resume() })
    try core.set(
      "is_active",
      to: state.function("is_active") { [unowned self] (number: Int) in watchers[number].isActive })
  }

  /// Calls `call` for a callback of a Swift watcher, which cannot throw.
  private static func attempt(_ call: LuaFunction) {
    do { try call.call() } catch { Issue.record(error) }
  }
}
