internal import CLua
internal import Lua
internal import Observables

/// An optional property, seen through `Any`.
private protocol OptionalValue {
  var wrapped: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var wrapped: Any? { map { $0 as Any } }
}

/// Properties of Swift models, read and written by scripts.
extension HostObjects {
  /// Pushes a Swift value as a script sees it. [-0, +1, -]
  func push(value: Any?, to L: OpaquePointer) throws(LuaError) {
    guard let value else { return lua_pushnil(L) }
    if let optional = value as? any OptionalValue {
      try push(value: optional.wrapped, to: L)
    } else if type(of: value) is AnyClass, let object = value as? any KeyPathObservable {
      try push(object, to: L)
    } else if let value = value as? any LuaEncodable {
      try host.state.push(value, to: L)
    } else if let value = value as? any RawRepresentable {
      try push(value: value.rawValue, to: L)
    } else if let list = value as? [Any] {
      try push(list, to: L)
    } else if let dictionary = value as? [AnyHashable: Any] {
      try push(dictionary, to: L)
    } else {
      throw LuaError(
        "a value of type \(type(of: value)) cannot be given to a script")
    }
  }

  /// Pushes a new table of values, some of which Lua alone would not know. [-0, +1, -]
  private func push(_ list: [Any], to L: OpaquePointer) throws(LuaError) {
    try host.state.check(clua_try_createtable(L, CInt(clamping: list.count), 0), L)
    for (index, value) in list.enumerated() {
      try push(value: value, to: L)
      // There is room for it, so this allocates nothing.
      lua_rawseti(L, -2, lua_Integer(index + 1))
    }
  }

  private func push(_ dictionary: [AnyHashable: Any], to L: OpaquePointer) throws(LuaError) {
    try host.state.check(clua_try_createtable(L, 0, CInt(clamping: dictionary.count)), L)
    for (key, value) in dictionary {
      try push(value: key.base, to: L)
      try push(value: value, to: L)
      try host.state.check(clua_try_rawset(L, -3), L)
    }
  }

  /// `object[key]`: arguments are the userdata and the key.
  func index(_ L: OpaquePointer) throws -> CInt {
    if let collection = collection(at: 1, of: L) { return try index(collection, L) }
    let (model, name) = try modelAndName(L)
    let properties = type(of: model).properties
    do {
      if host.engine.isTracking { model.access(try properties.slot(of: name)) }
      try push(value: properties.value(of: name, in: model), to: L)
    } catch let error as ModelError where error.code == .unknownProperty {
      if try pushMethod(name, of: model, to: L) { return 1 }
      throw unknown(name, in: model)
    }
    if host.engine.isTracking { try host.state.check(clua_try_track(L, -1), L) }
    return 1
  }

  /// `object[key] = value`.
  func newIndex(_ L: OpaquePointer) throws -> CInt {
    if let collection = collection(at: 1, of: L) { return try setIndex(collection, L) }
    let (model, name) = try modelAndName(L)
    do {
      try assign(name, of: model, L)
    } catch let error as ModelError where error.code == .unknownProperty {
      if methods(of: model)?.entry(name) == nil { throw unknown(name, in: model) }
      throw LuaError("'\(name)' is a method of \(typeName(of: model)), and cannot be assigned")
    }
    return 0
  }

  private func assign(
    _ name: String, of model: any ObservableModel, _ L: OpaquePointer
  ) throws {
    let properties = type(of: model).properties
    if lua_type(L, 3) == LUA_TUSERDATA, let object = object(at: 3, of: L) {
      return try properties.set(name, of: model, to: object)
    }
    let value = try host.state.value(at: 3, of: L)
    for candidate in HostObjects.candidates(for: value) {
      if try set(name, of: model, to: candidate) { return }
    }
    // Lists and dictionaries.
    if case .table = value, let type = try properties.valueType(of: name) as? any LuaDecodable.Type
    {
      let decoded: Any
      do throws(LuaError) {
        decoded = try type.init(luaValue: value)
      } catch {
        guard error.code == .type else { throw error }
        throw LuaError(
          "property '\(name)' of \(properties.typeName) takes \(try properties.typeName(of: name)): "
            + error.message)
      }
      if try set(name, of: model, to: decoded) { return }
    }
    throw LuaError(
      """
      property '\(name)' of \(properties.typeName) takes \(try properties.typeName(of: name)), \
      not \(String(cString: lua_typename(L, lua_type(L, 3))))
      """)
  }

  /// False where the value is of the wrong type.
  private func set(
    _ name: String, of model: some ObservableModel, to value: Any?
  ) throws(ModelError) -> Bool {
    do {
      try type(of: model).properties.set(name, of: model, to: value)
      return true
    } catch {
      if error.code == .wrongType { return false }
      throw error
    }
  }

  /// The Swift values that the value at an index may stand for, the most natural one first.
  ///
  /// [-0, +0, -]
  func candidates(at index: CInt, of L: OpaquePointer) throws(LuaError) -> [Any?] {
    if let object = object(at: index, of: L) { return [object] }
    return HostObjects.candidates(for: try host.state.value(at: index, of: L))
  }

  private static func candidates(for value: LuaValue) -> [Any?] {
    switch value {
    case .nil: [nil, value]
    case .boolean(let value): [value]
    case .integer(let value):
      integers(value)
    case .number(let value): [value, Float(value), LuaValue.number(value)]
    case .string(let string): [string.text ?? string.description, string.bytes, string, value]
    case .table(let table): [table, value]
    case .function(let function): [function, value]
    default: [value]
    }
  }

  private static func integers(_ value: Int64) -> [Any?] {
    let exact: [Any?] = [
      Int32(exactly: value), UInt(exactly: value), UInt8(exactly: value), Int8(exactly: value),
      Int16(exactly: value), UInt16(exactly: value), UInt32(exactly: value),
      UInt64(exactly: value),
    ]
    // One that doesn't fit is no candidate: nil would mean another value.
    return [Int(value), Double(value), Float(value), value] + exact.filter { $0 != nil }
      + [LuaValue.integer(value)]
  }

  private func modelAndName(_ L: OpaquePointer) throws -> (any ObservableModel, String) {
    guard let model = object(at: 1, of: L) as? any ObservableModel else {
      throw LuaError("a host object was expected")
    }
    guard lua_type(L, 2) == LUA_TSTRING else {
      throw LuaError(
        """
        \(type(of: model).properties.typeName) has properties by name, not by \
        \(String(cString: lua_typename(L, lua_type(L, 2))))
        """)
    }
    return (model, host.state.text(at: 2, of: L))
  }
}
