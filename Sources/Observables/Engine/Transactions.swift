/// The transactions that are open, and the watchers that are pending only for what was written in
/// them (S8).
///
/// Such a watcher is *tentative*. A write outside of what the transactions cover makes it an
/// ordinary one. Where a transaction is undone, its tentative watchers are not called: they are
/// *undone*, which the flush finds out, as their paths may have to be followed all the same.
struct Transactions {
  /// The watchers that became tentative in each of the open transactions, the outermost first.
  private var levels: [[WatcherID]] = []

  @inline(__always) var isOpen: Bool { !levels.isEmpty }

  mutating func open() { levels.append([]) }

  /// Notes a watcher that became pending by a write to what is covered.
  mutating func add(_ watcher: WatcherID) { levels[levels.count - 1].append(watcher) }

  /// Ends the innermost transaction; the watchers of one that is kept belong to the next outer one.
  mutating func close() -> [WatcherID] { levels.removeLast() }

  mutating func keep(_ watchers: [WatcherID]) {
    if isOpen { levels[levels.count - 1].append(contentsOf: watchers) }
  }
}

extension Engine {
  /// Whether a transaction is open.
  package var isInTransaction: Bool { transactions.isOpen }

  /// Opens a transaction inside of those that are open.
  ///
  /// What it covers says `cover`.
  package func openTransaction() { transactions.open() }

  /// Ends the innermost transaction, whose writes were taken back if `isUndone`.
  package func closeTransaction(isUndone: Bool) {
    let watchers = transactions.close()
    if !isUndone { transactions.keep(watchers) }
    if !isUndone, transactions.isOpen { return }
    for name in watchers {
      guard let watcher = watcher(name), watcher.pointee.flags.contains(.tentative) else {
        continue
      }
      watcher.pointee.flags.remove(.tentative)
      if isUndone { watcher.pointee.flags.insert(.undone) }
    }
    // What is written from now on has to be noticed again.
    if isUndone { rearmQuietSlots() }
  }

  /// Writes to the object belong to transactions from now on, or, taken back, no more.
  package func cover(_ node: NodeRef, by count: Int32) { node.pointee.coverings += count }

  /// A watcher became pending by a write.
  @inline(__always)
  func noteTentative(_ watcher: WatcherRef, _ change: Change) {
    guard transactions.isOpen, change.node.pointee.coverings > 0 else { return }
    watcher.pointee.flags.insert(.tentative)
    transactions.add(watcher.identity)
  }

  /// A watcher that a transaction has made pending is on the path of another write.
  func revise(_ watcher: WatcherRef, _ change: Change) {
    if watcher.pointee.flags.contains(.undone) {
      watcher.pointee.flags.remove(.undone)
      noteTentative(watcher, change)
      watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.noteCause(of: watcher) }
    } else if change.node.pointee.coverings == 0 {
      watcher.pointee.flags.remove(.tentative)
    }
  }
}
