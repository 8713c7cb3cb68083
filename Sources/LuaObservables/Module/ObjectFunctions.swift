internal import Lua
internal import Observables

/// The methods of Swift arrays and sets, and functions that the prelude builds others from.
final class ObjectFunctions: ModuleSlice {
  override var functions: [NamedFunction] {
    [
      .init("set_object_methods", setObjectMethods),
      .init("assign", assignObject),
      .init("arrange", arrange),
    ]
  }

  private var arrayMethods: [NamedFunction] {
    [
      .init(
        "append",
        { [self] L in
          let array = try array(L, "append")
          let count = L.height
          let elements =
            try count < 2
            ? [] : (2...count).map { try host.objects.element(at: $0, of: L, for: array) }
          array.dynamicInsert(elements, at: array.valueCount)
          return 0
        }
      ),
      .init(
        "insert",
        { [self] L in
          let array = try array(L, "insert")
          let index = try index(at: 2, of: L, array.valueCount + 1, "insert", array)
          array.dynamicInsert([try host.objects.element(at: 3, of: L, for: array)], at: index)
          return 0
        }
      ),
      .init(
        "remove",
        { [self] L in
          let array = try array(L, "remove")
          if L.isNil(at: 2) || L.height < 2 {
            if array.valueCount == 0 { return 0 }
            L.height = 1
            L.push(array.valueCount)
          }
          let index = try index(at: 2, of: L, array.valueCount, "remove", array)
          try host.objects.push(value: array.dynamicRemove(at: index), to: L)
          return 1
        }
      ),
      .init(
        "remove_value",
        { [self] L in
          let array = try array(L, "remove_value")
          let index = try place(at: 2, of: L, in: array)
          if let index { _ = array.dynamicRemove(at: index) }
          L.push(index != nil)
          return 1
        }
      ),
      .init(
        "index_of",
        { [self] L in
          let array = try array(L, "index_of")
          if let index = try place(at: 2, of: L, in: array) {
            L.push(index + 1)
          } else {
            L.pushNil()
          }
          return 1
        }
      ),
      .init(
        "replace",
        { [self] L in
          let array = try array(L, "replace")
          let index = try index(at: 2, of: L, array.valueCount, "replace", array)
          array.dynamicReplace(
            at: index, with: try host.objects.element(at: 3, of: L, for: array))
          return 0
        }
      ),
      .init(
        "move",
        { [self] L in
          let array = try array(L, "move")
          array.move(
            from: try index(at: 2, of: L, array.valueCount, "move", array),
            to: try index(at: 3, of: L, array.valueCount, "move", array))
          return 0
        }
      ),
      .init(
        "swap",
        { [self] L in
          let array = try array(L, "swap")
          array.swapAt(
            try index(at: 2, of: L, array.valueCount, "swap", array),
            try index(at: 3, of: L, array.valueCount, "swap", array))
          return 0
        }
      ),
      .init(
        "reverse",
        { [self] L in
          try array(L, "reverse").reverse()
          return 0
        }
      ),
      .init(
        "clear",
        { [self] L in
          try array(L, "clear").dynamicRemoveAll()
          return 0
        }
      ),
    ]
  }

  private var setMethods: [NamedFunction] {
    [
      .init(
        "add",
        { [self] L in
          let set = try set(L, "add")
          let isNew = set.dynamicInsert(try host.objects.element(at: 2, of: L, for: set))
          L.push(isNew)
          return 1
        }
      ),
      .init(
        "remove",
        { [self] L in
          let set = try set(L, "remove")
          let member = try host.objects.elementIfFitting(at: 2, of: L, for: set)
          L.push(member.map { set.dynamicRemove($0) } == true)
          return 1
        }
      ),
      .init(
        "contains",
        { [self] L in
          let set = try set(L, "contains")
          let member = try host.objects.elementIfFitting(at: 2, of: L, for: set)
          L.push(member.map { set.dynamicContains($0) } == true)
          return 1
        }
      ),
      .init(
        "clear",
        { [self] L in
          try set(L, "clear").dynamicRemoveAll()
          return 0
        }
      ),
      .init(
        "key_of",
        { [self] L in
          let set = try set(L, "key_of")
          let member = try host.objects.element(at: 2, of: L, for: set)
          try host.state.push(text: set.dynamicName(of: member), to: L)
          return 1
        }
      ),
      .init(
        "object_for",
        { [self] L in
          let set = try set(L, "object_for")
          // A text that is not valid UTF-8 names no member.
          let name = L.isString(at: 2) ? host.state.validText(at: 2, of: L) ?? "" : ""
          try host.objects.push(value: set.dynamicObject(named: name), to: L)
          return 1
        }
      ),
    ]
  }

  /// The method names of arrays or sets.
  func methodNames(isArray: Bool) -> [String] { (isArray ? arrayMethods : setMethods).map(\.name) }

  override func end() { (host.objects.arrayMethods, host.objects.setMethods) = (nil, nil) }

  // MARK: Arguments

  private func array(_ L: LuaStack, _ method: String) throws -> any DynamicArray {
    if let array = host.objects.array(at: 1, of: L) {
      if method != "index_of" { try host.checkMembers(of: array) }
      return array
    }
    throw badArgument(
      1, of: method, "array expected, got \(state.typeName(at: 1, of: L)); call it with ':'")
  }

  private func set(_ L: LuaStack, _ method: String) throws -> any DynamicSet {
    if let set = host.objects.set(at: 1, of: L) { return set }
    throw badArgument(
      1, of: method, "set expected, got \(state.typeName(at: 1, of: L)); call it with ':'")
  }

  /// Returns the zero-based index for the position at an index of the stack.
  private func index(
    at index: CInt, of L: LuaStack, _ last: Int, _ method: String, _ array: any DynamicArray
  ) throws -> Int {
    guard let position = L.wholeNumber(at: index) else {
      throw badArgument(
        Int(index) - 1, of: method, "position expected, got \(state.typeName(at: index, of: L))")
    }
    guard position >= 1, position <= last else {
      let count = array.valueCount
      throw LuaError(
        """
        index \(position) is out of range (the array has \
        \(count) element\(count == 1 ? "" : "s"))
        """)
    }
    return Int(position) - 1
  }

  private func place(
    at index: CInt, of L: LuaStack, in array: any DynamicArray
  ) throws -> Int? {
    guard let value = try host.objects.elementIfFitting(at: index, of: L, for: array) else {
      return nil
    }
    return array.dynamicIndex(of: value)
  }

  // MARK: Whole collections

  /// arrange(array, order): reorders the elements by a list of positions.
  private func arrange(_ L: LuaStack) throws -> CInt {
    let array = try array(L, "sort")
    let count = L.ownLength(at: 2)
    guard count == array.valueCount else {
      throw LuaError("the array was changed while it was being sorted")
    }
    let order = (0..<count).map { offset in
      L.rawGet(index: offset + 1, at: 2)
      defer { L.pop() }
      return Int(L.wholeNumber(at: -1) ?? 0) - 1
    }
    // If a comparison changed the list during `table.sort`, the order is not a permutation.
    guard Set(order) == Set(0..<count) else {
      throw LuaError("invalid order function for sorting")
    }
    array.dynamicArrange(order)
    return 0
  }

  /// assign(collection, entries): makes a collection equal to a plain table, which is a list unless
  /// the collection is a dictionary.
  private func assignObject(_ L: LuaStack) throws -> CInt {
    guard let collection = host.objects.collection(at: 1, of: L), L.isTable(at: 2)
    else {
      throw badArgument(1, of: "assign", "collection expected, got \(state.typeName(at: 1, of: L))")
    }
    try host.checkMembers(of: collection.base)
    L.height = 2
    if case .dictionary(let dictionary) = collection {
      var entries: [(key: Any, value: Any)] = []
      try state.forEachEntry(at: 2, of: L) {
        entries.append(
          (
            key: try host.objects.key(at: -2, of: L, for: dictionary),
            value: try host.objects.element(at: -1, of: L, for: dictionary)
          ))
      }
      dictionary.dynamicAssign(entries)
      return 0
    }
    var elements: [Any] = []
    for position in 0..<L.ownLength(at: 2) {
      L.push(position + 1)
      L.getOwn(at: 2)
      elements.append(try host.objects.element(at: 3, of: L, for: collection.base))
      L.pop()
    }
    if case .array(let array) = collection { array.dynamicSet(elements) }
    if case .set(let set) = collection { set.dynamicAssign(elements) }
    return 0
  }

  /// set_object_methods(array methods, set methods): adds the methods of this slice to the
  /// prelude's.
  private func setObjectMethods(_ L: LuaStack) throws -> CInt {
    L.height = 2
    try calls.set(setMethods, in: L)
    L.pushCopy(at: 1)
    try calls.set(arrayMethods, in: L)
    host.objects.arrayMethods = LuaTable(pin: try state.pin(at: 1, of: L))
    host.objects.setMethods = LuaTable(pin: try state.pin(at: 2, of: L))
    return 0
  }
}
