internal import CTables
internal import Lua
internal import Observables

/// Edits of tables.
extension ScriptEdits {
  /// Pushes the edits of a table since a position of its journal, in the order in which they apply:
  /// a list of {kind, at, from, old, new}, with positions from 1. [-0, +1, -]
  func pushTableEdits(
    of node: NodeRef, since position: Int, to L: LuaStack
  ) throws(LuaError) {
    try state.pushTable(to: L)
    guard node.kind === host.tables, let journal = host.tables.journal(of: node) else { return }
    let list = L.height
    defer { L.height = list }
    let reader = TableJournal.Reader(of: journal, L)
    var count = 0
    func add(
      _ kind: StaticString, at: KeptValue, from: KeptValue = .nothing, old: KeptValue = .nothing,
      new: KeptValue = .nothing
    ) throws(LuaError) {
      reader.push(at)
      reader.push(from)
      reader.push(old)
      reader.push(new)
      let kind = UnsafeRawPointer(kind.utf8Start).assumingMemoryBound(to: CChar.self)
      try state.check(clua_try_pushedit(L.pointer, kind), L)
      count += 1
      try self.add(count, to: list, L)
    }
    func index(_ position: Int) -> KeptValue { .integer(Int64(position + 1)) }
    let parts = journal.parts(of: position)
    let interrupter = state.interrupter
    let edits = journal.list.edits(
      since: parts.list, current: journal.current, same: { journal.same($0, $1, L) },
      numbers: { journal.numbers($0, $1, L) }, unless: { interrupter.isStopping })
    try state.checkStop()
    for edit in edits {
      switch edit {
      case .insert(let element, let at): try add("insert", at: index(at), new: element)
      case .remove(let element, let at): try add("remove", at: index(at), old: element)
      case .replace(let old, let new, let at):
        try add("replace", at: index(at), old: old, new: new)
      case .move(let element, let from, let at):
        try add("move", at: index(at), from: index(from), old: element, new: element)
      }
    }
    let keyed = journal.keyed.edits(
      since: parts.keyed, same: { journal.same($0, $1, L) }, unless: { interrupter.isStopping })
    try state.checkStop()
    for edit in keyed {
      try add(
        edit.old == nil ? "insert" : edit.new == nil ? "remove" : "replace", at: edit.key.value,
        old: edit.old ?? .nothing, new: edit.new ?? .nothing)
    }
  }
}
