public import Lua
public import Observables

/// Scripts with globals of their own, and what a program gives them and asks of them: a
/// ``LuaHost``, or a ``LuaSandbox`` of one.
///
/// Confined to the thread of the host's loop. What is done by a sandbox is done on its account:
/// code of scripts that runs for it has the sandbox's time and memory, and bindings end with it.
public protocol ScriptEnvironment: AnyObject {
  /// Where the scripts are.
  ///
  /// - Throws: `closed`.
  @_documentation(visibility: internal)
  func scriptScope() throws(LuaError) -> ScriptScope
  /// Stops what the scripts run, from any thread; what scripts of other sandboxes of the host run,
  /// too.
  var interrupter: LuaInterrupter { get }
}

/// A host, and the sandbox whose globals scripts use.
@_documentation(visibility: internal)
public struct ScriptScope {
  let host: LuaHost
  let sandbox: LuaSandbox

  /// The globals of the scripts.
  var globals: LuaTable {
    get throws(LuaError) {
      if let environment = sandbox.environment { return environment }
      return try host.state.globals
    }
  }

  /// Runs `body` on the account of the sandbox.
  func entered<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try host.sandboxes.entered(sandbox.number, .own, body)
  }

  /// Calls a function of the module `obs` on the account of the sandbox: `push` pushes its
  /// arguments, and returns how many these are; `result` takes its results from the stack.
  func call<Result>(
    _ function: String, results: CInt, _ push: (LuaHost, LuaStack) throws(LuaError) -> CInt,
    result: (LuaHost, LuaStack) throws(LuaError) -> Result
  ) throws(LuaError) -> Result {
    try host.state.withStack { L throws(LuaError) in
      let height = L.height
      defer { L.height = height }
      _ = try host.module.load(L)
      try host.state.pushField(function, of: L)
      let arguments = try push(host, L)
      try entered { () throws(LuaError) in
        try host.state.tracedCall(arguments: arguments, results: results, L)
      }
      return try result(host, L)
    }
  }
}

extension LuaHost: ScriptEnvironment {
  /// Where the scripts are that were given no sandbox.
  @_documentation(visibility: internal)
  public func scriptScope() -> ScriptScope { ScriptScope(host: self, sandbox: sandboxes.main) }

  /// Stops what the scripts run, from any thread.
  public var interrupter: LuaInterrupter { state.interrupter }
}

extension ScriptEnvironment {
  /// Runs a file as a turn: watchers are called when it ends, or with those of the turn under way
  /// where a callback calls this.
  ///
  /// - Throws: `LuaError` for a file that cannot be read, a syntax error, and what the script
  ///   raised: `timeLimit`, `memory` and `quota` where it went beyond a limit; `closed`.
  @discardableResult
  public func run(file path: String) throws(LuaError) -> [LuaValue] {
    let scope = try scriptScope()
    return try scope.host.run(file: path, in: scope.sandbox)
  }

  /// Runs `text` as a turn; `name` is what error messages call it.
  ///
  /// - Throws: `LuaError` for a syntax error, and for what the script raised: `timeLimit`, `memory`
  ///   and `quota` where it went beyond a limit; `closed`.
  @discardableResult
  public func run(_ text: String, name: String = "=script") throws(LuaError) -> [LuaValue] {
    let scope = try scriptScope()
    return try scope.host.run(Array(text.utf8), name: name, in: scope.sandbox)
  }

  /// Runs `text` as a turn, and returns its first result as a Swift value; `name` is what error
  /// messages call it.
  ///
  /// The result may be of any type that a property may be: a plain value, an optional, a list, a
  /// `Codable` structure, a Swift model.
  ///
  /// - Throws: `LuaError` for a syntax error, for what the script raised, and, with the code
  ///   `type`, for a result of another type.
  public func run<Result>(
    _ text: String, name: String = "=script", as type: Result.Type
  ) throws(LuaError) -> Result {
    let scope = try scriptScope()
    return try scope.host.result(run(text, name: name).first ?? .nil, of: "script")
  }

  /// Runs a file as a turn, and returns its first result as a Swift value.
  ///
  /// All else is as for a text.
  ///
  /// - Throws: `LuaError` for a file that cannot be read, a syntax error, what the script raised,
  ///   and a result of another type.
  public func run<Result>(
    file path: String, as type: Result.Type
  ) throws(LuaError) -> Result {
    let scope = try scriptScope()
    return try scope.host.result(run(file: path).first ?? .nil, of: "script")
  }

  /// The value that stands for a Swift model or collection in scripts; the same for the same
  /// object.
  ///
  /// - Throws: `LuaError` for a closed state, or no memory.
  public func value(for object: some KeyPathObservable) throws(LuaError) -> LuaValue {
    let host = try scriptScope().host
    return try host.state.withStack { L throws(LuaError) in
      try host.objects.push(object, to: L)
      return try host.state.value(at: -1, of: L)
    }
  }

  /// The Swift model or collection that a value of a script is; nil where it is no object of this
  /// class.
  public func object<Object: AnyObject>(
    _ value: LuaValue, as type: Object.Type = Object.self
  ) -> Object? {
    guard let host = try? scriptScope().host else { return nil }
    host.requireThread("read")
    guard case .userdata(let userdata) = value else { return nil }
    let object = try? host.state.withStack { L throws(LuaError) in
      try host.state.push(userdata.pin, to: L)
      return host.objects.object(at: -1, of: L)
    }
    return object as? Object
  }
}
