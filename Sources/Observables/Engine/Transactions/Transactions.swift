/// The open transactions, and the watchers that are stale only for writes in them (S8).
///
/// Such a watcher is *tentative*. For each write that makes it stale, the covering transactions are
/// recorded. The write is taken back as soon as one of these is undone, and becomes an ordinary
/// write when all of them are kept. If all writes of a watcher were taken back, it only has to
/// check: the flush brings its paths up to date, and compares values that may have changed for
/// other reasons.
package struct Transactions: Room {
  package let rooms: Rooms

  struct State {
    /// The bits in use, and the bits of the open transactions.
    fileprivate var used: Bits = 0
    fileprivate var open: Bits = 0
    /// The bits of whole turns that may be undone; open ones do not prevent flushes.
    fileprivate var turns: Bits = 0
    /// For each watcher, the sets of transactions that cover its writes, each set once; also for
    /// watchers that are called for other reasons.
    fileprivate var writes: [WatcherID: Set<Bits>] = [:]
    /// The watchers concerned by a write in a transaction, by the positions of the bits.
    fileprivate var members: [[WatcherID]] = []
    /// The length of `made` when a transaction was opened, by the positions of the bits.
    fileprivate var firstMade: [Int] = []
    /// The turns for whose writes watchers were called: they are called for the way back, too.
    fileprivate var seen: [WatcherID: Bits] = [:]
    /// The watchers and witnesses made in open transactions, in order.
    fileprivate var made: [Made] = []
    /// The transactions that cover all checks of a watcher, while one is open.
    fileprivate var checks: [WatcherID: Bits] = [:]
    /// The transactions that have begun, by the positions of their bits.
    fileprivate var all: [Transaction?] = []
    /// The paths whose links transactions use to cover whole trees, with these transactions.
    fileprivate var adopted: [WireRef: Bits] = [:]
    /// By transaction: the versions before it of properties without a stored value that got a new
    /// one in it.
    fileprivate var announced: [Int: [WatcherID: Int]] = [:]
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.transactions) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.transactions)
    }
  }

  /// A set of transactions: each has a bit, from its beginning to its end.
  typealias Bits = UInt64

  /// An object made in a transaction: it is not notified of writes there that are taken back.
  enum Made {
    case watcher(WatcherID)
    case witness(Witness)
  }
  struct Witness {
    weak var object: (any TransactionWitness)?
  }

  /// Whether a transaction is open that allows no flush.
  @inline(__always) package var isOpen: Bool { state.open & ~state.turns != 0 }

  /// Whether turns that may be undone are open: these allow flushes.
  @inline(__always) private var hasTurns: Bool { state.open & state.turns != 0 }

  /// Whether either is open.
  @inline(__always) private var isAnyOpen: Bool { state.open != 0 }

  /// Assigns a bit to a transaction that begins; nil if none is left.
  ///
  /// A transaction of turns is opened again and again, also between turns; flushes are allowed in
  /// it.
  func takeBit(isOfTurns: Bool) -> Int? {
    let bit = (~state.used).trailingZeroBitCount
    guard bit < Bits.bitWidth else { return nil }
    state.used |= 1 << Bits(bit)
    if isOfTurns { state.turns |= 1 << Bits(bit) }
    while state.members.count <= bit {
      state.members.append([])
      state.firstMade.append(0)
      state.all.append(nil)
    }
    return bit
  }

  /// Ends a transaction that is closed.
  func end(_ bit: Int) {
    state.used &= ~(1 << Bits(bit))
    state.turns &= ~(1 << Bits(bit))
    state.all[bit] = nil
  }

  /// Opens a transaction: later writes to its covered objects may be taken back.
  func open(_ transaction: Transaction) {
    let bit = transaction.bit
    state.all[bit] = transaction
    state.open |= 1 << Bits(bit)
    state.firstMade[bit] = state.made.count
    // The first write to each object is reported.
    slots.rearmQuiet()
  }

  // MARK: Which objects are covered

  /// The open transactions that cover an object.
  @inline(__always)
  private func covering(_ node: NodeRef) -> Bits { coverings(of: node) & state.open }

  /// The open transactions that take back writes made now to an object.
  private func ownCovering(_ node: NodeRef) -> Bits {
    var bits = covering(node)
    if bits == 0 { return 0 }
    for case let transaction? in state.all where !transaction.ownsWrites {
      bits &= ~(1 << Bits(transaction.bit))
    }
    return bits
  }

  /// The transactions that cover an object, open or not.
  private func coverings(of node: NodeRef) -> Bits {
    var bits: Bits = 0
    records.forEach(from: node.pointee.every?.pointee.links.first) { link in
      let wire = link.pointee.wire
      let watcher = wire.pointee.watcher
      if watcher.pointee.traits.contains(.covering) {
        bits |= 1 << Bits(watcher.pointee.context)
      } else if !state.adopted.isEmpty, link.isOfTree {
        bits |= state.adopted[wire, default: 0]
      }
    }
    return bits
  }

  /// Whether any of these transactions covers an object.
  func covers(_ node: NodeRef, _ bits: Bits) -> Bool { coverings(of: node) & bits != 0 }

  /// A watcher's path with links to exactly the objects at and below `root`, which a transaction
  /// can use instead of making links.
  ///
  /// Nil if no path is suitable, or if some of the objects have to be read when they are covered.
  func adoptable(at root: NodeRef) -> WireRef? {
    if members.hasNotedOpaque { return nil }
    var found: WireRef?
    watchers.forEach(of: root) { watcher in
      guard found == nil, watcher.pointee.isActive, !watcher.pointee.isPaused,
        watcher.pointee.traits.isDisjoint(with: [.lazy, .covering, .immediate, .comparing])
      else { return }
      wiring.forEachWire(of: watcher) { wire in
        guard found == nil, wire.isWholeTree else { return }
        // The path does not yet follow writes that another transaction may take back.
        if wire.pointee.stale != nil, isOpen { return }
        // An object added last may be one that has to be read.
        if wiring.follows(wire), wire.isWholeTree { found = wire }
      }
    }
    return found
  }

  /// Notes that a transaction uses the links of a path, which stay unchanged until `release`.
  func adopt(_ wire: WireRef, by bit: Int) { state.adopted[wire, default: 0] |= 1 << Bits(bit) }

  func release(_ wires: [WireRef], by bit: Int) {
    for wire in wires {
      let rest = state.adopted[wire, default: 0] & ~(1 << Bits(bit))
      state.adopted[wire] = rest == 0 ? nil : rest
    }
  }

  /// Whether a transaction uses the links of a path: they must not follow changes until it ends.
  @inline(__always)
  func holds(_ wire: WireRef) -> Bool { !state.adopted.isEmpty && state.adopted[wire] != nil }

  /// Called before a path ends: transactions that use its links make their own links.
  func willEnd(_ wire: WireRef) {
    guard let bits = state.adopted[wire] else { return }
    let nodes = wire.links.filter { $0.isOfTree }.compactMap { $0.pointee.slot?.pointee.node }
    for case let transaction? in state.all where bits & 1 << Bits(transaction.bit) != 0 {
      transaction.cover(all: nodes, insteadOf: wire)
    }
  }

  /// Notifies the transactions that cover an object of a write, before its watchers are notified.
  @inline(__always)
  package func note(_ change: Change) { if isAnyOpen { noteOpen(change) } }

  private func noteOpen(_ change: Change) {
    let bits = covering(change.node)
    if bits == 0 { return }
    for case let transaction? in state.all where bits & 1 << Bits(transaction.bit) != 0 {
      transaction.note(change)
    }
  }

  /// Notifies the transactions that cover an object of a lazy property that gets or loses a value.
  @inline(__always)
  func note(_ lazy: WatcherRef) { if isAnyOpen { noteOpen(lazy) } }

  private func noteOpen(_ lazy: WatcherRef) {
    guard let node = lazy.slot?.pointee.node, !node.isDead else { return }
    let bits = covering(node)
    if bits == 0 { return }
    for case let transaction? in state.all where bits & 1 << Bits(transaction.bit) != 0 {
      transaction.note(lazy)
    }
  }

  /// Keeps a written object alive until `release`; false if it is gone.
  func anchor(_ node: NodeRef) -> Bool {
    if node.isDead || node.pointee.anchors == 0 && !node.kind.anchor(node) { return false }
    node.pointee.anchors += 1
    return true
  }

  func release(_ node: NodeRef) {
    node.pointee.anchors -= 1
    if node.pointee.anchors == 0, !node.isDead { node.kind.release(node) }
  }

  /// Corrects other transactions that saved contents which a transaction had written and now takes
  /// back: they have to restore the contents from before.
  func correctOthers(after transaction: Transaction) {
    for case let other? in state.all where other !== transaction {
      other.correct(by: transaction)
    }
  }

  /// Notes a new watcher.
  @inline(__always)
  func note(_ watcher: WatcherID) { if isOpen { state.made.append(.watcher(watcher)) } }

  func note(_ witness: any TransactionWitness) {
    if isOpen { state.made.append(.witness(Witness(object: witness))) }
  }

  /// Forgets records that matter only while a transaction is open.
  private func forgetChecks() { if !isOpen { state.checks = [:] } }

  /// Whether a transaction covers all checks of a watcher.
  private func coversChecks(of watcher: WatcherID, _ bit: Int) -> Bool {
    state.checks[watcher, default: ~0] & 1 << Bits(bit) != 0
  }

  /// Returns the watchers and witnesses made in a transaction that is now closed.
  private func takeMade(in bit: Int) -> [Made] {
    let isOfTurns = state.turns & 1 << Bits(bit) != 0
    let found = isOfTurns ? [] : Array(state.made[min(state.firstMade[bit], state.made.count)...])
    if !isOpen { state.made = [] }
    return found
  }

  /// Notes a write that makes a watcher stale; false if the write can no longer be taken back
  /// without calling the watcher.
  private func add(_ watcher: WatcherID, _ covering: Bits) -> Bool {
    var covering = covering
    if !state.seen.isEmpty { covering &= ~state.seen[watcher, default: 0] }
    if covering == 0 { return false }
    guard state.writes[watcher, default: []].insert(covering).inserted else { return true }
    var rest = covering
    while rest != 0 {
      state.members[rest.trailingZeroBitCount].append(watcher)
      rest &= rest - 1
    }
    return true
  }

  /// Closes a transaction; returns the watchers that are no longer tentative.
  private func takeUnconcerned(by bit: Int, isUndone: Bool) -> [WatcherID] {
    let own: Bits = 1 << Bits(bit)
    state.open &= ~own
    defer {
      state.members[bit] = []
      if !state.seen.isEmpty {
        state.seen = state.open == 0 ? [:] : state.seen.mapValues { $0 & ~own }
      }
    }
    return state.members[bit].filter { watcher in
      guard let known = state.writes[watcher] else { return false }
      let left = isUndone ? known.filter { $0 & own == 0 } : Set(known.map { $0 & ~own })
      let isTentative = isUndone ? !left.isEmpty : !left.contains(0)
      state.writes[watcher] = isTentative ? left : nil
      return !isTentative
    }
  }

  /// Closes a transaction, whose writes were kept or taken back.
  func close(_ bit: Int, isUndone: Bool) {
    let announced = state.announced.removeValue(forKey: bit) ?? [:]
    for name in takeUnconcerned(by: bit, isUndone: isUndone) {
      guard let watcher = watchers[name], watcher.pointee.flags.contains(.tentative) else {
        continue
      }
      watcher.pointee.flags.remove(.tentative)
      if isUndone {
        watcher.pointee.flags.insert(.undone)
        watcher.pointee.lower()
        forgetAnnouncements(to: watcher, since: announced)
      }
    }
    let made = takeMade(in: bit)
    defer { forgetChecks() }
    guard isUndone else { return }
    // In reverse order: a later witness builds on the state of an earlier one.
    for case .witness(let witness) in made.reversed() {
      witness.object?.transactionWasTakenBack(1 << Transactions.Bits(bit))
    }
    for case .watcher(let name) in made {
      if let watcher = watchers[name], coversChecks(of: name, bit) {
        forgetNews(of: watcher)
      }
    }
    // Later writes have to be reported again.
    slots.rearmQuiet()
  }

  /// Makes the current state the known state of a watcher that was made in an undone transaction,
  /// so it is not called for the writes that were taken back.
  private func forgetNews(of watcher: WatcherRef) {
    // Only the flush finds out whether an object has left a list (C4).
    guard watcher.pointee.root != nil, watcher.pointee.status == .check,
      !watcher.pointee.traits.contains(.immediate),
      watcher.pointee.flags.isDisjoint(with: [.running, .anchoring])
    else { return }
    let name = watcher.identity
    records.hold {
      guard dependents.follow(watcher), dependents.refresh(watcher) != nil, watchers[name] != nil
      else { return }
      _ = members.takeEdits(of: watcher) { _, _ in }
      watcher.pointee.status = .clean
      watcher.pointee.flags.remove(.undone)
      delivery.releaseAnchorIfIdle(of: watcher)
    }
  }

  /// Takes back announcements to a watcher by properties without a stored value: the watcher has no
  /// value to compare.
  ///
  /// `known` has the versions from before the transaction; what was announced then stays.
  private func forgetAnnouncements(to watcher: WatcherRef, since known: [WatcherID: Int]) {
    wiring.forEachWireWithWork(of: watcher) { wire in
      records.forEachDirty(of: wire) { link in
        guard !link.isBelowOperator, let slot = link.pointee.slot, !slot.pointee.isEvery,
          let lazy = slot.pointee.lazy, lazy.pointee.traits.contains(.uncached),
          link.pointee.version == known[lazy.identity]
        else { return }
        link.pointee.version = lazy.version
      }
    }
  }

  /// Notes that a property without a stored value is about to get a new version.
  @inline(__always)
  func noteAnnouncement(of lazy: WatcherRef) {
    if isAnyOpen { noteOpenAnnouncement(of: lazy) }
  }

  private func noteOpenAnnouncement(of lazy: WatcherRef) {
    var rest = state.open
    while rest != 0 {
      let bit = rest.trailingZeroBitCount
      if state.announced[bit]?[lazy.identity] == nil {
        state.announced[bit, default: [:]][lazy.identity] = lazy.version
      }
      rest &= rest - 1
    }
  }

  // MARK: Reasons for calls

  /// Notes that a watcher becomes pending: by a change or, with nil, for a reason that no
  /// transaction can take back.
  @inline(__always)
  func note(_ watcher: WatcherRef, _ status: WatcherRecord.Status, _ change: Change?) {
    if isAnyOpen { noteOpen(watcher, status, change) }
  }

  private func noteOpen(
    _ watcher: WatcherRef, _ status: WatcherRecord.Status, _ change: Change?
  ) {
    let covering = change.map { ownCovering($0.node) } ?? 0
    if status != .stale {
      if isOpen, change != nil { state.checks[watcher.identity, default: ~0] &= covering }
    } else if covering != 0, add(watcher.identity, covering) {
      watcher.pointee.flags.insert(.tentative)
    } else {
      watcher.pointee.flags.remove(.tentative)
    }
  }

  /// Notes a change for a watcher whose call is already certain.
  @inline(__always)
  func noteCertain(_ watcher: WatcherRef, _ change: Change?) {
    if hasTurns, let change { _ = add(watcher.identity, ownCovering(change.node)) }
  }

  /// Notes that a watcher is called in a flush.
  ///
  /// In a turn that may be undone the watcher sees the writes, so it is called for the way back,
  /// too.
  @inline(__always)
  func noteCall(of watcher: WatcherRef) {
    if hasTurns { noteCallInTurn(of: watcher) }
  }

  private func noteCallInTurn(of watcher: WatcherRef) {
    watcher.pointee.flags.remove(.tentative)
    let name = watcher.identity
    guard let known = state.writes.removeValue(forKey: name) else { return }
    state.seen[name, default: 0] |= known.reduce(0, |)
  }
}

/// An object with state that it read while a transaction was open.
protocol TransactionWitness: AnyObject {
  /// Called after the writes to the objects of a transaction were taken back.
  func transactionWasTakenBack(_ bits: Transactions.Bits)
}
