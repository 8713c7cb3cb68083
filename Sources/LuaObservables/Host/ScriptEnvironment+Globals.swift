public import Lua
public import Observables

/// Values and functions that the host program gives to its scripts.
extension ScriptEnvironment {
  /// A global variable of the scripts: a plain value, a table, or a Swift model.
  ///
  /// Reading gives nil where the state is closed. An assignment that fails, for the same reason or
  /// without memory, is reported to ``LuaHost/onError``; `set` throws.
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

  /// A global variable of the scripts that is a Swift model or collection; nil where it is another
  /// value, or an object of another class.
  ///
  /// Assigning gives scripts the object, or removes it: properties are read, written and observed
  /// by their names, elements by their positions, entries by their keys. An assignment that fails,
  /// as the host is closed or there is no memory, is reported to ``LuaHost/onError``;
  /// `set` throws.
  public subscript<Object: KeyPathObservable>(name: String) -> Object? {
    get { object(self[name] as LuaValue, as: Object.self) }
    set {
      assign(name) { () throws(LuaError) in
        if let newValue { try set(name, to: newValue) } else { try set(name, to: LuaValue.nil) }
      }
    }
  }

  /// A global variable of the scripts as a Swift value: a number, a string, a list …; nil where it
  /// is nil, or no such value.
  ///
  /// ```swift
  /// host["rounds"] = rounds              // an Int
  /// let rounds: Int? = host["rounds"]
  /// ```
  ///
  /// Assigning nil removes the variable. An assignment that fails, as the host is closed or there
  /// is no memory, is reported to ``LuaHost/onError``;
  /// `set` throws.
  public subscript<Value: LuaConvertible>(name: String) -> Value? {
    get { try? Value(luaValue: self[name] as LuaValue) }
    set { assign(name) { () throws(LuaError) in try set(name, to: newValue) } }
  }

  private func assign(_ name: String, _ body: () throws(LuaError) -> Void) {
    // A closed sandbox has a host that may be open.
    let host = (try? scriptScope().host) ?? (self as? LuaSandbox)?.host
    host?.requireThread("written")
    do { try body() } catch { host?.reportFailedGlobal(name, error) }
  }

  /// Sets a global variable of the scripts.
  ///
  /// - Throws: `LuaError` for a closed state, no memory, or a value of another state.
  public func set(_ name: String, to value: some LuaEncodable) throws(LuaError) {
    let scope = try scriptScope()
    try scope.entered { () throws(LuaError) in try scope.globals.set(name, to: value) }
  }

  /// Gives scripts a Swift model or collection as a global variable: properties are read, written
  /// and observed by their names, elements by their positions, entries by their keys.
  ///
  /// - Throws: `LuaError` for a closed state, or no memory.
  public func set(_ name: String, to object: some KeyPathObservable) throws(LuaError) {
    try set(name, to: value(for: object))
  }

  /// Gives scripts a Swift function as a global variable.
  ///
  /// Arguments, results and errors are those of a ``Method``. Called on the loop's thread; ends
  /// with the host, or when nothing in Lua refers to the function any longer.
  ///
  /// - Throws: `LuaError` for a closed state, no memory, and, with the code `type`, an argument of
  ///   a type that no value of a script can be converted to.
  public func set<each Argument, Result>(
    _ name: String, function body: @escaping (repeat each Argument) throws -> Result
  ) throws(LuaError) {
    try set(name, to: Function(name, body))
  }

  /// Gives scripts a Swift function that takes its time as a global variable: a task of a script
  /// waits for its result.
  ///
  /// All else is as for a function that is not `async`, and as for such a ``Method``.
  ///
  /// - Throws: `LuaError` for a closed state, no memory, and, with the code `type`, an argument of
  ///   a type that no value of a script can be converted to.
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

extension LuaHost {
  fileprivate func reportFailedGlobal(_ name: String, _ error: LuaError) {
    reports.report(
      LuaError("the global variable '\(name)' could not be set: \(error.message)"), .loop,
      name: "", site: "")
  }
}
