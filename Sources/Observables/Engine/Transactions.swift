/// The transactions that are open, and the watchers that are pending only for what was written in
/// them (S8).
///
/// Such a watcher is *tentative*. For each write that concerns it is known which of the
/// transactions cover the object: the write is taken back as soon as one of these is undone, and is
/// an ordinary one when all of them are kept. A watcher all of whose writes were taken back is not
/// called: it is *undone*, which the flush finds out, as its paths may have to be followed all the
/// same.
struct Transactions {
  /// Each transaction has a bit, from its beginning to its end.
  typealias Bits = UInt64

  /// The bits that are given out, and those of the transactions that are open.
  private var used: Bits = 0
  private var open: Bits = 0
  /// The bits of whole turns that may be undone: these are flushed all the same.
  private var turns: Bits = 0
  /// The transactions that cover what was written, by watchers and for each of their writes once.
  private var tentative: [WatcherID: Set<Bits>] = [:]
  /// The watchers that became tentative in a transaction, by the places of the bits.
  private var members: [[WatcherID]] = []
  /// How many watchers had been made when a transaction was opened, by the places of the bits.
  private var firstMade: [Int] = []
  /// The turns whose writes watchers were called for: they are told when these are taken back.
  private var told: [WatcherID: Bits] = [:]
  /// What was made in open transactions, in order.
  private var made: [Made] = []

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

  /// What was made in a transaction which is closed now.
  mutating func takeMade(in bit: Int) -> [Made] {
    let isOfTurns = turns & 1 << Bits(bit) != 0
    let found = isOfTurns ? [] : Array(made[min(firstMade[bit], made.count)...])
    if !isOpen { made = [] }
    return found
  }

  /// Notes a write that made a watcher pending, or concerns a tentative one; false where it cannot
  /// be taken back any more without telling the watcher.
  mutating func add(_ watcher: WatcherID, _ covering: Bits) -> Bool {
    var covering = covering
    if !told.isEmpty { covering &= ~told[watcher, default: 0] }
    if covering == 0 {
      tentative[watcher] = nil
      return false
    }
    guard tentative[watcher, default: []].insert(covering).inserted else { return true }
    var rest = covering
    while rest != 0 {
      members[rest.trailingZeroBitCount].append(watcher)
      rest &= rest - 1
    }
    return true
  }

  /// A tentative watcher is called.
  mutating func tell(_ watcher: WatcherID) {
    guard let writes = tentative.removeValue(forKey: watcher) else { return }
    told[watcher, default: 0] |= writes.reduce(0, |)
  }

  /// Ends a transaction; returns the watchers that are tentative no more.
  mutating func close(_ bit: Int, isUndone: Bool) -> [WatcherID] {
    let own: Bits = 1 << Bits(bit)
    open &= ~own
    defer {
      members[bit] = []
      if !told.isEmpty { told = open == 0 ? [:] : told.mapValues { $0 & ~own } }
    }
    return members[bit].filter { watcher in
      guard let writes = tentative[watcher] else { return false }
      let left =
        isUndone ? writes.filter { $0 & own == 0 } : Set(writes.map { $0 & ~own })
      let isTentative = isUndone ? !left.isEmpty : !left.contains(0)
      tentative[watcher] = isTentative ? left : nil
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
      if isUndone { watcher.pointee.flags.insert(.undone) }
    }
    let made = transactions.takeMade(in: bit)
    guard isUndone else { return }
    for case .witness(let witness) in made {
      witness.object?.transactionWasTakenBack(1 << Transactions.Bits(bit))
    }
    for case .watcher(let name) in made {
      if let watcher = watcher(name) { forgetNews(of: watcher) }
    }
    // What is written from now on has to be noticed again.
    rearmQuietSlots()
  }

  /// A watcher that was made in a transaction which was taken back hears nothing of that: what
  /// there is now is what it knows.
  private func forgetNews(of watcher: WatcherRef) {
    // Whether an object has left a list is found out by the flush (C4).
    guard watcher.pointee.root != nil, watcher.pointee.flags.contains(.undone),
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

  /// The transaction covers the object from now on, or does so no more.
  package func cover(_ node: NodeRef, by bit: Int, _ isCovered: Bool) {
    if isCovered {
      node.pointee.coverings |= 1 << UInt64(bit)
    } else {
      node.pointee.coverings &= ~(1 << UInt64(bit))
    }
  }

  /// A watcher became pending by a write.
  @inline(__always)
  func noteTentative(_ watcher: WatcherRef, _ change: Change) {
    let covering = transactions.covering(change.node)
    if covering != 0, transactions.add(watcher.identity, covering) {
      watcher.pointee.flags.insert(.tentative)
    }
  }

  /// A watcher that a transaction has made pending is on the path of another write.
  func revise(_ watcher: WatcherRef, _ change: Change) {
    if watcher.pointee.flags.contains(.undone) {
      watcher.pointee.flags.remove(.undone)
      noteTentative(watcher, change)
      watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.noteCause(of: watcher) }
    } else if !transactions.add(watcher.identity, transactions.covering(change.node)) {
      watcher.pointee.flags.remove(.tentative)
    }
  }

  /// A tentative watcher is called, in the flush of a turn that may be undone: it is told of that.
  func tell(_ watcher: WatcherRef) {
    watcher.pointee.flags.remove(.tentative)
    transactions.tell(watcher.identity)
  }
}
