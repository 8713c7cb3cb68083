internal import Lua
internal import Observables

/// Swift collections as scripts see them: `a[i]`, `#a`, `pairs`, and methods.
extension HostObjects {
  /// The type name of an object in errors and `tostring`.
  func typeName(of object: AnyObject) -> String {
    if let model = object as? any ObservableModel { return type(of: model).properties.typeName }
    return "\(type(of: object))"
  }

  /// Describes a value of the wrong type, for errors. [-0, +0, -]
  func given(_ index: CInt, _ L: LuaStack) -> String {
    object(at: index, of: L).map(typeName) ?? host.state.typeName(at: index, of: L)
  }

  // MARK: Conversions

  /// The value at `index` as an element of an array or a set.
  ///
  /// - Throws: an error that names the collection and the type of its elements.
  func element(
    at index: CInt, of L: LuaStack, for collection: any DynamicCollection
  ) throws -> Any {
    let expected = "\(typeName(of: collection)) takes values of type \(collection.elementType)"
    do {
      if !L.isNil(at: index),
        let value = try fit(at: index, of: L, as: collection.elementType, collection.fit)
      {
        return value
      }
    } catch let misfit as Misfit {
      if misfit.saysMore {
        throw LuaError(.type, "\(expected): \(misfit.reason)", underlying: misfit.underlying)
      }
    }
    throw LuaError("\(expected), not \(given(index, L))")
  }

  func key(
    at index: CInt, of L: LuaStack, for dictionary: any DynamicDictionary
  ) throws -> Any {
    if let key = try keyIfFitting(at: index, of: L, for: dictionary) { return key }
    throw LuaError(
      "\(typeName(of: dictionary)) has keys of type \(dictionary.keyType), not \(given(index, L))")
  }

  /// Returns the value at `index` as a key; nil if its type does not fit.
  private func keyIfFitting(
    at index: CInt, of L: LuaStack, for dictionary: any DynamicDictionary
  ) throws -> Any? {
    do {
      return try fit(at: index, of: L, as: dictionary.keyType, dictionary.fitKey)
    } catch is Misfit { return nil }
  }

  /// Returns the value at `index` as an element of an array or a set; nil if its type does not fit.
  func elementIfFitting(
    at index: CInt, of L: LuaStack, for collection: any DynamicCollection
  ) throws -> Any? {
    do {
      return try fit(at: index, of: L, as: collection.elementType, collection.fit)
    } catch is Misfit { return nil }
  }

  /// Returns the result of `fit` for the value at `index`; if the value does not fit, tries again
  /// after converting it.
  private func fit(
    at index: CInt, of L: LuaStack, as type: Any.Type, _ fit: ([Any?]) -> Any?
  ) throws -> Any? {
    if let value = fit(try candidates(at: index, of: L)) { return value }
    return fit([try take(type, at: index, of: L)])
  }

  // MARK: Indexing

  func index(_ collection: HostCollection, _ L: LuaStack) throws -> CInt {
    if case .dictionary(let dictionary) = collection {
      let key = try keyIfFitting(at: 2, of: L, for: dictionary)
      try push(value: key.flatMap { dictionary.dynamicValue(of: $0) }, to: L)
      return 1
    }
    if case .array(let array) = collection, L.isNumber(at: 2) {
      let position = L.wholeNumber(at: 2) ?? 0
      let isThere = position >= 1 && position <= array.valueCount
      try push(value: isThere ? array.dynamicElement(at: Int(position) - 1) : nil, to: L)
      return 1
    }
    guard L.isString(at: 2) else {
      L.pushNil()
      return 1
    }
    let name = host.state.text(at: 2, of: L)
    if name == "count" {
      L.push(collection.base.valueCount)
      return 1
    }
    if arrayMethods == nil { _ = try host.module.load(L) }
    let isArray = if case .array = collection { true } else { false }
    guard let methods = isArray ? arrayMethods : setMethods else {
      throw LuaError("the module 'obs' is not complete")
    }
    try host.state.push(methods.pin, to: L)
    L.pushCopy(at: 2)
    if L.rawGet(at: -2) == .nil {
      let names = host.module.objects.methodNames(isArray: isArray)
      throw LuaError(
        "\(typeName(of: collection.base)) has no method '\(name)'"
          + didYouMean(name, among: names + ["sort", "set", "values", "count"]))
    }
    return 1
  }

  func setIndex(_ collection: HostCollection, _ L: LuaStack) throws -> CInt {
    try host.checkMembers(of: collection.base)
    switch collection {
    case .dictionary(let dictionary):
      let key = try key(at: 2, of: L, for: dictionary)
      let isNil = L.isNil(at: 3)
      dictionary.dynamicSet(isNil ? nil : try element(at: 3, of: L, for: dictionary), of: key)
    case .array(let array): try setElement(array, L)
    case .set:
      throw LuaError(
        """
        a set has no fields, but '\(host.state.keyName(at: 2, of: L))' was assigned; \
        use add and remove
        """)
    }
    return 0
  }

  private func setElement(_ array: any DynamicArray, _ L: LuaStack) throws {
    let count = array.valueCount
    guard let position = L.wholeNumber(at: 2) else {
      let key = L.isString(at: 2) ? " '\(host.state.text(at: 2, of: L))'" : ""
      throw LuaError("an array has integer indices, got \(given(2, L))\(key)")
    }
    guard position >= 1, position <= count + 1 else {
      throw LuaError(
        """
        index \(position) is out of range (the array has \
        \(count) element\(count == 1 ? "" : "s"); \(count + 1) would append)
        """)
    }
    let index = Int(position) - 1
    if L.isNil(at: 3) {
      if position < count {
        throw LuaError("nil would leave a hole at \(position) of \(count); use remove")
      }
      if position == count { _ = array.dynamicRemove(at: index) }
    } else if position > count {
      array.dynamicInsert([try element(at: 3, of: L, for: array)], at: index)
    } else {
      array.dynamicReplace(at: index, with: try element(at: 3, of: L, for: array))
    }
  }

  /// Implements `#object`.
  func length(_ L: LuaStack) throws -> CInt {
    guard let collection = collection(at: 1, of: L) else {
      throw LuaError("attempt to get length of \(given(1, L)), which is not a collection")
    }
    L.push(collection.base.valueCount)
    return 1
  }

  /// Implements `pairs(object)`: the loop visits the entries that existed when it began.
  ///
  /// If a script cannot have a value, the loop goes on and gets the error in its place.
  func pairs(_ L: LuaStack) throws -> CInt {
    guard let object = object(at: 1, of: L) else {
      throw badArgument(1, of: "pairs", "a host object expected")
    }
    var entries: [(key: Any, value: Any?)] = []
    var properties: ModelProperties?
    if let collection = object as? any DynamicCollection {
      entries = collection.dynamicEntries
      if collection is any DynamicArray {
        entries = entries.map { (key: ($0.key as? Int ?? 0) + 1, value: $0.value) }
      }
    } else if let model = object as? any ObservableModel {
      properties = type(of: model).properties
      for name in type(of: model).properties.names {
        // The loop does not compute invalid lazy properties (L7).
        entries.append((key: name, value: try model.peek(name)))
      }
    }
    var next = 0
    try host.calls.push(
      { [self] L in
        // A property that is nil is skipped, as a table's absent key would be.
        while next < entries.count, entries[next].value == nil { next += 1 }
        guard next < entries.count else {
          L.pushNil()
          return 1
        }
        let (key, value) = entries[next]
        next += 1
        for part in [key, value] as [Any?] {
          do throws(LuaError) {
            if let properties {
              try push(part, of: key as? String ?? "", properties, to: L)
            } else {
              try push(value: part, to: L)
            }
          } catch { try push(placeholderFor: error, to: L) }
        }
        return 2
      }, to: L)
    L.pushCopy(at: 1)
    L.pushNil()
    return 3
  }
}
