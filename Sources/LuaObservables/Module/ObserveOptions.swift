internal import Lua
internal import Observables

/// The options of `obs.observe`.
struct ObserveOptions {
  var traits = WatcherRecord.Traits(rawValue: 0)
  var isInitial = false
  var hasObserver = false
  var hasNames = false

  init() {}

  private static let names = [
    "observer", "immediate", "initial", "once", "equals", "name", "on_end",
  ]

  private var request = RegisteringFunctions.Request.paths

  init(
    at index: CInt, of L: LuaStack, _ host: LuaHost, _ request: RegisteringFunctions.Request
  ) throws {
    self.request = request
    guard L.isTable(at: index) else {
      throw badArgument(
        request.arguments.options, of: request.function,
        "table of options expected, got \(host.state.typeName(at: index, of: L))")
    }
    try host.state.forEachEntry(at: index, of: L) {
      guard L.isString(at: -2) else {
        throw badArgument(
          request.arguments.options, of: request.function,
          "options have names, not a \(host.state.typeName(at: -2, of: L)) as key")
      }
      try take(host.state.text(at: -2, of: L), L, host)
    }
  }

  private mutating func take(_ name: String, _ L: LuaStack, _ host: LuaHost) throws {
    let type = L.type(at: -1)
    switch name {
    case "observer":
      guard type == .table || type == .userdata else {
        throw wrongType(name, "table", L, host)
      }
      traits.insert(.observing)
      hasObserver = true
    case "immediate", "once", "initial":
      guard type == .boolean else { throw wrongType(name, "boolean", L, host) }
      guard L.boolean(at: -1) else { return }
      switch name {
      case "immediate": traits.insert(.immediate)
      case "once": traits.insert(.once)
      default: isInitial = true
      }
    case "equals":
      guard type == .function else { throw wrongType(name, "function", L, host) }
      traits.insert(.comparing)
    case "on_end":
      guard type == .function else { throw wrongType(name, "function", L, host) }
      hasNames = true
    case "name":
      guard type == .string else { throw wrongType(name, "string", L, host) }
      hasNames = true
    default:
      throw badArgument(
        request.arguments.options, of: request.function,
        "unknown option '\(name)'" + didYouMean(name, among: ObserveOptions.names))
    }
  }

  private func wrongType(
    _ name: String, _ expected: String, _ L: LuaStack, _ host: LuaHost
  ) -> LuaError {
    badArgument(
      request.arguments.options, of: request.function,
      "option '\(name)' takes a \(expected), not a \(host.state.typeName(at: -1, of: L))")
  }
}
