internal import CLua
internal import Lua
internal import Observables

/// A function of the module `obs` that is written in Swift: its arguments are on the stack from
/// index 1, and it returns how many results it pushed.
typealias ModuleFunction = (LuaHost, OpaquePointer) throws -> CInt

/// What a function of the module holds; Lua owns it.
private final class ModuleEntry {
  unowned(unsafe) let host: LuaHost
  let function: ModuleFunction

  init(_ host: LuaHost, _ function: @escaping ModuleFunction) {
    (self.host, self.function) = (host, function)
  }
}

extension LuaHost {
  /// Offers the module: `require "obs"` runs the prelude, once.
  func installModule(_ L: OpaquePointer) throws(LuaError) {
    try push({ host, L in try host.loadModule(L) }, to: L)
    let height = lua_gettop(L)
    defer { lua_settop(L, height - 1) }
    guard lua_rawgeti(L, CLUA_REGISTRYINDEX, lua_Integer(LUA_RIDX_GLOBALS)) == LUA_TTABLE else {
      return
    }
    try state.check(clua_try_getfield(L, -1, "package", 7), L)
    guard lua_type(L, -1) == LUA_TTABLE else {
      clua_pop(L, 1)
      try push({ host, L in try host.require(L) }, to: L)
      return try state.check(clua_try_setfield(L, -2, "require", 7), L)
    }
    try state.check(clua_try_getfield(L, -1, "preload", 7), L)
    guard lua_type(L, -1) == LUA_TTABLE else { return }
    lua_pushvalue(L, height)
    try state.check(clua_try_setfield(L, -2, "obs", 3), L)
  }

  /// `require` where there is no library `package`: the module, and what is open.
  private func require(_ L: OpaquePointer) throws -> CInt {
    guard lua_type(L, 1) == LUA_TSTRING else {
      throw badArgument(1, of: "require", "string expected, got \(typeName(at: 1, of: L))")
    }
    let name = state.text(at: 1, of: L)
    if name == "obs" { return try loadModule(L) }
    try state.check(clua_try_getfield(L, CLUA_REGISTRYINDEX, "_LOADED", 7), L)
    lua_pushvalue(L, 1)
    if lua_type(L, -2) == LUA_TTABLE, clua_rawget(L, -2) != LUA_TNIL { return 1 }
    throw LuaError("module '\(name)' not found: this host has no library 'package', only 'obs'")
  }

  /// Pushes the module, made on the first call. [-0, +1, -]
  func loadModule(_ L: OpaquePointer) throws(LuaError) -> CInt {
    if let module {
      try state.push(module.pin, to: L)
      return 1
    }
    try pushCore(to: L)
    let core = lua_gettop(L)
    lua_pushnil(L)
    // Each slice is given the module as the one before it left it.
    for slice in [
      PackageResources.obs_lua, PackageResources.reading_lua, PackageResources.lazy_lua,
      PackageResources.collections_lua, PackageResources.models_lua, PackageResources.backed_lua,
      PackageResources.graph_lua, PackageResources.finish_lua,
    ] {
      let status = slice.withUnsafeBytes { text in
        clua_try_load(
          L, text.baseAddress!.assumingMemoryBound(to: CChar.self), text.count, "=obs", "t")
      }
      try state.check(status, L)
      if preludeGlobals != 0 {
        lua_rawgeti(L, CLUA_REGISTRYINDEX, lua_Integer(preludeGlobals))
        lua_setupvalue(L, -2, 1)
      }
      lua_pushvalue(L, core)
      lua_pushvalue(L, core + 1)
      try state.check(clua_tracedcall(L, 2, 1), L)
      lua_copy(L, -1, core + 1)
      clua_pop(L, 1)
    }
    try state.check(clua_try_getfield(L, core, "awaiting", 8), L)
    awaiting = LuaFunction(pin: try state.pin(at: -1, of: L))
    clua_pop(L, 1)
    module = LuaTable(pin: try state.pin(at: core + 1, of: L))
    moduleDidLoad?()
    return 1
  }

  /// Pushes the table of functions that the prelude builds the module from. [-0, +1, -]
  private func pushCore(to L: OpaquePointer) throws(LuaError) {
    try state.check(clua_try_createtable(L, 0, 48), L)
    try pushObserve(to: L)
    try state.check(clua_try_setfield(L, -2, "observe", 7), L)
    try pushRegister(to: L)
    try state.check(clua_try_setfield(L, -2, "register", 8), L)
    try pushFlush(to: L)
    try state.check(clua_try_setfield(L, -2, "flush", 5), L)
    try setConstructors(L)
    try setModelFunctions(L)
    try setLazyFlags(L)
    let callers: [(String, lua_CFunction)] = [
      ("call_plainly", clua_callplainly), ("outer", clua_outer),
    ]
    for (name, function) in callers {
      lua_pushcclosure(L, function, 0)
      try state.check(clua_try_setfield(L, -2, name, name.utf8.count), L)
    }
    for functions in [
      observingFunctions, operatorFunctions, collectionFunctions, lazyFunctions, modelFunctions,
      objectFunctions, watcherFunctions, inspectionFunctions, loopFunctions, debuggingFunctions,
      graphFunctions,
    ] {
      for (name, function) in functions {
        try push(function, to: L)
        try state.check(clua_try_setfield(L, -2, name, name.utf8.count), L)
      }
    }
  }

  /// Pushes a Lua function that calls `function`. [-0, +1, -]
  func push(_ function: @escaping ModuleFunction, to L: OpaquePointer) throws(LuaError) {
    let entry = Unmanaged.passRetained(ModuleEntry(self, function))
    let status = clua_try_pushfunction(
      L,
      { L, context in
        Unmanaged<ModuleEntry>.fromOpaque(context!)._withUnsafeGuaranteedRef { entry in
          entry.host.call(L!) { () throws in try entry.function(entry.host, L!) }
        }
      }, entry.toOpaque(), { Unmanaged<ModuleEntry>.fromOpaque($0!).release() })
    guard status == LUA_OK else {
      entry.release()
      throw state.takeError(status, L)
    }
  }

  /// Runs a function of the module in the coroutine `L`; what it throws is raised when this is
  /// over.
  @inline(__always)
  func call(_ L: OpaquePointer, _ body: () throws -> CInt) -> CInt {
    entered(L) {
      let height = lua_gettop(L)
      do {
        return try body()
      } catch {
        lua_settop(L, height)
        state.pushError(error, to: L)
        return CInt(CLUA_RAISE)
      }
    }
  }

  // MARK: Arguments

  /// Raises "bad argument", in the words of Lua's own library.
  func badArgument(_ number: Int, of function: String, _ message: String) -> LuaError {
    LuaError("bad argument #\(number) to '\(function)' (\(message))")
  }

  func typeName(at index: CInt, of L: OpaquePointer) -> String {
    if index > lua_gettop(L) { return "no value" }
    return String(cString: lua_typename(L, lua_type(L, index)))
  }

  /// The node of the observed object at `index`.
  func observed(at index: CInt, of L: OpaquePointer, _ function: String) throws -> NodeRef {
    lua_pushvalue(L, index)
    switch lua_type(L, -1) {
    case LUA_TTABLE:
      return try tables.node(L)
    case LUA_TUSERDATA:
      defer { clua_pop(L, 1) }
      if let object = objects.object(at: -1, of: L),
        case .node(let node) = observedNode(of: object, in: engine)
      {
        return node
      }
      if engine.hasMetForeign {
        engine.hasMetForeign = false
        throw badArgument(Int(index), of: function, "the object is observed by another loop")
      }
    default:
      clua_pop(L, 1)
    }
    throw badArgument(
      Int(index), of: function,
      "table or object of the host program expected, got \(typeName(at: index, of: L))")
  }

  /// The node at `index` if the object is observed already; nil otherwise.
  func existingNode(at index: CInt, of L: OpaquePointer, _ function: String) throws -> NodeRef? {
    if lua_type(L, index) == LUA_TTABLE {
      guard let node = clua_node_at(L, index), let owner = clua_node_owner(node) else { return nil }
      return owner.assumingMemoryBound(to: Node.self)
    }
    return try observed(at: index, of: L, function)
  }

  /// The path at `index`: text, or made by `obs.path`.
  func path(at index: CInt, of L: OpaquePointer, _ function: String, argument: Int) throws -> Path {
    if lua_type(L, index) == LUA_TSTRING {
      do {
        return try paths.path(at: index, of: L)
      } catch let error as PathError {
        throw badArgument(argument, of: function, error.description)
      }
    }
    if let handle = clua_tohandle(L, index, CLUA_HANDLE_PATH), let object = handle.pointee.object {
      return Unmanaged<Path>.fromOpaque(object).takeUnretainedValue()
    }
    throw badArgument(
      argument, of: function, "key path expected, got \(typeName(at: index, of: L))")
  }

  /// The name of a property of a Swift model at `index`, an argument of `function`.
  func propertyName(at index: CInt, of L: OpaquePointer, _ function: String) throws -> String {
    guard lua_type(L, index) == LUA_TSTRING else {
      throw badArgument(
        Int(index), of: function,
        "name of a property expected, got \(typeName(at: index, of: L))")
    }
    return state.text(at: index, of: L)
  }

  /// One path, or each of a list of paths.
  func forEachPath(
    at index: CInt, of L: OpaquePointer, _ function: String, argument: Int,
    _ body: (Path) throws -> Void
  ) throws {
    guard lua_type(L, index) == LUA_TTABLE else {
      return try body(path(at: index, of: L, function, argument: argument))
    }
    let index = lua_absindex(L, index)
    let count = clua_rawlen(L, index)
    if count == 0 {
      throw badArgument(argument, of: function, "the list of key paths is empty")
    }
    for position in 1...count {
      lua_pushinteger(L, lua_Integer(position))
      clua_rawget(L, index)
      let element = try path(at: -1, of: L, function, argument: argument)
      clua_pop(L, 1)
      try body(element)
    }
  }

  func checkFunction(
    at index: CInt, of L: OpaquePointer, _ function: String, argument: Int? = nil
  ) throws {
    guard lua_type(L, index) == LUA_TFUNCTION || isCallable(index, L) else {
      throw badArgument(
        argument ?? Int(index), of: function, "function expected, got \(typeName(at: index, of: L))"
      )
    }
  }

  func isCallable(_ index: CInt, _ L: OpaquePointer) -> Bool {
    let index = lua_absindex(L, index)
    guard index <= lua_gettop(L), clua_getmetatable(L, index) else { return false }
    defer { clua_pop(L, 1) }
    guard let status = try? state.push(text: "__call", to: L) else { return false }
    _ = status
    let type = clua_rawget(L, -2)
    clua_pop(L, 1)
    return type != LUA_TNIL
  }
}
