internal import CTables
internal import Lua
internal import Observables

/// The edits that are delivered to watchers (C10): lists of {kind, at, from, old, new}.
struct ScriptEdits {
  // The host is not retained: this value is only used within one call of it.
  private let reference: Unmanaged<LuaHost>
  var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }
  var state: LuaState { host.state }
  private var observed: ObservedObjects { ObservedObjects(host) }

  init(_ host: LuaHost) { reference = .passUnretained(host) }

  /// Pushes the edits since the last call of the watcher. [-0, +1, -]
  func push(for watcher: WatcherRef, to L: LuaStack) throws(LuaError) {
    let result = host.engine.members.takeEdits(of: watcher) { node, since in
      Result { () throws(LuaError) in
        // The insertions of all elements include the latest edits.
        if watcher.script.pointee.givesAll {
          watcher.script.pointee.givesAll = false
          try pushInserts(of: node, to: L)
        } else {
          try pushEdits(of: node, since: since, to: L)
        }
      }
    }
    if let result { return try result.get() }
    try state.pushTable(to: L)
  }

  /// Pushes the edits of an observed object since a position of its journal. [-0, +1, -]
  func pushEdits(of node: NodeRef, since position: Int, to L: LuaStack) throws(LuaError) {
    if observed.isTable(node) {
      try pushTableEdits(of: node, since: position, to: L)
    } else {
      try pushCollectionEdits(of: node, since: position, to: L)
    }
  }

  /// Pushes an insertion for each present element. [-0, +1, -]
  func pushInserts(of node: NodeRef, to L: LuaStack) throws(LuaError) {
    guard observed.isTable(node) else { return try pushCollectionInserts(of: node, to: L) }
    try state.pushTable(to: L)
    let list = L.height
    observed.push(node, to: L)
    guard L.isTable(at: -1) else { return L.height = list }
    let table = TableKind.table(node)
    let kind = clua_node_kind(table)
    let isList = kind == CLUA_KIND_PLAIN || kind == CLUA_KIND_ARRAY
    let length = isList ? clua_node_elementcount(L.pointer, table) : 0
    var count = 0
    /// Adds an insertion of the key and value on top of the stack.
    func insert() throws(LuaError) {
      let key = L.height - 1
      try pushEdit("insert", to: L) { _ in }
      for (field, index) in [("at", key), ("new", key + 1)] {
        L.pushCopy(at: index)
        try state.setField(field, of: L)
      }
      count += 1
      try add(count, to: list, L)
    }
    // Visit the list in order, as `next` may not: each insertion then has its final position.
    for position in stride(from: 1, through: length, by: 1) {
      L.push(position)
      L.pushCopy(at: -1)
      L.getOwn(at: list + 1)
      try insert()
      L.height = list + 1
    }
    do {
      try state.forEachEntry(at: list + 1, of: L) {
        let position = L.wholeNumber(at: -2) ?? 0
        // Lazy keys are not elements, valid or not (C13).
        if position < 1 || position > length, !clua_node_islazy(L.pointer, table, -2) {
          try insert()
        }
      }
    } catch {
      throw error as? LuaError ?? LuaError("\(error)")
    }
    L.height = list
  }

  /// Pushes one edit; `fill` sets its other fields. [-0, +1, -]
  func pushEdit(
    _ kind: String, to L: LuaStack, _ fill: (LuaStack) throws(LuaError) -> Void
  ) throws(LuaError) {
    try state.pushTable(fields: 4, to: L)
    try state.push(text: kind, to: L)
    try state.setField("kind", of: L)
    try fill(L)
  }

  /// Pops an edit into the list at `list`. [-1, +0, -]
  func add(_ position: Int, to list: CInt, _ L: LuaStack) throws(LuaError) {
    try state.checkStop()
    L.push(position)
    L.insert(-2)
    try state.rawSet(at: list, of: L)
  }

  /// The edits in the list that `push` pushes; no edits if memory runs out.
  func edits(_ push: (LuaStack) throws(LuaError) -> Void) -> [ScriptEdit] {
    let result = try? state.withStack { L throws(LuaError) in
      try push(L)
      var edits: [ScriptEdit] = []
      let list = L.height
      guard L.isTable(at: list) else { return edits }
      func field(_ name: String) throws(LuaError) -> LuaValue {
        try state.pushField(name, of: L)
        defer { L.pop() }
        return try state.value(at: -1, of: L)
      }
      for index in 0..<L.ownLength(at: list) {
        L.rawGet(index: index + 1, at: list)
        try state.pushField("kind", of: L)
        let kind = state.text(at: -1, of: L)
        L.pop()
        edits.append(
          ScriptEdit(
            kind: kind, at: try field("at"), from: try field("from"), old: try field("old"),
            new: try field("new")))
        L.pop()
      }
      return edits
    }
    return result ?? []
  }
}
