internal import CLua
internal import Lua
internal import Observables

/// A function of the host program, as scripts call it.
public struct Function {
  let name: String
  let call: (inout ScriptArguments) throws -> Any?
  /// Only a task can wait for the result.
  let isAsync: Bool

  /// A function that runs `body`, as a ``Method`` without an object does.
  public init<each Argument, Result>(
    _ name: String, _ body: @escaping (repeat each Argument) throws -> Result
  ) {
    self.name = name
    isAsync = Result.self is any PendingResult.Type
    call = { arguments in try body(repeat try arguments.next((each Argument).self)) }
  }
}

/// A value that scripts read under a name.
public struct Constant {
  let name: String
  let value: Any?

  /// A constant of any type that a property may be.
  public init(_ name: String, _ value: Any?) { (self.name, self.value) = (name, value) }
}

/// What scripts find under the name of a class: constructors, static functions and constants.
///
/// ```swift
/// let functions = ScriptFunctions {
///   Function("new") { (room: String) in Thermostat(room: room) }
///   Function("celsius") { (fahrenheit: Double) in (fahrenheit - 32) / 1.8 }
///   Constant("warmest", 30.0)
/// }
/// try host.set("Thermostat", to: functions)
/// ```
///
/// A script writes `Thermostat.new("kitchen")`. Other names are errors that suggest the nearest;
/// nothing can be assigned.
public struct ScriptFunctions {
  let functions: [Function]
  let constants: [Constant]

  /// The names, in the order in which they were declared, functions first.
  public var names: [String] { functions.map(\.name) + constants.map(\.name) }

  /// Declares functions and constants.
  public init(@ScriptFunctionsBuilder _ members: () -> [ScriptFunctions]) {
    self.init(members().flatMap(\.functions), members().flatMap(\.constants))
  }

  init(_ functions: [Function], _ constants: [Constant]) {
    (self.functions, self.constants) = (functions, constants)
    precondition(Set(names).count == names.count, "Two members have the same name: \(names)")
  }
}

/// Collects functions and constants.
@resultBuilder
public enum ScriptFunctionsBuilder {
  /// One function.
  public static func buildExpression(_ function: Function) -> ScriptFunctions {
    ScriptFunctions([function], [])
  }
  /// One constant.
  public static func buildExpression(_ constant: Constant) -> ScriptFunctions {
    ScriptFunctions([], [constant])
  }
  /// The whole list.
  public static func buildBlock(_ members: ScriptFunctions...) -> [ScriptFunctions] { members }
}

extension LuaHost {
  /// Pushes a function for scripts; errors know it by `title`. [-0, +1, -]
  func push(_ function: Function, named title: String, to L: OpaquePointer) throws(LuaError) {
    func result(_ host: LuaHost, _ L: OpaquePointer) throws -> Any? {
      var arguments = ScriptArguments(host.objects, L, title, after: 0)
      return try function.call(&arguments)
    }
    if function.isAsync {
      try pushAwaiting(title, to: L) { host, L in try result(host, L) as? any PendingResult }
    } else {
      try push({ host, L in try host.objects.push(result: result(host, L), to: L) }, to: L)
    }
  }

  /// Pushes the table of a class. [-0, +1, -]
  ///
  /// It is an empty one in front of that of its members, as each assignment to it has to be
  /// refused.
  func push(
    _ members: ScriptFunctions, named name: String, to L: OpaquePointer
  ) throws(LuaError) {
    let (frame, names) = (LuaFrame(state, L), members.names)
    try frame.pushTable()
    try frame.pushTable(fields: names.count)
    for function in members.functions {
      try push(function, named: "\(name).\(function.name)", to: L)
      try frame.setField(function.name)
    }
    for constant in members.constants {
      try objects.push(value: constant.value, to: L)
      try frame.setField(constant.name)
    }
    try frame.pushTable(fields: 1)
    try push({ host, L in throw host.unknownMember(of: name, names, L) }, to: L)
    try frame.setField("__index")
    lua_setmetatable(L, -2)
    let table = LuaTable(pin: try state.pin(at: -1, of: L))
    try frame.pushTable(fields: 4)
    clua_insert(L, -2)
    try frame.setField("__index")
    try push({ host, L in throw host.unassignable(of: name, names, L) }, to: L)
    try frame.setField("__newindex")
    try push({ host, L in try host.pairs(names, of: table, L) }, to: L)
    try frame.setField("__pairs")
    lua_pushboolean(L, 0)
    try frame.setField("__metatable")
    lua_setmetatable(L, -2)
  }

  /// `pairs(class)`: its members, without the table that holds them.
  private func pairs(_ names: [String], of table: LuaTable, _ L: OpaquePointer) throws -> CInt {
    var next = names.startIndex
    try push(
      { host, L in
        try host.state.push(table.pin, to: L)
        while next < names.endIndex {
          try host.state.push(text: names[next], to: L)
          next += 1
          lua_pushvalue(L, -1)
          // A constant that is nil is no entry.
          if lua_rawget(L, -3) != LUA_TNIL { return 2 }
          clua_pop(L, 2)
        }
        lua_pushnil(L)
        return 1
      }, to: L)
    return 1
  }

  private func unknownMember(
    of type: String, _ names: [String], _ L: OpaquePointer
  ) -> LuaError {
    let name = keyName(at: 2, of: L)
    let nearest = nearestName(to: name, among: names)
    return LuaError(
      "\(type) has no member '\(name)'" + (nearest.map { " (did you mean '\($0)'?)" } ?? ""))
  }

  private func unassignable(
    of type: String, _ names: [String], _ L: OpaquePointer
  ) -> LuaError {
    if lua_type(L, 2) == LUA_TSTRING, names.contains(state.text(at: 2, of: L)) {
      return LuaError(
        "'\(state.text(at: 2, of: L))' is a member of \(type), and cannot be assigned")
    }
    let unknown = unknownMember(of: type, names, L)
    return LuaError(unknown.message + "; nothing can be assigned")
  }
}
