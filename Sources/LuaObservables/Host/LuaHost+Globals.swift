public import Lua
public import Observables

/// Values and functions that the host program gives to its scripts.
extension LuaHost {
  /// A global variable of the scripts: a plain value, a table, or a Swift model.
  ///
  /// Reading gives nil where the state is closed. An assignment that fails, for the same reason or
  /// without memory, is reported to ``onError``; `set` throws.
  public subscript(name: String) -> LuaValue {
    get {
      requireThread("read")
      return (try? state.globals[name]) ?? .nil
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
  /// as the host is closed or there is no memory, is reported to ``onError``; `set` throws.
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
  /// is no memory, is reported to ``onError``; `set` throws.
  public subscript<Value: LuaConvertible>(name: String) -> Value? {
    get { try? Value(luaValue: self[name] as LuaValue) }
    set { assign(name) { () throws(LuaError) in try set(name, to: newValue) } }
  }

  private func assign(_ name: String, _ body: () throws(LuaError) -> Void) {
    requireThread("written")
    do { try body() } catch { reportFailedGlobal(name, error) }
  }

  func reportFailedGlobal(_ name: String, _ error: LuaError) {
    reports.report(
      LuaError("the global variable '\(name)' could not be set: \(error.message)"), .loop,
      name: "", site: "")
  }

  /// Sets a global variable of the scripts.
  ///
  /// - Throws: `LuaError` for a closed state, no memory, or a value of another state.
  public func set(_ name: String, to value: some LuaEncodable) throws(LuaError) {
    try state.globals.set(name, to: value)
  }

  /// Gives scripts a Swift model or collection as a global variable: properties are read, written
  /// and observed by their names, elements by their positions, entries by their keys.
  ///
  /// - Throws: `LuaError` for a closed state, or no memory.
  public func set(_ name: String, to object: some KeyPathObservable) throws(LuaError) {
    try state.globals.set(name, to: try value(for: object))
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
    let function = Function(name, body)
    if let fault = function.fault { throw LuaError(.type, "function '\(name)': \(fault)") }
    try state.withStack { L throws(LuaError) in
      try objects.push(function, named: name, to: L)
      try setGlobal(name, L)
    }
  }

  func setFunction(
    _ function: Function, named name: String, in environment: LuaTable
  ) throws(LuaError) {
    try state.withStack { L throws(LuaError) in
      try state.push(environment.pin, to: L)
      try objects.push(function, named: name, to: L)
      try state.setField(name, of: L)
    }
  }

  /// Gives scripts the functions and constants of a class as a global table.
  ///
  /// - Throws: `LuaError` for a closed state, no memory, and a constant that scripts cannot have.
  /// - Complexity: O(number of members).
  public func set(_ name: String, to functions: ScriptFunctions) throws(LuaError) {
    try state.withStack { L throws(LuaError) in
      try objects.push(functions, named: name, to: L)
      try setGlobal(name, L)
    }
  }

  /// Pops the value of a global variable. [-1, +0, -]
  private func setGlobal(_ name: String, _ L: LuaStack) throws(LuaError) {
    L.pushGlobals()
    L.insert(-2)
    try state.setField(name, of: L)
    L.pop()
  }

  /// The Swift model or collection that a value of a script is; nil where it is no object of this
  /// class.
  public func object<Object: AnyObject>(
    _ value: LuaValue, as type: Object.Type = Object.self
  ) -> Object? {
    requireThread("read")
    guard case .userdata(let userdata) = value else { return nil }
    let object = try? state.withStack { L throws(LuaError) in
      try state.push(userdata.pin, to: L)
      return objects.object(at: -1, of: L)
    }
    return object as? Object
  }
}
