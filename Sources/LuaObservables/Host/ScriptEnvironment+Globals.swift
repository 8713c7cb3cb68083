public import Lua
public import Observables

/// Values and functions that the host program gives to its scripts.
extension ScriptEnvironment {
  /// A global variable of the scripts: a plain value, a table, or a Swift model.
  ///
  /// Reading returns nil if the state is closed. If an assignment fails, because the state is
  /// closed or memory runs out, the error is reported to ``LuaHost/onError``; `set` throws it.
  public subscript(name: String) -> LuaValue {
    get {
      guard let scope = try? scriptScope() else { return .nil }
      scope.host.requireThread("read")
      let value = try? scope.entered { () throws(LuaError) in try scope.globals[name] }
      return value ?? .nil
    }
    set {
      assign(name) { () throws(LuaError) in try set(name, to: newValue) }
    }
  }

  /// A global variable of the scripts that is a Swift model or collection; nil for any other value,
  /// or an object of another class.
  ///
  /// Assigning an object gives it to scripts; assigning nil removes the variable. Scripts read,
  /// write and observe properties by name, elements by position, and entries by key. If an
  /// assignment fails, because the host is closed or memory runs out, the error is reported to
  /// ``LuaHost/onError``; `set` throws it.
  public subscript<Object: KeyPathObservable>(name: String) -> Object? {
    get { object(self[name] as LuaValue, as: Object.self) }
    set {
      assign(name) { () throws(LuaError) in
        if let newValue { try set(name, to: newValue) } else { try set(name, to: LuaValue.nil) }
      }
    }
  }

  /// A global variable of the scripts as a Swift value: a number, a string, a list …; nil if it is
  /// nil, or cannot be converted.
  ///
  /// ```swift
  /// host["rounds"] = rounds              // an Int
  /// let rounds: Int? = host["rounds"]
  /// ```
  ///
  /// Assigning nil removes the variable. If an assignment fails, because the host is closed or
  /// memory runs out, the error is reported to ``LuaHost/onError``; `set` throws it.
  public subscript<Value: LuaConvertible>(name: String) -> Value? {
    get { try? Value(luaValue: self[name] as LuaValue) }
    set { assign(name) { () throws(LuaError) in try set(name, to: newValue) } }
  }

  /// A global variable of the scripts as a `Codable` value, such as a structure, which is a table
  /// in scripts; nil if it is nil, or cannot be converted.
  ///
  /// Assigning makes a new table; assigning nil removes the variable. If an assignment fails,
  /// because scripts cannot have the value, the host is closed, or memory runs out, the error is
  /// reported to ``LuaHost/onError``; `set` throws it.
  @_disfavoredOverload
  public subscript<Structure: Codable>(name: String) -> Structure? {
    get { converted(name) }
    set { assign(name, newValue) }
  }

  /// A global variable of the scripts as a list of Swift models or collections; nil if it is nil,
  /// or cannot be converted.
  ///
  /// Assigning makes a new table of the same objects; everything else is as for one object.
  public subscript<Object: KeyPathObservable>(name: String) -> [Object]? {
    get { converted(name) }
    set { assign(name, newValue) }
  }

  /// A global variable of the scripts as a table of Swift models or collections by name; nil if it
  /// is nil, or cannot be converted.
  ///
  /// Assigning makes a new table of the same objects; everything else is as for one object.
  public subscript<Object: KeyPathObservable>(name: String) -> [String: Object]? {
    get { converted(name) }
    set { assign(name, newValue) }
  }

  /// Tells a program which values scripts can have.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: """
      scripts can have models, and values that are Codable or LuaConvertible; 'set(_:to:)' takes \
      values of all types that properties can have, and throws an error for others
      """
  )
  @_disfavoredOverload
  public subscript<Value>(name: String) -> Value? {
    get { nil }
    set {}
  }

  private func converted<Value>(_ name: String) -> Value? {
    let value = self[name] as LuaValue
    return value == .nil ? nil : try? scriptScope().host.result(value, of: "script")
  }

  private func assign<Value>(_ name: String, _ value: Value?) {
    assign(name) { () throws(LuaError) in
      if let value { try set(name, to: value) } else { try set(name, to: LuaValue.nil) }
    }
  }

  private func assign(_ name: String, _ body: () throws(LuaError) -> Void) {
    // A sandbox may be closed while its host is open.
    let scope = try? scriptScope()
    let host = scope?.host ?? (self as? LuaSandbox)?.host
    host?.requireThread("written")
    do { try body() } catch {
      let failure = LuaError(
        error.code, "the global variable '\(name)' could not be set: \(error.message)",
        underlying: error.underlying)
      host?.sandboxes.entered(scope?.sandbox.number ?? 0) {
        host?.reports.report(failure, .loop, name: "", site: "")
      }
    }
  }

  /// Sets a global variable of the scripts.
  ///
  /// - Throws: `LuaError` for a closed state, no memory, or a value of another state.
  public func set(_ name: String, to value: some LuaEncodable) throws(LuaError) {
    let scope = try scriptScope()
    try scope.entered { () throws(LuaError) in try scope.globals.set(name, to: value) }
  }

  /// Gives scripts a Swift model or collection as a global variable.
  ///
  /// Scripts read, write and observe properties by name, elements by position, and entries by key.
  ///
  /// - Throws: `LuaError` for a closed state, or no memory.
  public func set(_ name: String, to object: some KeyPathObservable) throws(LuaError) {
    try set(name, to: value(for: object))
  }

  /// Gives scripts a value of any type that properties can have, such as a `Codable` structure or a
  /// list of models, as a global variable.
  ///
  /// - Throws: `LuaError` for a closed state, no memory, and, with the code `type`, a value that
  ///   scripts cannot have.
  @_disfavoredOverload
  public func set<Value>(_ name: String, to value: Value) throws(LuaError) {
    let scope = try scriptScope()
    let converted: LuaValue
    do throws(LuaError) { converted = try scope.host.value(of: value) } catch {
      throw error.isOfConversion
        ? LuaError(.type, "'\(name)': \(error.message)", underlying: error.underlying) : error
    }
    try scope.entered { () throws(LuaError) in try scope.globals.set(name, to: converted) }
  }

  /// Gives scripts a Swift function as a global variable.
  ///
  /// Arguments, results and errors are as for a ``Method``. The function is called on the loop's
  /// thread. It is released with the host, or when Lua no longer refers to it.
  ///
  /// - Throws: `LuaError` for a closed state, no memory, and, with the code `type`, a parameter
  ///   type that script values cannot be converted to.
  public func set<each Argument, Result>(
    _ name: String, function body: @escaping (repeat each Argument) throws -> Result
  ) throws(LuaError) {
    try set(name, to: Function(name, body))
  }

  /// Gives scripts an asynchronous Swift function as a global variable: a script's task waits for
  /// its result.
  ///
  /// Everything else is as for a function that is not `async`, and for an `async` ``Method``.
  ///
  /// - Throws: `LuaError` for a closed state, no memory, and, with the code `type`, a parameter
  ///   type that script values cannot be converted to.
  public func set<each Argument, Result>(
    _ name: String, function body: @escaping (repeat each Argument) async throws -> Result
  ) throws(LuaError) {
    try set(name, to: Function(name, body))
  }

  private func set(_ name: String, to function: Function) throws(LuaError) {
    if let fault = function.fault { throw LuaError(.type, "function '\(name)': \(fault)") }
    try setGlobal(name) { host, L throws(LuaError) in
      try host.objects.push(function, named: name, to: L)
    }
  }

  /// Gives scripts the functions and constants of a class as a global table.
  ///
  /// - Throws: `LuaError` for a closed state, no memory, and a constant that scripts cannot have.
  /// - Complexity: O(number of members).
  public func set(_ name: String, to functions: ScriptFunctions) throws(LuaError) {
    try setGlobal(name) { host, L throws(LuaError) in
      try host.objects.push(functions, named: name, to: L)
    }
  }

  /// Sets a global variable to the value that `push` pushes.
  private func setGlobal(
    _ name: String, _ push: (LuaHost, LuaStack) throws(LuaError) -> Void
  ) throws(LuaError) {
    let scope = try scriptScope()
    let state = scope.host.state
    let globals = try scope.globals
    try state.withStack { L throws(LuaError) in
      try state.push(globals.pin, to: L)
      try push(scope.host, L)
      try state.setField(name, of: L)
    }
  }
}
