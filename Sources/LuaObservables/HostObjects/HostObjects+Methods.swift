internal import Lua
internal import Observables

/// Methods of Swift models, called by scripts.
extension HostObjects {
  /// Pushes the function of a method; returns false if the model has no such method. [-0, +(0|1),
  /// -]
  func pushMethod(
    _ name: String, of model: any ObservableModel, to L: LuaStack
  ) throws(LuaError) -> Bool {
    guard let methods = methods(of: model), let entry = methods.entry(name) else { return false }
    let key = MethodKey(methods: ObjectIdentifier(methods), name: name)
    if let function = methodFunctions[key] {
      remember(function, name, of: model, L)
      try host.state.push(function.pin, to: L)
      return true
    }
    let callee = ScriptCallee(self, name, offset: 1)
    if entry.isAsync {
      try host.module.tasks.push(name, to: L) { [self] L in
        try result(of: entry, callee, L).pending
      }
    } else {
      try host.calls.push(
        { [unowned(unsafe) self] L in try push(result(of: entry, callee, L), to: L) }, to: L)
    }
    let function = LuaFunction(pin: try host.state.pin(at: -1, of: L))
    methodFunctions[key] = function
    remember(function, name, of: model, L)
    return true
  }

  /// The methods that scripts can call on a model.
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

  private func result(
    of entry: ModelMethods.Entry, _ callee: ScriptCallee, _ L: LuaStack
  ) throws -> ScriptResult {
    var arguments = try ScriptArguments(of: callee, L)
    if let object = object(at: 1, of: L), let result = try entry.call(object, &arguments) {
      return result
    }
    throw LuaError(
      "calling '\(callee.name)' on bad self (\(entry.typeName) expected, got \(given(1, L))): "
        + "write object:\(callee.name)(…)")
  }
}

/// Names a method of a class.
struct MethodKey: Hashable {
  let methods: ObjectIdentifier
  let name: String
}
