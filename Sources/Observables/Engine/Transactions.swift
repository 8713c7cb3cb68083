/// The transactions that are open, and the watchers that are stale only for what was written in
/// them (S8).
///
/// Such a watcher is *tentative*. For each write that makes it stale it is known which of the
/// transactions cover the object: the write is taken back as soon as one of these is undone, and is
/// an ordinary one when all of them are kept. A watcher all of whose writes were taken back has
/// only to check: the flush looks after its paths, and compares what may have changed besides.
struct Transactions {
  /// Each transaction has a bit, from its beginning to its end.
  typealias Bits = UInt64

  /// The bits that are given out, and those of the transactions that are open.
  private var used: Bits = 0
  private var open: Bits = 0
  /// The bits of whole turns that may be undone: these are flushed all the same.
  private var turns: Bits = 0
  /// The transactions that cover what was written, by watchers and for each of their writes once;
  /// also of watchers that are called for other reasons.
  private var writes: [WatcherID: Set<Bits>] = [:]
  /// The watchers that something concerns which was written in a transaction, by the places of the
  /// bits.
  private var members: [[WatcherID]] = []
  /// How long `made` was when a transaction was opened, by the places of the bits.
  private var firstMade: [Int] = []
  /// The turns whose writes watchers were called for: they are called for the way back, too.
  private var seen: [WatcherID: Bits] = [:]
  /// What was made in open transactions, in order.
  private var made: [Made] = []
  /// The transactions that cover all for which a watcher has to check, while one is open.
  private var checks: [WatcherID: Bits] = [:]

  /// What hears nothing of a transaction that is taken back, in which it was made.
  enum Made {
    case watcher(WatcherID)
    case witness(Witness)
  }
  struct Witness {
    weak var object: (any TransactionWitness)?
  }

  /// Whether a transaction is open inside of which there is no flush.
  @inline(__always) var isOpen: Bool { open & ~turns != 0 }

  /// Whether turns are open that may be undone, in which there are flushes.
  @inline(__always) var hasTurns: Bool { open & turns != 0 }

  /// Gives out a bit; nil where there is none left.
  mutating func takeBit(ofTurns isOfTurns: Bool) -> Int? {
    let bit = (~used).trailingZeroBitCount
    guard bit < Bits.bitWidth else { return nil }
    used |= 1 << Bits(bit)
    if isOfTurns { turns |= 1 << Bits(bit) }
    while members.count <= bit {
      members.append([])
      firstMade.append(0)
    }
    return bit
  }

  mutating func giveBack(_ bit: Int) {
    used &= ~(1 << Bits(bit))
    turns &= ~(1 << Bits(bit))
  }

  mutating func open(_ bit: Int) {
    open |= 1 << Bits(bit)
    firstMade[bit] = made.count
  }

  /// The open ones of the transactions that cover an object.
  @inline(__always)
  func covering(_ node: NodeRef) -> Bits { node.pointee.coverings & open }

  /// Notes a watcher that is made.
  @inline(__always)
  mutating func note(_ watcher: WatcherID) { if isOpen { made.append(.watcher(watcher)) } }

  mutating func note(_ witness: any TransactionWitness) {
    if isOpen { made.append(.witness(Witness(object: witness))) }
  }

  /// Notes a write for which a watcher has to check.
  mutating func noteCheck(_ watcher: WatcherID, _ covering: Bits) {
    checks[watcher, default: ~0] &= covering
  }

  /// Forgets what matters only while a transaction is open.
  mutating func forgetChecks() { if !isOpen { checks = [:] } }

  /// Whether a transaction covers all for which a watcher has to check.
  func coversChecks(of watcher: WatcherID, _ bit: Int) -> Bool {
    checks[watcher, default: ~0] & 1 << Bits(bit) != 0
  }

  /// What was made in a transaction which is closed now.
  mutating func takeMade(in bit: Int) -> [Made] {
    let isOfTurns = turns & 1 << Bits(bit) != 0
    let found = isOfTurns ? [] : Array(made[min(firstMade[bit], made.count)...])
    if !isOpen { made = [] }
    return found
  }

  /// Notes a write that makes a watcher stale; false where it cannot be taken back any more without
  /// calling the watcher.
  mutating func add(_ watcher: WatcherID, _ covering: Bits) -> Bool {
    var covering = covering
    if !seen.isEmpty { covering &= ~seen[watcher, default: 0] }
    if covering == 0 { return false }
    guard writes[watcher, default: []].insert(covering).inserted else { return true }
    var rest = covering
    while rest != 0 {
      members[rest.trailingZeroBitCount].append(watcher)
      rest &= rest - 1
    }
    return true
  }

  /// A watcher is called: it sees what was written.
  mutating func noteCall(of watcher: WatcherID) {
    guard let known = writes.removeValue(forKey: watcher) else { return }
    seen[watcher, default: 0] |= known.reduce(0, |)
  }

  /// Ends a transaction; returns the watchers that nothing of it makes due any more.
  mutating func close(_ bit: Int, isUndone: Bool) -> [WatcherID] {
    let own: Bits = 1 << Bits(bit)
    open &= ~own
    defer {
      members[bit] = []
      if !seen.isEmpty { seen = open == 0 ? [:] : seen.mapValues { $0 & ~own } }
    }
    return members[bit].filter { watcher in
      guard let known = writes[watcher] else { return false }
      let left = isUndone ? known.filter { $0 & own == 0 } : Set(known.map { $0 & ~own })
      let isTentative = isUndone ? !left.isEmpty : !left.contains(0)
      writes[watcher] = isTentative ? left : nil
      return !isTentative
    }
  }
}

/// What remembers a state that it saw while a transaction was open.
protocol TransactionWitness: AnyObject {
  /// The writes to the objects that a transaction covers were taken back.
  func transactionWasTakenBack(_ bits: Transactions.Bits)
}

extension Engine {
  /// Whether a transaction is open inside of which there is no flush.
  package var isInTransaction: Bool { transactions.isOpen }

  /// Begins a transaction that is opened and closed any number of times; the bit that stands for
  /// it, nil where there are too many.
  ///
  /// One `ofTurns` is open from the beginning of each turn to its end.
  package func beginTransaction(ofTurns isOfTurns: Bool = false) -> Int? {
    transactions.takeBit(ofTurns: isOfTurns)
  }

  /// Ends a transaction that is closed.
  package func endTransaction(_ bit: Int) { transactions.giveBack(bit) }

  /// What is written to the objects that the transaction covers may be taken back from now on.
  package func openTransaction(_ bit: Int) { transactions.open(bit) }

  /// What was written stays, or was taken back.
  package func closeTransaction(_ bit: Int, isUndone: Bool) {
    for name in transactions.close(bit, isUndone: isUndone) {
      guard let watcher = watcher(name), watcher.pointee.flags.contains(.tentative) else {
        continue
      }
      watcher.pointee.flags.remove(.tentative)
      if isUndone {
        watcher.pointee.flags.insert(.undone)
        watcher.pointee.lower()
        forgetAnnouncements(to: watcher)
      }
    }
    let made = transactions.takeMade(in: bit)
    defer { transactions.forgetChecks() }
    guard isUndone else { return }
    for case .witness(let witness) in made {
      witness.object?.transactionWasTakenBack(1 << Transactions.Bits(bit))
    }
    for case .watcher(let name) in made {
      if let watcher = watcher(name), transactions.coversChecks(of: name, bit) {
        forgetNews(of: watcher)
      }
    }
    // What is written from now on has to be noticed again.
    rearmQuietSlots()
  }

  /// A watcher that was made in a transaction which was taken back hears nothing of that: what
  /// there is now is what it knows.
  private func forgetNews(of watcher: WatcherRef) {
    // Whether an object has left a list is found out by the flush (C4).
    guard watcher.pointee.root != nil, watcher.pointee.status == .check,
      watcher.pointee.flags.isDisjoint(with: [.immediate, .running, .anchoring])
    else { return }
    let name = watcher.identity
    records.hold {
      guard settleDependencies(of: watcher), rewire(watcher), refresh(watcher) != nil,
        self.watcher(name) != nil
      else { return }
      _ = takeEdits(of: watcher) { _, _ in }
      watcher.pointee.status = .clean
      watcher.pointee.flags.remove(.undone)
      releaseAnchorIfIdle(of: watcher)
    }
  }

  /// Properties without a value of their own have announced to a watcher what was taken back: they
  /// have no value that it could compare.
  private func forgetAnnouncements(to watcher: WatcherRef) {
    forEachWireWithWork(of: watcher) { wire in
      records.forEachDirty(of: wire) { link in
        guard !link.isBelowOperator, let slot = link.pointee.slot, !slot.pointee.isEvery,
          let lazy = slot.pointee.lazy, lazy.pointee.flags.contains(.uncached)
        else { return }
        link.pointee.version = lazy.version
      }
    }
  }

  /// The transaction covers the object from now on, or does so no more.
  package func cover(_ node: NodeRef, by bit: Int, _ isCovered: Bool) {
    if isCovered {
      node.pointee.coverings |= 1 << UInt64(bit)
    } else {
      node.pointee.coverings &= ~(1 << UInt64(bit))
    }
  }

  /// A change makes a watcher stale that is not called whatever happens: it may be taken back.
  func noteTentative(_ watcher: WatcherRef, _ change: Change?) {
    let covering = change.map { transactions.covering($0.node) } ?? 0
    if covering != 0, transactions.add(watcher.identity, covering) {
      watcher.pointee.flags.insert(.tentative)
    } else {
      settleTentative(watcher)
    }
  }

  /// A watcher is called for a reason that no transaction takes back.
  @inline(__always)
  func settleTentative(_ watcher: WatcherRef) {
    watcher.pointee.flags.remove(.tentative)
  }

  /// A watcher is called in the flush of a turn that may be undone: it sees what was written, so it
  /// is called for the way back, too.
  func noteTentativeCall(of watcher: WatcherRef) {
    watcher.pointee.flags.remove(.tentative)
    transactions.noteCall(of: watcher.identity)
  }
}
