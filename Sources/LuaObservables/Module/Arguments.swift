internal import CLua
internal import Lua
internal import Observables

/// The arguments of functions of the module, as what the engine knows.
///
/// Values are on the stack; `function` and `argument` are what errors call the function and the
/// argument.
struct Arguments {
  // Not retained: made of the host for one question.
  private let reference: Unmanaged<LuaHost>
  private var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }

  init(_ host: LuaHost) { reference = .passUnretained(host) }

  /// The node of the observed object at `index`.
  func observed(at index: CInt, of L: LuaStack, _ function: String) throws -> NodeRef {
    lua_pushvalue(L.pointer, index)
    switch lua_type(L.pointer, -1) {
    case LUA_TTABLE:
      return try host.tables.node(L)
    case LUA_TUSERDATA:
      defer { clua_pop(L.pointer, 1) }
      if let object = host.objects.object(at: -1, of: L),
        case .node(let node) = observedNode(of: object, in: host.engine)
      {
        return node
      }
      if host.engine.hasMetForeign {
        host.engine.hasMetForeign = false
        throw badArgument(Int(index), of: function, "the object is observed by another loop")
      }
    default:
      clua_pop(L.pointer, 1)
    }
    throw badArgument(
      Int(index), of: function,
      "table or object of the host program expected, got \(host.state.typeName(at: index, of: L))")
  }

  /// The node at `index` if the object is observed already; nil otherwise.
  func existingNode(at index: CInt, of L: LuaStack, _ function: String) throws -> NodeRef? {
    if lua_type(L.pointer, index) == LUA_TTABLE {
      guard let node = clua_node_at(L.pointer, index), let owner = clua_node_owner(node) else {
        return nil
      }
      return owner.assumingMemoryBound(to: Node.self)
    }
    return try observed(at: index, of: L, function)
  }

  /// The path at `index`: text, or made by `obs.path`.
  func path(at index: CInt, of L: LuaStack, _ function: String, argument: Int) throws -> Path {
    if lua_type(L.pointer, index) == LUA_TSTRING {
      do {
        return try host.paths.path(at: index, of: L)
      } catch let error as PathError {
        throw badArgument(argument, of: function, error.description)
      }
    }
    if let handle = clua_tohandle(L.pointer, index, CLUA_HANDLE_PATH),
      let object = handle.pointee.object
    {
      return Unmanaged<Path>.fromOpaque(object).takeUnretainedValue()
    }
    throw badArgument(
      argument, of: function, "key path expected, got \(host.state.typeName(at: index, of: L))")
  }

  /// The name of a property of a Swift model at `index`, an argument of `function`.
  func propertyName(at index: CInt, of L: LuaStack, _ function: String) throws -> String {
    guard lua_type(L.pointer, index) == LUA_TSTRING else {
      throw badArgument(
        Int(index), of: function,
        "name of a property expected, got \(host.state.typeName(at: index, of: L))")
    }
    return host.state.text(at: index, of: L)
  }

  /// One path, or each of a list of host.paths.
  func forEachPath(
    at index: CInt, of L: LuaStack, _ function: String, argument: Int,
    _ body: (Path) throws -> Void
  ) throws {
    guard lua_type(L.pointer, index) == LUA_TTABLE else {
      return try body(path(at: index, of: L, function, argument: argument))
    }
    let index = lua_absindex(L.pointer, index)
    let count = clua_rawlen(L.pointer, index)
    if count == 0 {
      throw badArgument(argument, of: function, "the list of key paths is empty")
    }
    for position in 1...count {
      lua_pushinteger(L.pointer, lua_Integer(position))
      clua_rawget(L.pointer, index)
      let element = try path(at: -1, of: L, function, argument: argument)
      clua_pop(L.pointer, 1)
      try body(element)
    }
  }

  func checkFunction(
    at index: CInt, of L: LuaStack, _ function: String, argument: Int? = nil
  ) throws {
    guard lua_type(L.pointer, index) == LUA_TFUNCTION || isCallable(index, L) else {
      throw badArgument(
        argument ?? Int(index), of: function,
        "function expected, got \(host.state.typeName(at: index, of: L))"
      )
    }
  }

  func isCallable(_ index: CInt, _ L: LuaStack) -> Bool {
    let index = lua_absindex(L.pointer, index)
    guard index <= lua_gettop(L.pointer), clua_getmetatable(L.pointer, index) else { return false }
    defer { clua_pop(L.pointer, 1) }
    guard let status = try? host.state.push(text: "__call", to: L) else { return false }
    _ = status
    let type = clua_rawget(L.pointer, -2)
    clua_pop(L.pointer, 1)
    return type != LUA_TNIL
  }
}

/// Raises "bad argument", in the words of Lua's own library.
func badArgument(_ number: Int, of function: String, _ message: String) -> LuaError {
  LuaError("bad argument #\(number) to '\(function)' (\(message))")
}
