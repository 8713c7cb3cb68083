/// What tools ask about watchers.
extension Engine {
  /// The watchers with a link in `slot`, and the path it belongs to, earliest registered first.
  package func forEachWatcher(of slot: SlotRef, _ body: (WatcherRef, Path) -> Void) {
    var link = slot.pointee.first
    while let current = link {
      link = current.pointee.next
      let wire = current.pointee.wire
      if wire.pointee.watcher.pointee.flags.contains(.probing) { continue }
      body(wire.pointee.watcher, wire.pointee.path.takeUnretainedValue())
    }
  }

  /// The paths of a watcher, in the order in which they were added.
  package func paths(of watcher: WatcherRef) -> [Path] {
    var paths: [Path] = []
    var wire = watcher.pointee.wires
    while let current = wire {
      wire = current.pointee.next
      paths.append(current.pointee.path.takeUnretainedValue())
    }
    return paths
  }

  /// The component at which a path of the watcher ends before its end: there is no object there.
  package func firstUnreachable(of watcher: WatcherRef) -> String? {
    rewire(watcher)
    var wire = watcher.pointee.wires
    while let current = wire {
      wire = current.pointee.next
      guard var link = current.pointee.top else { continue }
      while let child = link.pointee.child { link = child }
      if !link.pointee.isTerminal {
        let path = current.pointee.path.takeUnretainedValue()
        return path.components[Int(link.pointee.step)].description
      }
    }
    return nil
  }
}
