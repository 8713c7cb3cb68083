internal import Lua
internal import Observables

/// Conversion of Swift values for scripts.
extension HostObjects {
  /// Pushes a Swift value as a script sees it. [-0, +1, -]
  func push(value: Any?, to L: LuaStack) throws(LuaError) {
    // The result of an optional call that returns nothing, as in `callback?()`, is nil.
    guard let value = value.flatMap(flattened), !(value is Void) else { return L.pushNil() }
    if type(of: value) is AnyClass, let object = value as? any KeyPathObservable {
      try push(object, to: L)
    } else if let value = value as? any LuaEncodable {
      try host.state.push(value, to: L)
    } else if let value = value as? any RawRepresentable {
      try push(value: value.rawValue, to: L)
    } else if let list = value as? [Any] {
      try push(list, to: L)
    } else if let dictionary = value as? [AnyHashable: Any] {
      try push(dictionary, to: L)
    } else if let set = value as? Set<AnyHashable> {
      try push(set.map(\.base), to: L)
    } else if let value = value as? any Encodable {
      try host.state.push(try host.state.encode(value), to: L)
    } else {
      throw LuaError(
        "a value of type \(type(of: value)) cannot be given to a script; "
          + "make it LuaEncodable or Codable")
    }
  }

  /// Pushes the value of a property; an error names the property. [-0, +1, -]
  func push(
    _ value: Any?, of name: String, _ properties: ModelProperties, to L: LuaStack
  ) throws(LuaError) {
    do throws(LuaError) { try push(value: value, to: L) } catch {
      guard error.isOfConversion else { throw error }
      throw LuaError(
        .type, "property '\(name)' of \(properties.typeName): \(error.message)",
        underlying: error.underlying)
    }
  }

  /// Pushes a placeholder that a loop over an object gets for a value that scripts cannot have.
  ///
  /// It is the conversion error, as a value whose text is the message. Other errors are thrown.
  /// [-0, +1, -]
  func push(placeholderFor error: LuaError, to L: LuaStack) throws(LuaError) {
    guard error.isOfConversion else { throw error }
    host.state.pushError(Unconvertible(error: error), to: L)
  }

  /// Pushes a new table of values, some without a Lua representation. [-0, +1, -]
  private func push(_ list: [Any], to L: LuaStack) throws(LuaError) {
    guard L.hasRoom() else { throw L.noRoom(to: "push a value") }
    try host.state.pushTable(elements: list.count, to: L)
    for (index, value) in list.enumerated() {
      try push(value: value, to: L)
      // The table has room for the value, so this allocates nothing.
      L.rawSet(index: index + 1, at: -2)
    }
  }

  private func push(_ dictionary: [AnyHashable: Any], to L: LuaStack) throws(LuaError) {
    guard L.hasRoom() else { throw L.noRoom(to: "push a value") }
    try host.state.pushTable(fields: dictionary.count, to: L)
    for (key, value) in dictionary {
      try push(value: key.base, to: L)
      try push(value: value, to: L)
      try host.state.rawSet(of: L)
    }
  }

  /// Pushes the key of a write as an immediate watcher gets it. [-0, +1, -]
  func push(key write: ModelWrite, to L: LuaStack) throws(LuaError) {
    if let index = write.index {
      L.push(index + 1)
    } else if let value = write.value {
      try push(value: value.base, to: L)
    } else {
      try host.state.push(text: write.key, to: L)
    }
  }
}

/// The reason why a script cannot have a value.
private struct Unconvertible: Error, CustomStringConvertible {
  let error: LuaError
  var description: String { error.message }
}
