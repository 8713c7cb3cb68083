internal import CLua
internal import CTables
internal import Lua
internal import Observables

/// Observes Lua tables, in place.
final class TableKind: NodeKind {
  // The host is not retained: it owns its kinds, and a write must not count references.
  let reference: Unmanaged<LuaHost>
  var host: LuaHost { reference._withUnsafeGuaranteedRef { $0 } }

  let state: LuaState
  let engine: Engine
  let calls: ScriptCalls
  let anchors: AnchorTable
  private let paths: PathCache

  init(_ host: LuaHost) {
    assert(SlotLayout.isShared, "clua_slot is not the beginning of Slot")
    reference = .passUnretained(host)
    (state, engine, calls) = (host.state, host.engine, host.calls)
    (anchors, paths) = (host.anchors, host.paths)
    followed = FollowedElements(host)
    super.init()
  }

  var L: LuaStack { state.stack }
  private let followed: FollowedElements
  /// Whether some table is a leaf for `**`.
  @exclusivity(unchecked) var hasOpaqueTables = false
  /// Whether a name was applied to a plain list, which may be a mistake.
  @exclusivity(unchecked) var hasMetLists = false

  /// A step of a path.
  struct Step {
    let path: Path
    let number: Int
  }

  /// The node of the table on top of the stack, made if necessary. [-1, +0, -]
  ///
  /// A new node also prepares the key of the step that applies to it; `isWhole` says that all its
  /// keys will be watched.
  func node(
    _ L: LuaStack, for step: Step? = nil, isWhole: Bool = false
  ) throws(LuaError) -> NodeRef {
    // A finalizer may call this while the state closes, when a new node would outlive its table.
    guard !host.isClosed else {
      L.pop()
      throw .closed
    }
    if let table = clua_node_at(L.pointer, -1), clua_node_isthere(L.pointer, table) {
      L.pop()
      return node(of: table)
    }
    if let step, paths.name(step.number, of: step.path) != nil {
      do throws(LuaError) { try paths.pushKey(step.number, of: step.path, to: L) } catch {
        L.pop()
        throw error
      }
    } else {
      L.pushNil()
    }
    var made: OpaquePointer?
    try state.check(
      clua_try_node_prepare(L.pointer, isWhole ? CInt(CLUA_PREPARE_WHOLE) : 0, &made), L)
    return node(of: made!)
  }

  /// The engine's node of an observed table, made if necessary.
  func node(of table: OpaquePointer) -> NodeRef {
    if let owner = clua_node_owner(table) { return owner.assumingMemoryBound(to: Node.self) }
    let node = engine.nodes.make(kind: self, object: UnsafeMutableRawPointer(table))
    clua_node_setowner(table, node)
    return node
  }

  /// The engine's node of the table at `index`, or nil. [-0, +0, -]
  static func existingNode(at index: CInt, of L: LuaStack) -> NodeRef? {
    guard let node = clua_node_livingat(L.pointer, index) else { return nil }
    return clua_node_owner(node)?.assumingMemoryBound(to: Node.self)
  }

  /// Pushes the key of a slot. [-0, +1, -]
  static func pushKey(of slot: SlotRef, to L: LuaStack) {
    clua_node_pushkey(
      L.pointer, table(slot.pointee.node),
      UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self))
  }

  /// Whether `node` belongs to a table.
  func isKind(of node: NodeRef) -> Bool {
    node.pointee.kind.toOpaque() == Unmanaged<NodeKind>.passUnretained(self).toOpaque()
  }

  static func table(_ node: NodeRef) -> OpaquePointer { OpaquePointer(node.pointee.object) }

  override var firstIndex: Int { 1 }

  override func slot(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> SlotRef {
    let L = L
    let kind = clua_node_kind(TableKind.table(node))
    switch component.kind {
    case .every, .deep:
      // Lazy properties have to be declared for their changes to be reported.
      if clua_node_hasmodel(L.pointer, TableKind.table(node)) {
        try state.check(clua_try_node_declareall(L.pointer, TableKind.table(node)), L)
      }
      return try everySlot(of: node, L)
    case .operation:
      return try everySlot(of: node, L)
    case .name where component.isCount && kind != CLUA_KIND_PLAIN:
      return try everySlot(of: node, L)
    case .name where kind == CLUA_KIND_ARRAY || kind == CLUA_KIND_SET:
      return try everySlot(of: node, L)
    case .member where kind == CLUA_KIND_SET:
      return try keySlot(of: node, step, path)
    case .member:
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "'\(component)' names a member of a set, and this is \(kind.noun)")
    case .slot where kind == CLUA_KIND_SET, .element where kind == CLUA_KIND_SET,
      .key where kind == CLUA_KIND_SET:
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "a set has no positions (key_of names its members, as '&…')")
    case .slot where kind == CLUA_KIND_ARRAY && component.number < path.firstIndex:
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "slot numbers start at \(path.firstIndex)")
    case .slot where kind == CLUA_KIND_DICTIONARY:
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "a dictionary has no slots (obs.path(\(component.number)) is an integer key)")
    case .name where component.isMetamethodName:
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "names that begin with '__' are metamethods to Lua and cannot be observed")
    case .name, .key, .slot, .element:
      return try keySlot(of: node, step, path)
    }
  }

  /// The slot of a plain table's name that is observed or prepared, found without calling Lua's
  /// library.
  override func knownSlot(at step: Int, of path: Path, on node: NodeRef) -> SlotRef? {
    let table = TableKind.table(node)
    guard let name = paths.name(step, of: path) else { return nil }
    let place = clua_node_placeofname(table, name)
    guard place > 0 else { return nil }
    if let slot = clua_node_slotat(table, place) {
      return UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self)
    }
    guard clua_node_takesslot(table, place) else { return nil }
    let slot = engine.slots.make(on: node, key: 0)
    clua_node_setslotat(
      table, place, UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self))
    if clua_node_waslist(table) { hasMetLists = true }
    return slot
  }

  private func keySlot(of node: NodeRef, _ step: Int, _ path: Path) throws -> SlotRef {
    let L = L
    let table = TableKind.table(node)
    let height = L.height
    defer { L.height = height }
    try pushKey(step, of: path, on: node, to: L)
    if L.isNil(at: -1) {
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "'\(path.components[step])' names no member (key_of returns the names of members)")
    }
    if let slot = clua_node_slot(L.pointer, table, -1) {
      return UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self)
    }
    try checkName(of: table, step, path, L)
    let slot = try slot(forKeyAt: -1, of: node, L)
    if path.components[step].kind == .name, clua_node_waslist(table) { hasMetLists = true }
    return slot
  }

  /// The slot of the key at an index, made if necessary. [-0, +0, -]
  func slot(
    forKeyAt index: CInt, of node: NodeRef, _ L: LuaStack
  ) throws(LuaError) -> SlotRef {
    let table = TableKind.table(node)
    if let slot = clua_node_slot(L.pointer, table, index) {
      return UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self)
    }
    let slot = engine.slots.make(on: node, key: 0)
    let cSlot = UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self)
    if clua_node_setslot(L.pointer, table, index, cSlot) { return slot }
    L.pushCopy(at: index)
    let status = clua_try_node_watch(L.pointer, table, cSlot)
    guard status == LUA_OK else {
      engine.slots.discard(slot)
      throw state.takeError(status, L)
    }
    return slot
  }

  /// Pushes the key of a component; nil for the name of a member that is gone. [-0, +1, -]
  private func pushKey(
    _ step: Int, of path: Path, on node: NodeRef, to L: LuaStack
  ) throws(LuaError) {
    guard path.components[step].kind == .member else {
      return try paths.pushKey(step, of: path, to: L)
    }
    try state.push(bytes: path.components[step].bytes, to: L)
    try state.check(clua_try_pushnamedmember(L.pointer), L)
  }

  func everySlot(of node: NodeRef, _ L: LuaStack) throws(LuaError) -> SlotRef {
    if let every = node.pointee.every { return every }
    let slot = engine.slots.make(on: node, key: 0, isEvery: true)
    let status = clua_try_node_watchevery(
      L.pointer, TableKind.table(node),
      UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self))
    guard status == LUA_OK else {
      engine.slots.discard(slot)
      throw state.takeError(status, L)
    }
    return slot
  }

  // MARK: Digits

  /// Digits mean the object at position n of a list, or else the key n; if there is no value, `#n`
  /// was meant (P2).
  override func element(
    _ component: Path.Component, at step: Int, of path: Path, on node: NodeRef
  ) throws -> Element {
    let L = L
    let kind = clua_node_kind(TableKind.table(node))
    if kind == CLUA_KIND_SET || kind == CLUA_KIND_DICTIONARY {
      return .key(try slot(component, at: step, of: path, on: node))
    }
    let height = L.height
    defer { L.height = height }
    clua_node_pushtable(L.pointer, TableKind.table(node))
    try paths.pushKey(step, of: path, to: L)
    let position = L.integer(at: -1) ?? 0
    guard L.isTable(at: height + 1), L.getOwn(at: height + 1) != .nil else {
      throw PathError(
        .unsupported, path: path.description, component: step + 1,
        detail: "\(kind.definiteNoun) has nothing at \(component) "
          + (try hasName(component, L)
            ? "(its key \"\(component)\" is a string: obs.path(\"\(component)\"))"
            : "(write '#\(component)' to watch the slot)"))
    }
    if position < 1 || position > L.ownLength(at: height + 1) {
      return .key(try keySlot(of: node, step, path))
    }
    let list = try everySlot(of: node, L)
    return .object(list, anchor: try followed.follow(position, of: node))
  }

  /// Whether the table below the value on top of the stack has the digits as a string key.
  private func hasName(
    _ component: Path.Component, _ L: LuaStack
  ) throws(LuaError) -> Bool {
    guard L.isTable(at: -2) else { return false }
    try state.push(bytes: component.bytes, to: L)
    return L.getOwn(at: -3) != .nil
  }

  override func holds(_ anchor: Int, in node: NodeRef) -> Bool {
    followed.isThere(anchor, in: node)
  }

  override func child(of anchor: Int, in node: NodeRef) -> Child {
    let L = L
    let height = L.height
    defer { L.height = height }
    followed.push(anchor, of: node, to: L)
    return observable(L)
  }

  override func departure(
    _ anchor: Int, at step: Int, of path: Path, from node: NodeRef
  ) -> AnyObject? { followed.departure(anchor, from: node) }

  override func releaseElement(_ anchor: Int, of node: NodeRef) {
    followed.release(anchor, of: node, isClosed: host.isClosed)
  }

  override func child(_ node: NodeRef, at step: Int, of path: Path) -> Child {
    let L = L
    let height = L.height
    defer { L.height = height }
    let table = TableKind.table(node)
    let next = Step(path: path, number: step + 1)
    if let name = paths.name(step, of: path) {
      let place = clua_node_placeofname(table, name)
      if place > 0, clua_node_pushvalueofname(L.pointer, table, place) {
        return observable(L, for: next)
      }
    }
    clua_node_pushtable(L.pointer, table)
    guard pushValue(at: step, of: path, on: node, L) else { return .none }
    return observable(L, for: next)
  }

  /// Pushes the value at a component of the table on top of the stack; returns false without one.
  /// [-0, +any, -]
  private func pushValue(
    at step: Int, of path: Path, on node: NodeRef, _ L: LuaStack
  ) -> Bool {
    guard L.isTable(at: -1), (try? pushKey(step, of: path, on: node, to: L)) != nil,
      !L.isNil(at: -1)
    else { return false }
    if path.components[step].kind == .member {
      L.getOwn(at: -2)
    } else if clua_node_islazy(L.pointer, TableKind.table(node), -1) {
      return pushLazyValue(of: node, L)
    } else {
      L.getInherited(at: -2)
    }
    return true
  }

  /// Pushes the value of the lazy key on top of the stack: wiring computes a property on a path,
  /// though no code reads it.
  private func pushLazyValue(of node: NodeRef, _ L: LuaStack) -> Bool {
    guard let slot = clua_node_slot(L.pointer, TableKind.table(node), -1),
      let lazy = UnsafeMutableRawPointer(slot).assumingMemoryBound(to: Slot.self).pointee.lazy
    else { return false }
    if lazy.pointee.traits.contains(.uncached) {
      let name = state.keyName(at: -1, of: L)
      let status = clua_try_gettable(L.pointer, -2)
      if status == LUA_OK { return true }
      host.reports.reportError(
        status, L, .getter, name: name, site: host.lazies.site(of: lazy),
        cause: host.lazies.cause(of: lazy))
      return false
    }
    guard engine.dependents.settleUnread(lazy) else { return false }
    clua_lazy_pushvalue(L.pointer, lazy.number, false)
    return true
  }

  /// Whether the key on top of the stack is lazy, and has no value because its getter failed.
  private func isFailed(of node: NodeRef, _ L: LuaStack) -> Bool {
    guard !L.isNil(at: -1), clua_node_islazy(L.pointer, TableKind.table(node), -1) else {
      return false
    }
    return clua_node_slot(L.pointer, TableKind.table(node), -1)?.pointee.valid == 0
  }

  /// The node of the value on top of the stack, if it can be observed; `step` applies to it.
  func observable(_ L: LuaStack, for step: Step? = nil, isWhole: Bool = false) -> Child {
    switch L.type(at: -1) {
    case .table:
      // No node would be made, and each attempt would cost an error.
      if state.interrupter.isEngineStopping {
        return TableKind.existingNode(at: -1, of: L).map(Child.node) ?? .none
      }
      L.pushCopy(at: -1)
      do { return .node(try node(L, for: step, isWhole: isWhole)) } catch {
        noteUnreadable(error)
        return .none
      }
    case .userdata:
      guard let object = host.objects.object(at: -1, of: L) else { return .none }
      return observedNode(of: object, in: engine)
    default:
      return .none
    }
  }

  override func forEachChild(_ node: NodeRef, _ visit: (NodeRef) -> Void) {
    let L = L
    let height = L.height
    defer { L.height = height }
    guard hasRoom(L) else { return }
    clua_node_pushtable(L.pointer, TableKind.table(node))
    guard L.isTable(at: -1) else { return }
    notingFailure {
      try state.forEachEntry(at: height + 1, of: L) {
        if case .node(let child) = observable(L) { visit(child) }
      }
    }
  }

  override func derivedValue(_ component: Path.Component, of node: NodeRef) -> Int? {
    let table = TableKind.table(node)
    guard component.isCount else { return nil }
    if component.kind != .operation {
      guard component.kind == .name, clua_node_kind(table) != CLUA_KIND_PLAIN else { return nil }
    }
    return Int(clamping: clua_node_size(L.pointer, table))
  }

  // MARK: Members

  override func spreads(_ component: Path.Component, over node: NodeRef) -> Bool {
    let kind = clua_node_kind(TableKind.table(node))
    return component.kind == .name && !component.isCount
      && (kind == CLUA_KIND_ARRAY || kind == CLUA_KIND_SET)
  }

  override func forEachMember(
    _ node: NodeRef, in scope: MemberScope, _ visit: (Member) -> Bool
  ) {
    goThroughMembers(of: node, in: scope, visit)
  }

  override func movesObjects(_ change: Change) -> Bool { canMoveObjects(change) }

  override func changesKeys(_ change: Change) -> Bool {
    guard let write = change.values?.assumingMemoryBound(to: clua_write.self) else { return false }
    return write.pointee.was != write.pointee.is
  }

  override var knowsFormerContents: Bool { true }

  override func forEachArrival(_ change: Change, _ visit: (NodeRef) -> Void) {
    if !visitArrivals(change, visit) { super.forEachArrival(change, visit) }
  }

  override func isOpaque(_ node: NodeRef) -> Bool { hasOpaqueTables && isMarkedOpaque(node) }

  override func element(atEnd isLast: Bool, of node: NodeRef) -> Member? {
    end(isLast: isLast, of: node)
  }

  override func operand(_ node: NodeRef, at step: Int, of path: Path) -> Operand {
    let component = path.components[step]
    if let size = derivedValue(component, of: node) { return .integer(size) }
    let L = L
    let height = L.height
    defer { L.height = height }
    clua_node_pushtable(L.pointer, TableKind.table(node))
    if pushValue(at: step, of: path, on: node, L) { return state.operand(at: -1, of: L) }
    return isFailed(of: node, L) ? .opaque(type: "value that could not be computed") : .none
  }

  // MARK: Journals

  /// The journals of tables whose members are followed.
  @exclusivity(unchecked) private var journals: [NodeRef: TableJournal] = [:]
  /// The journal that was requested last, because a write and its delivery request it several
  /// times.
  @exclusivity(unchecked) private var latestJournal: (node: NodeRef, journal: TableJournal)?

  override func beginJournal(of node: NodeRef) -> Bool {
    let table = TableKind.table(node)
    // Keep the length as writes will report it from now on; until then, the border may be any.
    clua_node_journal(L.pointer, table, true)
    setJournal(TableJournal(host, of: table, length: Int(clua_node_length(table))), of: node)
    return true
  }

  override func endJournal(of node: NodeRef) {
    let table = TableKind.table(node)
    setJournal(nil, of: node)
    if host.isClosed { return }
    clua_node_journal(L.pointer, table, false)
    L.pushNil()
    clua_node_setjournal(L.pointer, table)
  }

  /// Drops the journal of a table that is gone; the values that the journal kept go with the table.
  func abandonJournal(of node: NodeRef) {
    if !journals.isEmpty { setJournal(nil, of: node) }
  }

  private func setJournal(_ journal: TableJournal?, of node: NodeRef) {
    (journals[node], latestJournal) = (journal, nil)
  }

  /// The journal of a node whose edits are read.
  func journal(of node: NodeRef) -> TableJournal? {
    if let latestJournal, latestJournal.node == node { return latestJournal.journal }
    guard !journals.isEmpty, let journal = journals[node] else { return nil }
    latestJournal = (node, journal)
    return journal
  }

  override func journalEnd(of node: NodeRef) -> Int { journal(of: node)?.end ?? 0 }

  override func trimJournal(of node: NodeRef, before position: Int) {
    journal(of: node)?.trim(before: position, L)
  }

  override func compactJournal(of node: NodeRef, for readers: [Int]) {
    journal(of: node)?.compact(for: readers, L)
  }

  override func forEachMemberChange(
    _ node: NodeRef, in scope: MemberScope, since position: Int,
    _ visit: (_ member: Member, _ count: Int) -> Bool
  ) -> Bool {
    goThroughChanges(of: node, in: scope, since: position, visit)
  }

  override func hasEdits(_ node: NodeRef, since position: Int) -> Bool {
    isEdited(node, since: position)
  }

  func record(_ write: clua_write, of node: NodeRef, _ L: LuaStack) {
    journal(of: node)?.record(write, L)
  }

  // MARK: Lifetime

  override func anchor(_ node: NodeRef) -> Bool { keepTable(of: node) }

  override func isThere(_ node: NodeRef) -> Bool {
    clua_node_isthere(L.pointer, TableKind.table(node))
  }

  override func lose(_ node: NodeRef) { clua_node_lose(L.pointer, TableKind.table(node)) }

  override func release(_ node: NodeRef) { releaseTable(of: node) }

  override func forget(_ slot: SlotRef) {
    clua_node_unwatch(
      L.pointer, TableKind.table(slot.pointee.node),
      UnsafeMutableRawPointer(slot).assumingMemoryBound(to: clua_slot.self))
  }

  override func tidy(_ node: NodeRef) {
    let L = L
    let height = L.height
    defer { L.height = height }
    // A failure leaves the keys where they are, which a script cannot notice.
    _ = clua_try_node_tidy(L.pointer, TableKind.table(node))
  }

  /// True if scripts were stopped, or must stop, so that the turn ends soon: moving back the keys
  /// of a long list takes a while.
  override var unobservesLater: Bool {
    state.interrupter.hasStopped || state.interrupter.isStopping
  }

  override func unobserve(_ node: NodeRef) -> Bool {
    let L = L
    let table = TableKind.table(node)
    let height = L.height
    clua_node_setowner(table, nil)
    // The slots were forgotten one by one; a failure leaves the table as it is, which a script
    // cannot notice.
    _ = clua_try_node_unobserve(L.pointer, table)
    L.height = height
    return true
  }

  /// Ends all nodes as the state closes: its finalizers must not reach the engine.
  func abandonAll() {
    clua_observation_close(L.pointer)
    engine.nodes.forEach { node in
      if isKind(of: node) { engine.nodes.end(node) }
    }
    (journals, latestJournal) = ([:], nil)
  }

  // MARK: Names

  override func name(of slot: SlotRef) -> String {
    if slot.pointee.isEvery { return "*" }
    let L = L
    TableKind.pushKey(of: slot, to: L)
    defer { L.pop() }
    if clua_node_kind(TableKind.table(slot.pointee.node)) == CLUA_KIND_SET {
      guard clua_try_pushmembername(L.pointer) == LUA_OK else { return "&" }
      return "&" + state.text(at: -1, of: L)
    }
    return state.keyName(at: -1, of: L)
  }

  override func title(of node: NodeRef) -> String { tableTitle(of: node) }

  override func address(of node: NodeRef) -> UInt { tableAddress(of: node) }

  override func recordKey(_ change: Change, in lines: inout RunLines) {
    lines.addKey(of: write(of: change), at: change, L)
  }

  override func recordWrite(_ change: Change, in lines: inout RunLines) {
    lines.add(write(of: change), at: change, L)
  }

  override func recordContents(of node: NodeRef, in lines: inout RunLines) {
    addContents(of: node, to: &lines)
  }

  override func observedObjects(
    at slot: SlotRef, firstIndex: Int
  ) -> [(key: String?, node: NodeRef)] { observedObjects(at: slot) }

  override func observedChanged(_ slot: SlotRef, name: String, isObserved: Bool) {
    host.receiver.hooks.call(slot, name: name, isObserved: isObserved)
  }
}

extension clua_kind {
  fileprivate var noun: String {
    switch self {
    case CLUA_KIND_ARRAY: "an array"
    case CLUA_KIND_SET: "a set"
    case CLUA_KIND_DICTIONARY: "a dictionary"
    default: "a table"
    }
  }

  fileprivate var definiteNoun: String { self == CLUA_KIND_ARRAY ? "the array" : "the table" }
}

extension Path.Component {

  /// Whether the component names a metamethod, which is never intercepted (P11).
  fileprivate var isMetamethodName: Bool {
    bytes.count >= 2 && bytes[0] == UInt8(ascii: "_") && bytes[1] == UInt8(ascii: "_")
  }
}
