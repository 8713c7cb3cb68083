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
  private var witnesses: [Weak<GraphNode>] = []
  private var watchers: [Watcher] = []
  private var boxed: [Weak<BoxedNode>] = []

  private struct Weak<Object: AnyObject> {
    weak var object: Object?
  }

  /// The functions that scripts get.
  private struct Functions {
    let table: LuaTable
    let state: LuaState

    func add<each Argument: LuaDecodable, Result: LuaEncodable>(
      _ name: String, _ body: @escaping (repeat each Argument) throws -> Result
    ) throws { try table.set(name, to: state.function(name, body)) }

    func add<each Argument: LuaDecodable>(
      _ name: String, _ body: @escaping (repeat each Argument) throws -> Void
    ) throws { try table.set(name, to: state.function(name, body)) }
  }

  init(_ host: LuaHost) { self.host = host }

  /// Breaks the cycles between nodes; called when the host closes.
  func close() {
    for node in nodes { node?.unlink() }
    for case let node? in boxed.map(\.object) {
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

  private func operation(_ name: String) throws -> GraphOperation {
    guard let operation = GraphOperation(rawValue: name) else {
      throw CaseError("there is no operation \(name)")
    }
    return operation
  }

  func install() throws {
    let functions = try Functions(table: host.state.makeTable(), state: host.state)
    try functions.add("new_node") {
      [unowned self] (way: String, name: String, source: Int) -> Int in
      let type: GraphNode.Type = way == "tracked" ? TrackedNode.self : GraphNode.self
      nodes.append(type.init(try operation(name), source: source))
      return nodes.count - 1
    }
    try functions.add("new_boxed") { [unowned self] (name: String, source: Int) -> LuaValue in
      let node = try BoxedNode(operation(name), source: source, host: host)
      boxed.append(Weak(object: node))
      return try host.value(for: node)
    }
    try addNodes(functions)
    try addProperties(functions)
    try addWatchers(functions)
    try host.set("swift_graph", to: functions.table)
  }

  private func addNodes(_ functions: Functions) throws {
    try functions.add("write") { [unowned self] (number: Int, value: Int) in
      try node(number).source = value
    }
    try functions.add("link") { [unowned self] (number: Int, key: String, other: Int) in
      let other = other < 0 ? nil : try node(other)
      if key == "left" { try node(number).left = other } else { try node(number).right = other }
    }
    try functions.add("list") { [unowned self] (number: Int, others: LuaValue) in
      guard case .table(let table) = others else { return try node(number).inputs = nil }
      let members = try (0..<table.length).map { try node(table.get($0 + 1, as: Int.self)) }
      try node(number).inputs = ObservableArray(members)
    }
    try functions.add("insert") { [unowned self] (number: Int, at: Int, other: Int) in
      try node(number).inputs!.insert(node(other), at: at)
    }
    try functions.add("remove") { [unowned self] (number: Int, at: Int) in
      _ = try node(number).inputs!.remove(at: at)
    }
    try functions.add("release") { [unowned self] (number: Int) in nodes[number] = nil }
    try functions.add("witness") { [unowned self] (number: Int) -> Int in
      witnesses.append(Weak(object: try node(number)))
      return witnesses.count - 1
    }
    try functions.add("is_alive") { [unowned self] (witness: Int) -> Bool in
      witnesses[witness].object != nil
    }
  }

  private func addProperties(_ functions: Functions) throws {
    try functions.add("read") { [unowned self] (number: Int, name: String) -> Int in
      try node(number).lazy(name).get()
    }
    try functions.add("peek") { [unowned self] (number: Int, name: String) -> LuaValue in
      try node(number).lazy(name).peek.map { .integer(Int64($0)) } ?? .nil
    }
    try functions.add("set") { [unowned self] (number: Int, name: String, value: Int) in
      let node = try node(number)
      switch name {
      case "value": node.value = value
      case "deep": node.deep = value
      case "total": node.total = value
      case "kept": node.kept = value
      default: throw CaseError("the cases do not assign \(name)")
      }
    }
    try functions.add("invalidate") { [unowned self] (number: Int, name: String) in
      if name.isEmpty { try node(number).invalidate() } else { try node(number).invalidate(name) }
    }
    try functions.add("is_valid") { [unowned self] (number: Int, name: String) -> Bool in
      try node(number).lazy(name).isValid
    }
    try functions.add("force") { [unowned self] (number: Int) in try node(number).force() }
    try functions.add("runs") { [unowned self] (number: Int, name: String) -> Int in
      try node(number).runs[name] ?? 0
    }
    try functions.add("boxed_runs") { [unowned self] (value: LuaValue, name: String) -> Int in
      try boxedNode(value).runs[name] ?? 0
    }
  }

  private func boxedNode(_ value: LuaValue) throws -> BoxedNode {
    // Newest first: programs run one after the other, and only the last one asks.
    for entry in boxed.reversed() {
      if let node = entry.object, try host.value(for: node) == value { return node }
    }
    throw CaseError("\(value) is no node")
  }

  private func addWatchers(_ functions: Functions) throws {
    try functions.add("observe") {
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
    }
    try functions.add("batch") { [unowned self] (body: LuaFunction) in
      try host.loop.batch { _ = try body.call() }
    }
    try functions.add("stop_watcher") { [unowned self] (number: Int) in watchers[number].stop() }
    try functions.add("pause_watcher") { [unowned self] (number: Int) in watchers[number].pause() }
    try functions.add("resume_watcher") { [unowned self] (number: Int) in
      watchers[number].resume()
    }
    try functions.add("is_active") { [unowned self] (number: Int) -> Bool in
      watchers[number].isActive
    }
  }

  /// Calls `call` for a callback of a Swift watcher, which cannot throw.
  private static func attempt(_ call: LuaFunction) {
    do { try call.call() } catch { Issue.record(error) }
  }
}
