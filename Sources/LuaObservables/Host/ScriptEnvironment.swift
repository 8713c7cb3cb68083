public import Lua
public import Observables

/// Scripts with their globals, and a program's access to them: a ``LuaHost``, or a ``LuaSandbox``
/// of a host.
///
/// Confined to the thread of the host's loop. Work done through a sandbox is on its account: script
/// code runs with the sandbox's time and memory, and bindings end with it.
public protocol ScriptEnvironment: AnyObject {
  /// The host and sandbox of the scripts.
  ///
  /// - Throws: `closed`.
  @_documentation(visibility: internal)
  func scriptScope() throws(LuaError) -> ScriptScope
  /// Stops running scripts, from any thread, including scripts of the host's other sandboxes.
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

  /// Calls a function of the module `obs` on the account of the sandbox.
  ///
  /// `push` pushes the arguments and returns their number; `result` takes the results from the
  /// stack.
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
  /// The scope of scripts without a sandbox.
  @_documentation(visibility: internal)
  public func scriptScope() -> ScriptScope { ScriptScope(host: self, sandbox: sandboxes.main) }

  /// Stops running scripts, from any thread.
  public var interrupter: LuaInterrupter { state.interrupter }
}

extension ScriptEnvironment {
  /// Runs a file as a turn: watchers are called at its end, or, if a callback calls this, with the
  /// watchers of the turn under way.
  ///
  /// - Throws: `LuaError` for a file that cannot be read, a syntax error, and an error of the
  ///   script: `timeLimit`, `memory` and `quota` if it exceeded a limit; `closed`.
  @discardableResult
  public func run(file path: String) throws(LuaError) -> [LuaValue] {
    let scope = try scriptScope()
    return try scope.host.run(file: path, in: scope.sandbox)
  }

  /// Runs `text` as a turn; error messages call it `name`.
  ///
  /// - Throws: `LuaError` for a syntax error, and an error of the script: `timeLimit`, `memory` and
  ///   `quota` if it exceeded a limit; `closed`.
  @discardableResult
  public func run(_ text: String, name: String = "=script") throws(LuaError) -> [LuaValue] {
    let scope = try scriptScope()
    return try scope.host.run(Array(text.utf8), name: name, in: scope.sandbox)
  }

  /// Runs `text` as a turn, and returns its first result as a Swift value; error messages call it
  /// `name`.
  ///
  /// The result can be of any property type: a plain value, an optional, a list, a `Codable`
  /// structure, a Swift model.
  ///
  /// - Throws: `LuaError` for a syntax error, for an error of the script, and, with the code
  ///   `type`, for a result of another type.
  public func run<Result>(
    _ text: String, name: String = "=script", as type: Result.Type
  ) throws(LuaError) -> Result {
    let scope = try scriptScope()
    return try scope.host.result(run(text, name: name).first ?? .nil, of: "script")
  }

  /// Runs `text` as a turn, and returns its first results as Swift values; error messages call it
  /// `name`.
  ///
  /// ```swift
  /// let (width, unit) = try host.run("return 20, 'mm'", as: (Int, String).self)
  /// ```
  ///
  /// Everything else is as for one result.
  ///
  /// - Throws: `LuaError` for a syntax error, for an error of the script, and, with the code
  ///   `type`, for a result of another type.
  public func run<First, Second, each Other>(
    _ text: String, name: String = "=script", as types: (First, Second, repeat each Other).Type
  ) throws(LuaError) -> (First, Second, repeat each Other) {
    let scope = try scriptScope()
    return try scope.host.results(run(text, name: name), of: "script")
  }

  /// Runs a file as a turn, and returns its first result as a Swift value.
  ///
  /// Everything else is as for a text.
  ///
  /// - Throws: `LuaError` for a file that cannot be read, a syntax error, an error of the script,
  ///   and a result of another type.
  public func run<Result>(
    file path: String, as type: Result.Type
  ) throws(LuaError) -> Result {
    let scope = try scriptScope()
    return try scope.host.result(run(file: path).first ?? .nil, of: "script")
  }

  /// Runs a file as a turn, and returns its first results as Swift values.
  ///
  /// Everything else is as for a text.
  ///
  /// - Throws: `LuaError` for a file that cannot be read, a syntax error, an error of the script,
  ///   and a result of another type.
  public func run<First, Second, each Other>(
    file path: String, as types: (First, Second, repeat each Other).Type
  ) throws(LuaError) -> (First, Second, repeat each Other) {
    let scope = try scriptScope()
    return try scope.host.results(run(file: path), of: "script")
  }

  /// Returns the script value of a Swift model or collection, always the same for the same object.
  ///
  /// - Throws: `LuaError` for a closed state, or no memory.
  public func value(for object: some KeyPathObservable) throws(LuaError) -> LuaValue {
    let host = try scriptScope().host
    return try host.state.withStack { L throws(LuaError) in
      try host.objects.push(object, to: L)
      return try host.state.value(at: -1, of: L)
    }
  }

  /// Returns the Swift model or collection behind a script value; nil if it is no object of this
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
