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
        context: context, index: name.index))
    watchers.add(watcher)
    root.append(watcher)
    if !flags.contains(.lazy) { statistics.watchers += 1 }
    if flags.isDisjoint(with: [.lazy, .probing]) { transactions.note(name) }
    return watcher
  }

  /// The watcher of this name, if it has not ended.
  package func watcher(_ name: WatcherID) -> WatcherRef? { watchers[name] }

  /// Every watcher and lazy property that has not ended, in no order.
  package func forEachWatcher(_ body: (WatcherRef) -> Void) {
    // `body` may end some of them.
    for index in 0..<watchers.endIndex {
      if let watcher = watchers.watcher(at: index) { body(watcher) }
    }
  }
}

extension NodeRef {
  /// Adds a watcher that is rooted at this node, as the last: watchers are in order of
  /// registration.
  fileprivate func append(_ watcher: WatcherRef) {
    watcher.pointee.previous = pointee.lastWatcher
    if let last = pointee.lastWatcher {
      last.pointee.next = watcher
    } else {
      pointee.firstWatcher = watcher
    }
    pointee.lastWatcher = watcher
  }

  func remove(_ watcher: WatcherRef) {
    let (previous, next) = (watcher.pointee.previous, watcher.pointee.next)
    if let previous { previous.pointee.next = next } else { pointee.firstWatcher = next }
    if let next { next.pointee.previous = previous } else { pointee.lastWatcher = previous }
  }
}
