internal import CTables
internal import Lua
internal import Observables

/// The spelling of tables and script values in recordings.
///
/// Nothing here allocates memory of scripts, or runs their code (D1).
extension TableKind {
  func tableAddress(of node: NodeRef) -> UInt {
    guard L.hasRoom(for: 4) else { return 0 }
    clua_node_pushtable(L.pointer, TableKind.table(node))
    defer { L.pop() }
    return UInt(bitPattern: L.address(at: -1))
  }

  func write(of change: Change) -> clua_write? {
    change.values?.assumingMemoryBound(to: clua_write.self).pointee
  }

  /// Adds the keys and values of a table, as scripts see them.
  func addContents(of node: NodeRef, to lines: inout RunLines) {
    let L = L
    guard L.hasRoom(for: 12) else { return }
    let height = L.height
    defer { L.height = height }
    clua_node_pushtable(L.pointer, TableKind.table(node))
    guard L.isTable(at: -1) else { return }
    let isSet = clua_node_kind(TableKind.table(node)) == CLUA_KIND_SET
    L.pushNil()
    while clua_next(L.pointer, height + 1) != 0 {
      // The lines `lazy` and `compute` have the values of lazy properties.
      let slot = clua_node_slot(L.pointer, TableKind.table(node), height + 2)
      if slot.map({ UnsafeMutableRawPointer($0).assumingMemoryBound(to: Slot.self) })?
        .pointee.lazy != nil
      {
        L.pop()
        continue
      }
      lines.beginList()
      lines.add(keyAt: -2, of: L)
      if isSet { lines.add(true) } else { lines.add(valueBy: { $0.add(scriptValueAt: -1, of: L) }) }
      lines.endList()
      L.pop()
    }
  }
}

extension RunLines {
  /// Adds the key of a write.
  mutating func addKey(of write: clua_write?, at change: Change, _ L: LuaStack) {
    if let key = write?.key, key != 0 { return add(keyAt: key, of: L) }
    guard let slot = change.slot, !slot.pointee.isEvery, L.hasRoom(for: 4) else {
      return add(key: "*")
    }
    TableKind.pushKey(of: slot, to: L)
    add(keyAt: -1, of: L)
    L.pop()
  }

  /// Adds the key, the old and the new value of a write.
  mutating func add(_ write: clua_write?, at change: Change, _ L: LuaStack) {
    addKey(of: write, at: change, L)
    guard let write else {
      addUnknown()
      return addUnknown()
    }
    if write.uncompared || write.old == 0 {
      addUnknown()
    } else {
      add(valueBy: { $0.add(scriptValueAt: write.old, of: L) })
    }
    if write.new_ == 0 {
      addUnknown()
    } else {
      add(valueBy: { $0.add(scriptValueAt: write.new_, of: L) })
    }
  }

  /// Adds the key at an index. [-0, +0, -]
  mutating func add(keyAt index: CInt, of L: LuaStack) {
    guard L.type(at: index) == .string else { return add(scriptValueAt: index, of: L) }
    add(key: L.withBytes(at: index) { String(shown: $0) })
  }

  /// Adds the value at an index. [-0, +0, -]
  mutating func add(scriptValueAt index: CInt, of L: LuaStack) {
    switch L.type(at: index) {
    case .nil, .none: addNull()
    case .boolean: add(L.boolean(at: index))
    case .number:
      if let integer = L.integer(at: index) {
        add(Int(integer))
      } else {
        add(number: L.number(at: index))
      }
    case .string: L.withBytes(at: index) { add(string: UnsafeRawBufferPointer($0)) }
    case .table:
      add(object: UInt(bitPattern: L.address(at: index)), type: "table")
    case .userdata:
      add(object: UInt(bitPattern: L.address(at: index)), type: "userdata")
    default:
      add(other: L.typeName(at: index))
    }
  }
}

extension clua_write {
  /// Calls `step` for each step of an edit (`RunRecorder.EditSteps`).
  func forEachStep(
    _ L: LuaStack,
    _ step: (_ operation: StaticString, _ position: Int, _ value: (inout RunLines) -> Void) -> Void
  ) {
    func stored(at place: lua_Integer) -> (inout RunLines) -> Void {
      { lines in
        guard store != 0, L.hasRoom(for: 2) else { return lines.addUnknown() }
        lua_rawgeti(L.pointer, store, place)
        lines.add(scriptValueAt: -1, of: L)
        L.pop()
      }
    }
    let moved: (inout RunLines) -> Void = { lines in
      if element == 0 { lines.addUnknown() } else { lines.add(scriptValueAt: element, of: L) }
    }
    switch edit {
    case CLUA_EDIT_INSERT: step("insert", Int(at), moved)
    case CLUA_EDIT_REMOVE: step("remove", Int(at), moved)
    case CLUA_EDIT_MOVE:
      step("remove", Int(from), moved)
      step("insert", Int(at), moved)
    case CLUA_EDIT_SWAP:
      step("replace", Int(from), stored(at: from))
      step("replace", Int(at), stored(at: at))
    case CLUA_EDIT_APPEND:
      for place in at..<at + count { step("insert", Int(place), stored(at: place)) }
    case CLUA_EDIT_CLEAR:
      step("all", 0) { lines in
        lines.beginList()
        lines.endList()
      }
    case CLUA_EDIT_RANGE:
      for place in at..<at + count { step("replace", Int(place), stored(at: place)) }
    default:
      step("all", 0) { lines in
        lines.beginList()
        let length = store == 0 ? 0 : lua_Integer(lua_rawlen(L.pointer, store))
        for place in stride(from: 1, through: length, by: 1) {
          lines.beginList()
          lines.add(position: Int(place))
          lines.add(valueBy: stored(at: place))
          lines.endList()
        }
        lines.endList()
      }
    }
  }
}
