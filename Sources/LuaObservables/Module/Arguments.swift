internal import CLua
internal import Lua
internal import Observables

/// The arguments of module functions, converted to nodes and paths of the engine.
///
/// Values are on the stack; errors call the function `function` and give the number `argument`.
struct Arguments {
  // The host is not retained: this value is only used within one call of it.
  private let reference: Unmanaged<LuaHost>
  private var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }

  init(_ host: LuaHost) { reference = .passUnretained(host) }

  /// The node of the observed object at `index`.
  func observed(at index: CInt, of L: LuaStack, _ function: String) throws -> NodeRef {
    L.pushCopy(at: index)
    switch L.type(at: -1) {
    case .table:
      return try host.tables.node(L)
    case .userdata:
      defer { L.pop() }
      if let object = host.objects.object(at: -1, of: L),
        case .node(let node) = observedNode(of: object, in: host.engine)
      {
        return node
      }
      if host.engine.wiring.hasMetForeign {
        host.engine.wiring.hasMetForeign = false
        throw badArgument(Int(index), of: function, "the object is observed by another loop")
      }
    default:
      L.pop()
    }
    throw badArgument(
      Int(index), of: function,
      "table or object of the host program expected, got \(host.state.typeName(at: index, of: L))")
  }

  /// The node at `index` if the object is already observed; otherwise nil.
  func existingNode(at index: CInt, of L: LuaStack, _ function: String) throws -> NodeRef? {
    if L.isTable(at: index) {
      return TableKind.existingNode(at: index, of: L)
    }
    return try observed(at: index, of: L, function)
  }

  /// The path at `index`: text, or made by `obs.path`.
  func path(at index: CInt, of L: LuaStack, _ function: String, argument: Int) throws -> Path {
    if L.isString(at: index) {
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
      argument, of: function,
      "key path expected, got \(host.state.typeName(at: index, of: L))" + colonHint(function, L))
  }

  /// The name of a Swift model's property at `index`, an argument of `function`.
  func propertyName(at index: CInt, of L: LuaStack, _ function: String) throws -> String {
    guard L.isString(at: index) else {
      throw badArgument(
        Int(index), of: function,
        "name of a property expected, got \(host.state.typeName(at: index, of: L))")
    }
    // No property has a name that is not valid UTF-8: such a text is only shown.
    return host.state.validText(at: index, of: L) ?? host.state.text(at: index, of: L)
  }

  /// Calls `body` with one path, or with each path of a list.
  func forEachPath(
    at index: CInt, of L: LuaStack, _ function: String, argument: Int,
    _ body: (Path) throws -> Void
  ) throws {
    guard L.isTable(at: index) else {
      return try body(path(at: index, of: L, function, argument: argument))
    }
    let index = L.absolute(index)
    let count = L.ownLength(at: index)
    if count == 0 {
      throw badArgument(argument, of: function, "the list of key paths is empty")
    }
    for position in 1...count {
      L.push(position)
      L.getOwn(at: index)
      let element = try path(at: -1, of: L, function, argument: argument)
      L.pop()
      try body(element)
    }
  }

  func checkFunction(
    at index: CInt, of L: LuaStack, _ function: String, argument: Int? = nil
  ) throws {
    guard L.isFunction(at: index) || isCallable(index, L) else {
      throw badArgument(
        argument ?? Int(index), of: function,
        "function expected, got \(host.state.typeName(at: index, of: L))"
          + colonHint(function, L)
      )
    }
  }

  /// The function, which refuses arguments that it does not take; nil counts as none.
  func limiting(_ function: NamedFunction) -> ModuleFunction {
    guard let most = function.most else { return function.function }
    let objects: CInt = function.group == nil || function.group == .module ? 0 : 1
    return { L in
      if L.height > most + objects { try refuseRest(L, after: most, function.name, objects) }
      return try function.function(L)
    }
  }

  func refuseRest(
    _ L: LuaStack, after most: CInt, _ function: String, _ objects: CInt = 0
  ) throws(LuaError) {
    for index in (most + objects + 1)...L.height where !L.isNil(at: index) {
      let type = host.state.typeName(at: index, of: L)
      let hint = objects == 0 ? colonHint(function, L) : ""
      throw badArgument(
        Int(index - objects), of: function, "no value expected, got \(type)\(hint)")
    }
  }

  /// The hint for a function that was called as a method, with the module itself as the first
  /// argument.
  func colonHint(_ function: String, _ L: LuaStack) -> String {
    let height = L.height
    defer { L.height = height }
    guard height > 0, L.isTable(at: 1), L.hasRoom(for: 4) else { return "" }
    for name in [function, "observe", "whynot"] {
      guard (try? host.state.push(text: name, to: L)) != nil else { return "" }
      L.getOwn(at: 1)
      guard L.isFunction(at: -1) else { return "" }
    }
    return "; it is called with a dot, as obs.\(function)"
  }

  func isCallable(_ index: CInt, _ L: LuaStack) -> Bool {
    let index = L.absolute(index)
    guard index <= L.height, L.pushOwnMetatable(at: index) else { return false }
    defer { L.pop() }
    guard let status = try? host.state.push(text: "__call", to: L) else { return false }
    _ = status
    let type = L.getOwn(at: -2)
    L.pop()
    return type != .nil
  }
}

/// The error "bad argument", in the words of Lua's library.
func badArgument(_ number: Int, of function: String, _ message: String) -> LuaError {
  LuaError("bad argument #\(number) to '\(function)' (\(message))")
}
