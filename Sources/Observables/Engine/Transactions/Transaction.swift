/// Writes to some objects, and to all objects below them, that can be taken back (S8).
///
/// A transaction covers an object by a link to it, or by the link of another watcher that follows
/// the whole tree. At the first write to each covered object the keeper saves the former contents.
/// Objects that do not report their former contents are read when they are covered. An object that
/// is put below a covered one is covered from then on.
///
/// A transaction can be opened and closed several times, and continues to cover its objects in
/// between. Used on the thread of the loop that observes the objects.
public final class Transaction {
  package let engine: Engine
  /// Its number in the engine, from its beginning to its end.
  let bit: Int
  /// Nil if its owner has ended.
  private weak var keeper: (any TransactionKeeper)?
  private let receiver: Receiver
  /// The object covered first, and the watcher and path with a link to each covered object.
  private var links: (root: NodeRef, watcher: WatcherID, wire: WireRef)?
  /// Paths of watchers of whole trees, whose links the transaction uses to cover objects.
  private var adopted: [WireRef] = []

  /// The objects written since it was opened, in the order of their first writes.
  private var written: [NodeRef] = []
  private var places: [NodeRef: Int] = [:]
  /// The lazy properties that changed since then, with the value if it had been assigned.
  private var lazies: [(name: WatcherID, assigned: AnyObject?)] = []
  private var knownLazies: Set<WatcherID> = []

  private var isOpen = false
  private var isRestoring = false
  /// Whether objects may have left since the links were made.
  private var hasMoved = false
  /// Why an object put below a covered one could not be covered, or its contents not be saved.
  package private(set) var failure: (any Error)?

  /// Begins a transaction whose links are charged to `receiver`; nil if there are too many.
  package init?(
    in engine: ObservationCore.Engine, keeper: any TransactionKeeper,
    receiver: ObservationCore.Receiver = .init(), isOfTurns: Bool = false
  ) {
    (self.engine, self.keeper, self.receiver) = (engine, keeper, receiver)
    guard let bit = engine.transactions.takeBit(isOfTurns: isOfTurns) else { return nil }
    self.bit = bit
  }

  /// The path for the links, made for the first object; nil if the object is gone.
  private func wire(for node: NodeRef) -> WireRef? {
    if let links { return engine.watchers[links.watcher] == nil ? nil : links.wire }
    // The links end with the object of their watcher, so this object is kept alive.
    guard engine.transactions.anchor(node) else { return nil }
    let watcher = engine.watchers.make(
      root: node, receiver: receiver, traits: [.probing, .covering], context: bit)
    let wire = engine.wiring.beginObjects(of: watcher)
    links = (node, watcher.identity, wire)
    return wire
  }

  // MARK: Covering

  /// Covers an object and all objects below it, before or while the transaction is open.
  ///
  /// With `mayAdopt`, it may use the links of a watcher that follows exactly these objects.
  ///
  /// - Throws: the keeper's error for an object whose contents it cannot restore, or an error if
  ///   memory is short.
  /// - Complexity: O(objects below); O(1) with the links of such a watcher.
  package func cover(_ root: NodeRef, mayAdopt: Bool = false) throws {
    if isCovered(root) { return }
    if mayAdopt, root.kind.knowsFormerContents, let wire = engine.transactions.adoptable(at: root) {
      engine.transactions.adopt(wire, by: bit)
      adopted.append(wire)
      return
    }
    var work: [NodeRef] = []
    func add(_ node: NodeRef) throws {
      try coverOne(node)
      work.append(node)
    }
    try reading {
      try add(root)
      var next = 0
      while next < work.count {
        var failure: (any Error)?
        work[next].kind.forEachMember(work[next], in: .covered) { member in
          guard let node = member.node, !node.isDead, !isCovered(node) else { return true }
          do { try add(node) } catch { failure = error }
          return failure == nil
        }
        if let failure { throw failure }
        next += 1
      }
    }
  }

  /// Runs `body`, which makes links, and throws the error if an object could not be read.
  private func reading(_ body: () throws -> Void) throws {
    let failure = try engine.records.hold {
      try engine.operations.collectingFailure { try engine.operations.wiring(body) }
    }
    if let failure { throw failure }
  }

  /// Whether the transaction covers an object.
  package func isCovered(_ node: NodeRef) -> Bool {
    var isCovered = false
    engine.records.forEach(from: node.pointee.every?.pointee.links.first) { link in
      let other = link.pointee.wire
      isCovered = isCovered || other == links?.wire || link.isOfTree && adopted.contains(other)
    }
    return isCovered
  }

  /// Covers objects by links of the transaction, because the path that covered them ends.
  func cover(all nodes: [NodeRef], insteadOf path: WireRef) {
    adopted.removeAll { $0 == path }
    engine.transactions.release([path], by: bit)
    do {
      try reading {
        for node in nodes where !node.isDead && !isCovered(node) { try coverOne(node) }
      }
    } catch {
      failure = failure ?? error
    }
  }

  private func coverOne(_ node: NodeRef) throws {
    guard let wire = wire(for: node) else { return }
    try keeper?.cover(node, in: self)
    try engine.wiring.link(node, by: wire)
  }

  /// Covers an object, but no objects below it.
  package func cover(only node: NodeRef) throws {
    if !isCovered(node) { try reading { try coverOne(node) } }
  }

  /// Covers exactly the objects that are now at and below the roots.
  ///
  /// - Throws: as ``cover(_:mayAdopt:)``.
  package func coverAnew(_ roots: [NodeRef]) throws {
    guard hasMoved, let first = roots.first, let wire = wire(for: first) else { return }
    var (reached, work) = (Set(roots), roots)
    try reading {
      while let node = work.popLast() {
        if !isCovered(node) { try coverOne(node) }
        node.kind.forEachMember(node, in: .covered) { member in
          if let node = member.node, !node.isDead, reached.insert(node).inserted {
            work.append(node)
          }
          return true
        }
      }
    }
    hasMoved = false
    for link in wire.links {
      if let node = link.pointee.slot?.pointee.node, !reached.contains(node) {
        engine.wiring.detach(link)
      }
    }
  }

  // MARK: Writes

  /// Opens the transaction: later writes can be taken back.
  package func open() {
    isOpen = true
    failure = nil
    engine.transactions.open(self)
  }

  /// Saves the contents of a covered object before a write, and covers objects that the write adds.
  func note(_ change: Change) {
    let node = change.node
    guard let keeper else { return }
    if !isRestoring, places[node] == nil, engine.transactions.anchor(node) {
      do {
        if try keeper.keep(node, change, in: self) {
          places[node] = written.count
          written.append(node)
        } else {
          engine.transactions.release(node)
        }
      } catch {
        engine.transactions.release(node)
        failure = failure ?? error
      }
    }
    guard !change.isSame, node.kind.movesObjects(change) else { return }
    hasMoved = true
    if isRestoring || failure != nil { return }
    keeper.withoutLimits {
      do {
        try reading {
          var failure: (any Error)?
          node.kind.forEachArrival(change) { node in
            guard failure == nil, !node.isDead else { return }
            do { try cover(node) } catch { failure = error }
          }
          if let failure { throw failure }
        }
      } catch {
        failure = failure ?? error
      }
    }
  }

  /// Whether the transaction takes back writes that are made now.
  var ownsWrites: Bool { keeper?.ownsWrites ?? true }

  /// Notes that a lazy property of a covered object is about to change.
  func note(_ lazy: WatcherRef) {
    guard !isRestoring, ownsWrites, let slot = lazy.slot,
      knownLazies.insert(lazy.identity).inserted
    else { return }
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    let isAssigned = slot.pointee.isValid && lazy.isAssigned
    lazies.append((lazy.identity, isAssigned ? receiver.value(of: lazy, isBase: false) : nil))
  }

  /// Corrects the saved contents after another transaction took back writes that this one has seen.
  func correct(by other: Transaction) {
    for node in other.written where places[node] != nil {
      if let earlier = other.keeper { keeper?.correct(node, by: earlier) }
    }
  }

  // MARK: Its end

  /// Takes back the writes since the transaction was opened; it stays open.
  package func restore() {
    isRestoring = true
    hasMoved = true
    keeper?.restore(written, in: self)
    engine.transactions.correctOthers(after: self)
    for (name, assigned) in lazies {
      if let lazy = engine.watchers[name] { restore(lazy, assigned) }
    }
    isRestoring = false
  }

  /// Restores a lazy property: assigns an assigned value again; any other value is computed again
  /// when it is needed.
  private func restore(_ lazy: WatcherRef, _ assigned: AnyObject?) {
    guard let slot = lazy.slot else { return }
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    let isValid = slot.pointee.isValid
    if let assigned, isValid, lazy.isAssigned, receiver.has(assigned, as: lazy) { return }
    // A property without a stored value would announce a change.
    if isValid { engine.lazies.invalidate(explicitly: lazy) }
    if let assigned { receiver.assign(assigned, to: lazy) }
  }

  /// Closes the transaction, after its writes were kept or taken back; the objects stay covered.
  package func close(isUndone: Bool) {
    guard isOpen else { return }
    isOpen = false
    engine.transactions.close(bit, isUndone: isUndone)
    keeper?.forget(written, in: self, wereRestored: isUndone)
    for node in written { engine.transactions.release(node) }
    (written, places, lazies, knownLazies) = ([], [:], [], [])
  }

  /// Ends the transaction; an open one is closed, and its writes stay.
  package func end() {
    close(isUndone: false)
    engine.transactions.release(adopted, by: bit)
    adopted = []
    if let links {
      if let watcher = engine.watchers[links.watcher] { engine.watchers.stop(watcher) }
      engine.transactions.release(links.root)
    }
    links = nil
    engine.transactions.end(bit)
  }
}

/// Saves and restores the contents of the objects of a transaction.
package protocol TransactionKeeper: AnyObject {
  /// Whether the transaction takes back writes that are made now.
  var ownsWrites: Bool { get }
  /// Called when an object is covered.
  ///
  /// - Throws: an error for an object whose contents could not be restored.
  func cover(_ node: NodeRef, in transaction: Transaction) throws
  /// Saves the contents of an object before the first write since the transaction was opened; false
  /// if this write does not concern the transaction.
  func keep(_ node: NodeRef, _ change: Change, in transaction: Transaction) throws -> Bool
  /// Replaces the saved contents of an object by another keeper's, if these were saved earlier.
  func correct(_ node: NodeRef, by other: any TransactionKeeper)
  /// Restores the saved contents of objects.
  func restore(_ nodes: [NodeRef], in transaction: Transaction)
  /// Discards the saved contents of objects, when the transaction is closed.
  func forget(_ nodes: [NodeRef], in transaction: Transaction, wereRestored: Bool)
  /// Runs `body` without the limits of scripts.
  func withoutLimits(_ body: () -> Void)
}

extension TransactionKeeper {
  package var ownsWrites: Bool { true }
  package func cover(_ node: NodeRef, in transaction: Transaction) throws {}
  package func keep(_ node: NodeRef, _ change: Change, in transaction: Transaction) throws -> Bool {
    true
  }
  package func correct(_ node: NodeRef, by other: any TransactionKeeper) {}
  package func forget(_ nodes: [NodeRef], in transaction: Transaction, wereRestored: Bool) {}
  package func withoutLimits(_ body: () -> Void) { body() }
}
