internal import CLua
internal import Lua
internal import Observables

/// Methods of Swift models, called by scripts.
extension HostObjects {
  /// Pushes the function of a method; false where the model has none of this name. [-0, +(0|1), -]
  func pushMethod(
    _ name: String, of model: any ObservableModel, to L: OpaquePointer
  ) throws(LuaError) -> Bool {
    guard let methods = methods(of: model), let entry = methods.entry(name) else { return false }
    let key = MethodKey(methods: ObjectIdentifier(methods), name: name)
    if let function = methodFunctions[key] {
      try host.state.push(function.pin, to: L)
      return true
    }
    try host.push({ host, L in try host.objects.call(entry, name, L) }, to: L)
    methodFunctions[key] = LuaFunction(pin: try host.state.pin(at: -1, of: L))
    return true
  }

  /// What a model lets scripts call.
  func methods(of model: any ObservableModel) -> ModelMethods? {
    (model as? any ScriptModel).map { type(of: $0).methods }
  }

  /// The error for a name that is neither a property nor a method.
  func unknown(_ name: String, in model: any ObservableModel) -> ModelError {
    let properties = type(of: model).properties
    let names = properties.names + (methods(of: model)?.names ?? [])
    return ModelError(
      .unknownProperty, type: properties.typeName, property: name,
      suggestion: nearestName(to: name, among: names))
  }

  private func call(
    _ entry: ModelMethods.Entry, _ name: String, _ L: OpaquePointer
  ) throws -> CInt {
    var arguments = MethodArguments(self, L, name)
    guard let object = object(at: 1, of: L), let result = try entry.call(object, &arguments) else {
      let given = object(at: 1, of: L).map(typeName) ?? host.typeName(at: 1, of: L)
      throw LuaError(
        "calling '\(name)' on bad self (\(entry.typeName) expected, got \(given)): "
          + "write object:\(name)(…)")
    }
    guard case .value(let value) = result else { return 0 }
    try push(value: value, to: L)
    return 1
  }
}

/// Which method of which class.
struct MethodKey: Hashable {
  let methods: ObjectIdentifier
  let name: String
}

/// The arguments of a method, behind the object, taken in order.
struct MethodArguments {
  private let objects: HostObjects
  private let L: OpaquePointer
  private let method: String
  private let count: CInt
  private var index: CInt = 1

  init(_ objects: HostObjects, _ L: OpaquePointer, _ method: String) {
    (self.objects, self.L, self.method) = (objects, L, method)
    count = lua_gettop(L)
  }

  mutating func next<Argument>(_ type: Argument.Type) throws -> Argument {
    index += 1
    let isThere = index <= count
    let object = isThere ? objects.object(at: index, of: L) : nil
    var reason: String?
    if let type = type as? any LuaDecodable.Type {
      let value = isThere ? try objects.host.state.value(at: index, of: L) : .nil
      do throws(LuaError) {
        if let value = try type.init(luaValue: value) as? Argument { return value }
      } catch {
        guard error.code == .type else { throw error }
        // What kind of object it is says more.
        if object == nil { reason = isThere ? error.message : absent(error.message) }
      }
    }
    if !isThere || lua_type(L, index) == LUA_TNIL {
      if let optional = type as? any ExpressibleByNilLiteral.Type,
        let value = optional.init(nilLiteral: ()) as? Argument
      {
        return value
      }
    } else {
      for case let value? in try objects.candidates(at: index, of: L) {
        if let value = fitting(value, Argument.self) { return value }
      }
    }
    let given =
      object.map(objects.typeName)
      ?? (isThere ? objects.host.typeName(at: index, of: L) : "no value")
    throw LuaError(
      .type,
      "bad argument #\(index - 1) to '\(method)' "
        + "(\(reason ?? "\(readable(Argument.self)) expected, got \(given)"))")
  }

  /// An optional type reads as what it may hold.
  private func readable(_ type: Any.Type) -> String {
    expectation(of: type) + (type is any ExpressibleByNilLiteral.Type ? " or nil" : "")
  }
}
