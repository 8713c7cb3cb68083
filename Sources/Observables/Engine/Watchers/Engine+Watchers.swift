/// Making watchers and finding them again.
extension Engine {
  /// The index that the next watcher will have; in memory that a bridge without Swift can read.
  package var nextIndex: UnsafeMutablePointer<Int> { watchers.nextIndex }

  /// Makes a watcher of the object of `root`, without paths.
  package func makeWatcher(
    root: NodeRef, receiver: Receiver, flags: WatcherRecord.Flags, context: Int = 0
  ) -> WatcherRef {
    let name = watchers.nextName
    let flags = receiver.chargesLinks ? flags.union(.charged) : flags
    let watcher = records.make(
      WatcherRecord(
        id: name.number, flags: flags, root: root, receiver: .passRetained(receiver),
        context: context, index: name.index,
        payer: receiver.payer))
    watchers.add(watcher)
    root.pointee.watchers.append(watcher)
    if !flags.contains(.lazy) { statistics.watchers += 1 }
    if flags.isDisjoint(with: [.lazy, .probing]) { transactions.note(name) }
    return watcher
  }

  /// The watcher of this name, if it has not ended.
  package func watcher(_ name: WatcherID) -> WatcherRef? { watchers[name] }

  /// Every watcher and lazy property that has not ended, in no order.
  package func forEachWatcher(_ body: (WatcherRef) -> Void) {
    // `body` may end some of them.
    records.hold {
      for index in 0..<watchers.endIndex {
        if let watcher = watchers.watcher(at: index) { body(watcher) }
      }
    }
  }

  /// Runs code that walks along records while any of them may end: their memory stays until it
  /// returns.
  package func holdingRecords<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result { try records.hold(body) }

  /// The watchers and lazy properties that are rooted at a node, in order of registration; `body`
  /// may end any of them.
  package func forEachWatcher(of root: NodeRef, _ body: (WatcherRef) -> Void) {
    records.forEach(from: root.pointee.watchers.first, body)
  }
}
