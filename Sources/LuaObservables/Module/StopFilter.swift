internal import Lua
internal import Observables

/// Selects the watchers that `obs.stop` ends.
struct StopFilter {
  var paths: [Path] = []
  var hasObserver = false
  var hasCallback = false
  /// The stack indices of the observer and the callback.
  var observer: CInt = 0
  var callback: CInt = 0

  /// Whether it selects only some watchers.
  var isSelective: Bool { hasObserver || hasCallback || !paths.isEmpty }

  init(at index: CInt, of L: LuaStack, _ host: LuaHost) throws {
    guard !L.isNil(at: index) else { return }
    guard L.isTable(at: index), L.ownLength(at: index) == 0 else {
      try host.arguments.forEachPath(at: index, of: L, "stop", argument: 2) { paths.append($0) }
      return
    }
    L.height = 4
    (observer, callback) = (3, 4)
    try host.state.forEachEntry(at: index, of: L) {
      try take(L.isString(at: -2) ? host.state.text(at: -2, of: L) : "?", L, host)
    }
  }

  /// Takes the value of a filter from the top of the stack.
  private mutating func take(_ name: String, _ L: LuaStack, _ host: LuaHost) throws {
    switch name {
    case "path":
      try host.arguments.forEachPath(at: -1, of: L, "stop", argument: 2) { paths.append($0) }
    case "observer":
      guard L.isTable(at: -1) || L.isUserdata(at: -1) else {
        throw badArgument(
          2, of: "stop",
          "filter 'observer' takes a table, not a \(host.state.typeName(at: -1, of: L))")
      }
      hasObserver = true
      L.copy(from: -1, to: observer)
    case "callback":
      guard L.isFunction(at: -1) || host.arguments.isCallable(-1, L) else {
        throw badArgument(
          2, of: "stop",
          "filter 'callback' takes a function, not a \(host.state.typeName(at: -1, of: L))")
      }
      hasCallback = true
      L.copy(from: -1, to: callback)
    default:
      throw badArgument(
        2, of: "stop",
        "unknown filter '\(name)'" + didYouMean(name, among: ["path", "observer", "callback"]))
    }
  }
}
