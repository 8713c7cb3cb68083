internal import CLua
internal import Lua
internal import Observables

/// The keys of a path as Lua values, in a table that lives as long as the path.
final class PathKeys: Sendable {
  let table: LuaPin
  init(_ table: LuaPin) { self.table = table }
}

/// Paths by their text, so that a text is parsed once; and the weak references to observers.
final class PathCache {
  /// Registry references of the Lua tables: text → light pointer to the path; index → observer.
  @exclusivity(unchecked) private var texts: CInt = 0
  @exclusivity(unchecked) private var observers: CInt = 0
  @exclusivity(unchecked) private var cached: [Path] = []
  private let limit = 4096
  @exclusivity(unchecked) private unowned(unsafe) var state: LuaState?

  func install(_ state: LuaState, _ L: LuaStack) throws(LuaError) {
    self.state = state
    try state.check(clua_try_maketable(L.pointer, &texts), L)
    try state.check(clua_try_makeweak(L.pointer, &observers), L)
  }

  /// The path of the string at `index`.
  ///
  /// - Throws: `PathError`, or `LuaError` where memory runs out.
  func path(at index: CInt, of L: LuaStack) throws -> Path {
    let index = lua_absindex(L.pointer, index)
    lua_rawgeti(L.pointer, CLUA_REGISTRYINDEX, lua_Integer(texts))
    lua_pushvalue(L.pointer, index)
    let type = lua_rawget(L.pointer, -2)
    let known = lua_touserdata(L.pointer, -1)
    clua_pop(L.pointer, 2)
    if type == LUA_TLIGHTUSERDATA, let known {
      return Unmanaged<Path>.fromOpaque(known).takeUnretainedValue()
    }
    let path = try parse(at: index, of: L)
    try remember(path, at: index, L)
    return path
  }

  private func parse(at index: CInt, of L: LuaStack) throws -> Path {
    guard let state else { throw LuaError.closed }
    let components = try Path.components(ofScript: state.bytes(at: index, of: L))
    try state.pushTable(elements: components.count, to: L)
    for (step, component) in components.enumerated() {
      switch component.kind {
      case .slot, .element: lua_pushinteger(L.pointer, lua_Integer(component.number))
      case .every: lua_pushboolean(L.pointer, 0)
      default: try state.push(bytes: component.bytes, to: L)
      }
      // The array part is there already: nothing is allocated.
      lua_rawseti(L.pointer, -2, lua_Integer(step + 1))
    }
    return try Path(components: components, attachment: keys(L))
  }

  /// Pops the table of keys. [-1, +0, -]
  private func keys(_ L: LuaStack) throws -> PathKeys {
    guard let state else { throw LuaError.closed }
    defer { clua_pop(L.pointer, 1) }
    return PathKeys(try state.pin(at: -1, of: L))
  }

  private func remember(_ path: Path, at index: CInt, _ L: LuaStack) throws(LuaError) {
    guard let state else { throw .closed }
    if cached.count >= limit {
      // Texts that are made up as the script goes: forget them all, in both languages.
      var fresh: CInt = 0
      try state.check(clua_try_maketable(L.pointer, &fresh), L)
      clua_dropreference(L.pointer, texts)
      texts = fresh
      cached = []
    }
    lua_rawgeti(L.pointer, CLUA_REGISTRYINDEX, lua_Integer(texts))
    lua_pushvalue(L.pointer, index)
    lua_pushlightuserdata(L.pointer, Unmanaged.passUnretained(path).toOpaque())
    try state.check(clua_try_rawset(L.pointer, -3), L)
    clua_pop(L.pointer, 1)
    cached.append(path)
  }

  /// A path of exact keys: the values from index `first` to the top.
  func exactPath(from first: CInt, of L: LuaStack) throws -> Path {
    guard let state else { throw LuaError.closed }
    let count = lua_gettop(L.pointer) - first + 1
    try state.pushTable(elements: Int(count), to: L)
    var components: [Path.Component] = []
    for step in 0..<count {
      let index = first + step
      components.append(try component(at: index, of: L, argument: Int(step + 1)))
      lua_pushvalue(L.pointer, index)
      lua_rawseti(L.pointer, -2, lua_Integer(step + 1))
    }
    return try Path(components: components, attachment: keys(L))
  }

  private func component(
    at index: CInt, of L: LuaStack, argument: Int
  ) throws -> Path.Component {
    guard let state else { throw LuaError.closed }
    switch lua_type(L.pointer, index) {
    case LUA_TSTRING:
      return .exactName(state.bytes(at: index, of: L))
    case LUA_TNUMBER:
      var isInteger: CInt = 0
      let number = lua_tointegerx(L.pointer, index, &isInteger)
      if isInteger != 0 {
        return .init(kind: .key, bytes: Array("\(number)".utf8), number: Int(number))
      }
      let float = lua_tonumberx(L.pointer, index, nil)
      guard !float.isNaN else {
        throw LuaError("bad argument #\(argument) to 'path' (NaN is not a key)")
      }
      return .init(
        kind: .key, bytes: Array("\(float)".utf8), number: Int(bitPattern: UInt(float.bitPattern)))
    case LUA_TBOOLEAN:
      let value = lua_toboolean(L.pointer, index) != 0
      return .init(kind: .key, bytes: Array("\(value)".utf8), number: value ? 1 : 0)
    case LUA_TNIL:
      throw LuaError("bad argument #\(argument) to 'path' (nil is not a key)")
    default:
      let type = String(cString: lua_typename(L.pointer, lua_type(L.pointer, index)))
      return .init(
        kind: .key, bytes: Array(type.utf8),
        number: Int(bitPattern: UInt(bitPattern: lua_topointer(L.pointer, index))))
    }
  }

  /// Pushes the key of one step of a path. [-0, +1, -]
  func pushKey(_ step: Int, of path: Path, to L: LuaStack) throws(LuaError) {
    guard let state else { throw .closed }
    if let attachment = path.attachment, type(of: attachment) == PathKeys.self,
      case let keys = unsafeDowncast(attachment, to: PathKeys.self),
      keys.table.pins === state.pins
    {
      clua_pushpin(L.pointer, state.pinTable, keys.table.slot)
      lua_rawgeti(L.pointer, -1, lua_Integer(step + 1))
      clua_remove(L.pointer, -2)
      return
    }
    // A path of a Swift program, which counts from 0.
    let component = path.components[step]
    switch component.kind {
    case .slot, .element: lua_pushinteger(L.pointer, lua_Integer(component.number + 1))
    case .every: lua_pushboolean(L.pointer, 0)
    case .key where component.name == "\(component.number)":
      lua_pushinteger(L.pointer, lua_Integer(component.number))
    default: try state.push(bytes: component.bytes, to: L)
    }
  }

  // MARK: Observers

  /// Pops an observer, which is held weakly. [-1, +0, -]
  func keepObserver(_ index: Int, _ L: LuaStack) throws(LuaError) {
    guard let state else { throw .closed }
    lua_rawgeti(L.pointer, CLUA_REGISTRYINDEX, lua_Integer(observers))
    clua_insert(L.pointer, -2)
    lua_pushinteger(L.pointer, lua_Integer(index))
    clua_insert(L.pointer, -2)
    try state.check(clua_try_rawset(L.pointer, -3), L)
    clua_pop(L.pointer, 1)
  }

  /// Pushes the observer of a watcher, or nil.
  ///
  /// [-0, +1, -]
  func pushObserver(_ index: Int, to L: LuaStack) {
    lua_rawgeti(L.pointer, CLUA_REGISTRYINDEX, lua_Integer(observers))
    lua_rawgeti(L.pointer, -1, lua_Integer(index))
    clua_remove(L.pointer, -2)
  }

  func forgetObserver(_ index: Int, _ L: LuaStack) {
    lua_rawgeti(L.pointer, CLUA_REGISTRYINDEX, lua_Integer(observers))
    // Assigning nil to a key that is there allocates nothing.
    if lua_rawgeti(L.pointer, -1, lua_Integer(index)) != LUA_TNIL {
      lua_pushnil(L.pointer)
      lua_rawseti(L.pointer, -3, lua_Integer(index))
    }
    clua_pop(L.pointer, 2)
  }
}
