internal import Lua
internal import Observables

/// Functions of the host program, and classes of such functions.
extension HostObjects {
  /// Pushes a function for scripts; errors call it `title`. [-0, +1, -]
  func push(_ function: Function, named title: String, to L: LuaStack) throws(LuaError) {
    let callee = ScriptCallee(self, title, offset: 0)
    if function.isAsync {
      try host.module.tasks.push(title, to: L) { L in
        var arguments = try ScriptArguments(of: callee, L)
        return try function.call(&arguments).pending
      }
    } else {
      try host.calls.push(
        { [unowned(unsafe) self] L in
          var arguments = try ScriptArguments(of: callee, L)
          return try push(function.call(&arguments), to: L)
        }, to: L)
    }
  }

  /// Pushes the table of a class. [-0, +1, -]
  ///
  /// The table is an empty proxy for the table of members, so that every assignment can be refused.
  func push(
    _ members: ScriptFunctions, named name: String, to L: LuaStack
  ) throws(LuaError) {
    let (state, names) = (host.state, members.names)
    try state.pushTable(to: L)
    try state.pushTable(fields: names.count, to: L)
    for function in members.functions {
      try push(function, named: "\(name).\(function.name)", to: L)
      try state.setField(function.name, of: L)
    }
    for constant in members.constants {
      try push(value: constant.value, to: L)
      try state.setField(constant.name, of: L)
    }
    try state.pushTable(fields: 1, to: L)
    try host.calls.push({ [self] L in throw unknownMember(of: name, names, L) }, to: L)
    try state.setField("__index", of: L)
    L.setMetatable(at: -2)
    let table = LuaTable(pin: try host.state.pin(at: -1, of: L))
    try state.pushTable(fields: 4, to: L)
    L.insert(-2)
    try state.setField("__index", of: L)
    try host.calls.push({ [self] L in throw unassignable(of: name, names, L) }, to: L)
    try state.setField("__newindex", of: L)
    try host.calls.push({ [self] L in try pairs(names, of: table, L) }, to: L)
    try state.setField("__pairs", of: L)
    L.push(false)
    try state.setField("__metatable", of: L)
    L.setMetatable(at: -2)
  }

  /// Implements `pairs(class)`: visits the members, but does not hand out their table.
  private func pairs(_ names: [String], of table: LuaTable, _ L: LuaStack) throws -> CInt {
    var next = names.startIndex
    try host.calls.push(
      { [self] L in
        try host.state.push(table.pin, to: L)
        while next < names.endIndex {
          try host.state.push(text: names[next], to: L)
          next += 1
          L.pushCopy(at: -1)
          // Skip a constant that is nil.
          if L.rawGet(at: -3) != .nil { return 2 }
          L.pop(2)
        }
        L.pushNil()
        return 1
      }, to: L)
    return 1
  }

  private func unknownMember(
    of type: String, _ names: [String], _ L: LuaStack
  ) -> LuaError {
    let name = host.state.keyName(at: 2, of: L)
    return LuaError(
      "\(type) has no member '\(name)'" + didYouMean(name, among: names))
  }

  private func unassignable(
    of type: String, _ names: [String], _ L: LuaStack
  ) -> LuaError {
    if L.isString(at: 2), names.contains(host.state.text(at: 2, of: L)) {
      return LuaError(
        "'\(host.state.text(at: 2, of: L))' is a member of \(type), and cannot be assigned")
    }
    let unknown = unknownMember(of: type, names, L)
    return LuaError(unknown.message + "; nothing can be assigned")
  }
}
