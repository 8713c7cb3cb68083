internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Recording the writes of scripts in a journal.
extension TableJournal {
  /// Records a finished write; the stack is still the write's. [-0, +0, -]
  func record(_ write: clua_write, _ L: LuaStack) {
    guard L.hasRoom(for: 16) else { return noteGap(length: Int(write.length)) }
    let height = L.height
    defer { L.height = height }
    if isList {
      recordInList(write, L)
    } else if write.edit == CLUA_EDIT_NONE {
      recordKey(write, L)
    }
    limit(L)
    noteGapForLostValue()
    account()
  }

  private func recordInList(_ write: clua_write, _ L: LuaStack) {
    let (at, from, count) = (Int(write.at), Int(write.from), Int(write.count))
    switch write.edit {
    case CLUA_EDIT_NONE:
      recordSingle(write, L)
    case _ where write.unsettled || write.same:
      break
    case CLUA_EDIT_INSERT where at >= 1 && at <= length + 1:
      // Nil behind the end is no element.
      if at <= length || !L.isNil(at: write.element) {
        record(.insert(keep(write.element, L), at: at - 1))
      }
      moveBorder(write, L)
    case CLUA_EDIT_REMOVE where at >= 1 && at <= length:
      record(.remove(keep(write.element, L), at: at - 1))
      moveBorder(write, L)
    case CLUA_EDIT_MOVE where (1...max(1, length)).contains(at) && from >= 1 && from <= length:
      record(.move(keep(write.element, L), from: from - 1, at: at - 1))
    case CLUA_EDIT_SWAP where (1...max(1, length)).contains(at) && from >= 1 && from <= length:
      let (first, second) = (keepValue(at: from, L), keepValue(at: at, L))
      record(.replace(second, with: first, at: from - 1))
      record(.replace(first, with: second, at: at - 1))
    case CLUA_EDIT_APPEND where at == length + 1:
      for position in at..<at + count {
        record(.insert(keepValue(at: position, L), at: position - 1))
      }
    case CLUA_EDIT_CLEAR where count == length && count > EditScript.limit:
      recordWhole(keepElements(of: write.list, count, L), isPermutation: false, length: 0)
    case CLUA_EDIT_CLEAR where count == length:
      for (index, element) in keepElements(of: write.list, count, L).enumerated().reversed() {
        record(.remove(element, at: index))
      }
    case CLUA_EDIT_RANGE:
      recordRange(write, L)
    case CLUA_EDIT_WHOLE where count == length:
      recordWhole(
        keepElements(of: write.list, count, L), isPermutation: write.permutation,
        length: Int(write.length))
    default:
      // C code or a finalizer has changed the list in between, so readers compare all elements.
      recordGap(length: Int(write.length))
    }
  }

  private func keepValue(at position: Int, _ L: LuaStack) -> KeptValue {
    push(.current(position), to: L)
    defer { L.pop() }
    return keep(-1, L)
  }

  // MARK: Keys

  private func recordKey(_ write: clua_write, _ L: LuaStack) {
    let old = write.was ? keep(oldIndex(write), L) : nil
    record(keepKey(write.key, L), from: old, to: write.is ? keep(write.new_, L) : nil)
  }

  /// The stack index of the old value.
  ///
  /// If a script only triggered a change, the value counts as removed and added again, whatever old
  /// value the script passed.
  private func oldIndex(_ write: clua_write) -> CInt { write.triggered ? write.new_ : write.old }

  private func recordSingle(_ write: clua_write, _ L: LuaStack) {
    guard let number = L.wholeNumber(at: write.key), number >= 1 else { return recordKey(write, L) }
    // The end of the sort reports all changes of the list.
    if write.unsettled { return }
    let (position, now) = (Int(number), Int(write.length))
    if position <= length, position <= now {
      record(
        .replace(
          write.was ? keep(oldIndex(write), L) : .nothing,
          with: write.is ? keep(write.new_, L) : .nothing, at: position - 1))
    } else if position > length, position > now {
      recordKey(write, L)
    }
    moveBorder(write, L) { key in
      key == position ? .some(write.was ? keep(oldIndex(write), L) : .nothing) : nil
    }
  }

  private func recordRange(_ write: clua_write, _ L: LuaStack) {
    let now = Int(write.length)
    func old(_ key: Int) -> KeptValue? {
      let (offset, overflows) = key.subtractingReportingOverflow(Int(write.at))
      guard !overflows, offset >= 0, offset < write.count else { return nil }
      L.rawGet(index: offset + 1, at: write.list)
      defer { L.pop() }
      return keep(-1, L)
    }
    for offset in 0..<Int(write.count) {
      // If scripts have to stop, the rest is not noted: readers then compare all elements.
      if offset % 1024 == 1023, isStopping { return recordGap(length: now) }
      let key = Int(write.at) + offset
      L.rawGet(index: offset + 1, at: write.list)
      push(.current(key), to: L)
      defer { L.pop(2) }
      if L.areSame(-1, -2), L.isInteger(at: -1) == L.isInteger(at: -2) { continue }
      if key >= 1, key <= length, key <= now {
        record(.replace(keep(-2, L), with: keep(-1, L), at: key - 1))
      } else if key < 1 || (key > length && key > now) {
        recordKey(key, from: keep(-2, L), to: keep(-1, L))
      }
    }
    moveBorder(write, L, old: old)
  }

  /// Records that the border of the list moved: keys become elements, or elements become keys.
  ///
  /// `old` returns the old value of a key that the write itself changed.
  private func moveBorder(
    _ write: clua_write, _ L: LuaStack, old: (Int) -> KeptValue? = { _ in nil }
  ) {
    let now = Int(write.length)
    while length > now {
      let key = length
      record(.remove(old(key) ?? keepValue(at: key, L), at: key - 1))
      recordKey(key, from: nil, to: keepValue(at: key, L))
    }
    while length < now {
      let key = length + 1
      let value = keepValue(at: key, L)
      record(.insert(value, at: key - 1))
      recordKey(key, from: old(key) ?? value, to: nil)
    }
  }

  private func recordKey(_ key: Int, from old: KeptValue?, to new: KeptValue?) {
    func value(_ kept: KeptValue?) -> KeptValue? {
      if case .nothing? = kept { return nil }
      return kept
    }
    let (old, new) = (value(old), value(new))
    guard old != nil || new != nil else { return }
    record(
      KeptKey(identity: .integer(key), value: .integer(lua_Integer(key))), from: old, to: new)
  }
}
