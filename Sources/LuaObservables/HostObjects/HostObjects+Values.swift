internal import CTables
internal import Lua
internal import Observables

/// Properties of Swift models, read and written by scripts.
extension HostObjects {
  /// Implements `object[key]`; the arguments are the userdata and the key.
  func index(_ L: LuaStack) throws -> CInt {
    if let collection = collection(at: 1, of: L) { return try index(collection, L) }
    let (model, name) = try modelAndName(L)
    let properties = type(of: model).properties
    do {
      if host.engine.tracking.isOn { model.access(try properties.slot(of: name)) }
      try push(properties.value(of: name, in: model), of: name, properties, to: L)
    } catch let error as ModelError where error.code == .unknownProperty {
      if try pushMethod(name, of: model, to: L) { return 1 }
      throw unknown(name, in: model)
    } catch let error as ModelError {
      // The error of a getter reaches Swift as the getter has thrown it.
      throw error.underlying ?? error
    }
    if host.engine.tracking.isOn { try host.state.check(clua_try_track(L.pointer, -1), L) }
    return 1
  }

  /// Implements `object[key] = value`.
  func newIndex(_ L: LuaStack) throws -> CInt {
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
    _ name: String, of model: any ObservableModel, _ L: LuaStack
  ) throws {
    try host.writeGuard?.checkWrite(to: name, of: type(of: model))
    let properties = type(of: model).properties
    if L.isUserdata(at: 3), let object = object(at: 3, of: L) {
      return try properties.set(name, of: model, to: object)
    }
    let value = try host.state.value(at: 3, of: L)
    for candidate in HostObjects.candidates(for: value) {
      if try set(name, of: model, to: candidate) { return }
    }
    let type = try properties.valueType(of: name)
    do {
      let converted = try take(type, at: 3, of: L)
      if try set(name, of: model, to: converted) { return }
    } catch let misfit as Misfit {
      guard misfit.saysMore else { throw wrongType(name, of: properties, L) }
      throw LuaError(
        .type,
        "property '\(name)' of \(properties.typeName) takes \(expectation(of: type)): "
          + misfit.reason, underlying: misfit.underlying)
    }
    throw wrongType(name, of: properties, L)
  }

  private func wrongType(
    _ name: String, of properties: ModelProperties, _ L: LuaStack
  ) -> LuaError {
    let type = (try? properties.valueType(of: name)) ?? Any.self
    return LuaError(
      .type,
      "property '\(name)' of \(properties.typeName) takes \(expectation(of: type)), "
        + "not \(given(3, for: type, L))")
  }

  /// Sets a property; returns false if the type of the value does not fit.
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

  /// The Swift values that the value at an index can be converted to, the most natural one first.
  /// [-0, +0, -]
  func candidates(at index: CInt, of L: LuaStack) throws(LuaError) -> [Any?] {
    if let object = object(at: index, of: L) { return [object] }
    return HostObjects.candidates(for: try host.state.value(at: index, of: L))
  }

  private static func candidates(for value: LuaValue) -> [Any?] {
    switch value {
    case .nil: [nil]
    case .boolean(let value): [value]
    case .integer(let value):
      integers(value)
    case .number(let value):
      [value] + (Float(inRange: value).map { [$0] } ?? []) + [LuaValue.number(value)]
    // Bytes that are not UTF-8 do not become a `String`, which would return other bytes (B1).
    case .string(let string): [string.text ?? string.bytes, string.bytes, string, value]
    case .table(let table): [table, value]
    case .function(let function): [function, value]
    case .userdata(let userdata): [userdata, value]
    case .thread(let thread): [thread, value]
    default: [value]
    }
  }

  private static func integers(_ value: Int64) -> [Any?] {
    let exact: [Any?] = [
      Int32(exactly: value), UInt(exactly: value), UInt8(exactly: value), Int8(exactly: value),
      Int16(exactly: value), UInt16(exactly: value), UInt32(exactly: value),
      UInt64(exactly: value),
    ]
    // An inexact conversion is not a candidate; nil would mean another value.
    return [Int(value), Double(value), Float(value), value] + exact.filter { $0 != nil }
      + [LuaValue.integer(value)]
  }

  private func modelAndName(_ L: LuaStack) throws -> (any ObservableModel, String) {
    guard let model = object(at: 1, of: L) as? any ObservableModel else {
      throw LuaError("a host object was expected")
    }
    guard L.isString(at: 2) else {
      throw LuaError(
        """
        \(type(of: model).properties.typeName) has properties by name, not by \
        \(L.typeName(at: 2))
        """)
    }
    return (model, host.state.text(at: 2, of: L))
  }
}
