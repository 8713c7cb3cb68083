internal import CTables
internal import Lua
internal import Observables

/// The members of tables, and their changes; lazy keys are not members.
extension TableKind {
  /// Implements `forEachMember`.
  func goThroughMembers(
    of node: NodeRef, in scope: MemberScope, _ visit: (Member) -> Bool
  ) {
    let L = L
    let height = L.height
    defer { L.height = height }
    guard hasRoom(L) else { return }
    let table = TableKind.table(node)
    clua_node_pushtable(L.pointer, table)
    guard L.isTable(at: -1) else { return }
    let kind = clua_node_kind(table)
    let isList = kind == CLUA_KIND_PLAIN || kind == CLUA_KIND_ARRAY
    let length = isList ? clua_node_elementcount(L.pointer, table) : 0
    for position in stride(from: 1, through: length, by: 1) {
      L.push(position)
      L.getOwn(at: height + 1)
      guard visit(member(L, in: scope)) else { return }
      L.pop()
    }
    if kind == CLUA_KIND_ARRAY || (isList && scope == .elements) { return }
    let hasLazies = clua_node_haslazies(table)
    if scope == .stored || scope == .covered {
      let count = clua_node_countscalars(L.pointer, table, length)
      if count >= 0 {
        for _ in 0..<count where !visit(Member(value: .none, node: nil)) { return }
        return
      }
    }
    // The members of a set are its keys.
    let skipsKeys = (scope == .stored || scope == .covered) && kind != CLUA_KIND_SET
    notingFailure {
      try state.goThroughEntries(at: height + 1, beyond: length, of: L) {
        if skipsKeys && L.isTable(at: -2) || hasLazies && clua_node_islazy(L.pointer, table, -2) {
          return true
        }
        return visit(member(L, in: scope))
      }
    }
  }

  /// Whether the stack has room for a few values; notifies the engine if memory ran out.
  func hasRoom(_ L: LuaStack) -> Bool {
    if L.hasRoom(for: 12) { return true }
    noteUnreadable(L.noRoom())
    return false
  }

  /// Runs code that reads members; notifies the engine if memory ran out.
  func notingFailure(_ body: () throws -> Void) {
    do { try body() } catch { noteUnreadable(error) }
  }

  /// If the stack is full, the watcher stays: the deeply nested script gets the error.
  func noteUnreadable(_ error: any Error) {
    if (error as? LuaError)?.code == .memory { engine.operations.noteUnreadable(error) }
  }

  /// The value on top of the stack as a member, which has only its node in the scopes of `**`. [-0,
  /// +0, -]
  private func member(_ L: LuaStack, in scope: MemberScope = .everything) -> Member {
    let isDeep = scope == .stored || scope == .covered
    let node: NodeRef? =
      if case .node(let node) = observable(L, isWhole: isDeep) { node } else { nil }
    return Member(value: isDeep ? .none : state.operand(at: -1, of: L), node: node)
  }

  /// Implements `element(atEnd:of:)`.
  func end(isLast: Bool, of node: NodeRef) -> Member? {
    let L = L
    let height = L.height
    defer { L.height = height }
    let table = TableKind.table(node)
    clua_node_pushtable(L.pointer, table)
    guard hasRoom(L), L.isTable(at: -1) else { return nil }
    let kind = clua_node_kind(table)
    if kind == CLUA_KIND_SET || kind == CLUA_KIND_DICTIONARY {
      var first: Member?
      notingFailure {
        try state.goThroughEntries(at: height + 1, of: L) {
          if !clua_node_islazy(L.pointer, table, -2) { first = member(L) }
          return first == nil
        }
      }
      return first
    }
    let length = clua_node_elementcount(L.pointer, table)
    if length == 0 { return nil }
    L.push(isLast ? length : 1)
    L.getOwn(at: height + 1)
    return member(L)
  }

  /// Implements `forEachMemberChange`.
  func goThroughChanges(
    of node: NodeRef, in scope: MemberScope, since position: Int,
    _ visit: (_ member: Member, _ count: Int) -> Bool
  ) -> Bool {
    guard let journal = journal(of: node), hasRoom(L) else { return false }
    let L = L
    func note(_ value: KeptValue, _ count: Int) -> Bool {
      journal.push(value, to: L)
      defer { L.pop() }
      return visit(member(L), count)
    }
    let (list, keyed) = journal.parts(of: position)
    if journal.isList, !journal.list.forEachMemberChange(since: list, note) {
      // The whole list was assigned, but its former contents are known.
      guard journal.isKnown(since: list) else { return false }
      let former = journal.list.former(at: list, current: journal.current)
      for value in former where !note(value, -1) { return true }
      for value in journal.current() where !note(value, 1) { return true }
    }
    if !journal.isList, !journal.isKnown(sinceKeyed: keyed) { return false }
    if !journal.isList || scope != .elements {
      let isSet = clua_node_kind(TableKind.table(node)) == CLUA_KIND_SET
      journal.keyed.forEachMemberChange(since: keyed) { key, value, count in
        if scope == .stored, !isSet {
          journal.push(key.value, to: L)
          defer { L.pop() }
          if L.isTable(at: -1) { return true }
        }
        return note(value, count)
      }
    }
    return true
  }

  /// Implements `hasEdits`.
  func isEdited(_ node: NodeRef, since position: Int) -> Bool {
    guard let journal = journal(of: node) else { return false }
    // The call for the edits is dropped, so they need not be compared.
    if state.interrupter.isStopping { return true }
    let L = L
    let (list, keyed) = journal.parts(of: position)
    let interrupter = state.interrupter
    return journal.list.hasEdits(
      since: list, current: journal.current, same: { journal.same($0, $1, L) },
      unless: { interrupter.isStopping })
      || journal.keyed.hasEdits(
        since: keyed, same: { journal.same($0, $1, L) }, unless: { interrupter.isStopping })
  }
}
