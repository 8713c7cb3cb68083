/// Digits in a path: they follow an element, wherever it moves in its list, until it leaves (C4).
/// The flush finds out whether it has left, when the watcher's turn comes.
extension Wiring {
  /// A path whose object has left.
  struct Departure {
    let path: Path
    /// The change that is delivered to an immediate watcher.
    let change: AnyObject?
  }

  /// Removes the paths whose object has left its list, and returns the first; nil if no object has
  /// left.
  func takeDepartures(of watcher: WatcherRef) -> Departure? {
    var first: Departure?
    forEachWire(of: watcher) { wire in
      guard wire.pointee.path._withUnsafeGuaranteedRef({ $0.hasElements }) else { return }
      // A path may lose several objects at once: removing the first may end links of the others.
      for link in wire.links where !link.pointee.isDead && hasLeft(link) {
        if first == nil { first = departure(of: link) }
        if isBelowWildcard(link) {
          // Other branches of the path continue; this one leads nowhere until its list is replaced.
          release(link)
          link.pointee.endFollowing()
          detachAll(below: link)
        } else {
          end(wire, of: watcher)
        }
      }
    }
    return first
  }

  /// Whether the object that the digits of a link follow is no longer in its list.
  private func hasLeft(_ link: LinkRef) -> Bool {
    guard link.isAnchored, let anchor = link.pointee.anchor, let node = link.node else {
      return false
    }
    return !node.isDead && !node.kind.holds(anchor, in: node)
  }

  /// Whether digits behind `link`, where there is another list now, bind to an element only in the
  /// flush: earlier writes to the list belong to the same turn.
  ///
  /// Digits in lazy properties and in lists below a wildcard bind at once, and so do digits that
  /// are a key of `node` and not a position.
  func awaitsFlush(
    _ link: LinkRef, _ watcher: WatcherRef, _ step: Int, _ path: Path, _ node: NodeRef
  ) -> Bool {
    if watcher.pointee.traits.contains(.lazy) || link.pointee.state != nil
      || operations.isFollowing(watcher) || isKey(step, of: path, on: node)
    {
      return false
    }
    link.pointee.awaitsFlush = true
    delivery.checkInFlush(watcher, isCause: true)
    return true
  }

  /// Whether digits mean a key of an object, and not the object at a position.
  private func isKey(_ step: Int, of path: Path, on node: NodeRef) -> Bool {
    switch try? node.kind.element(path.steps[step], at: step, of: path, on: node) {
    case .key: return true
    case .object(_, let anchor): node.kind.releaseElement(anchor, of: node)
    case nil: break
    }
    return false
  }

  /// Brings the links of a watcher up to date in the flush, where digits bind to elements.
  ///
  /// False if the watcher has ended.
  func rewireInFlush(_ watcher: WatcherRef) -> Bool {
    if watcher.pointee.flags.contains(.checkingDepartures) {
      forEachWire(of: watcher) { wire in
        for link in wire.links where link.pointee.awaitsFlush {
          link.pointee.awaitsFlush = false
          markStale(link)
        }
      }
    }
    return operations.following(watcher) { rewire(watcher, isItsTurn: true) }
  }

  private func departure(of link: LinkRef) -> Departure {
    let path = link.pointee.wire.pointee.path.takeUnretainedValue()
    let node = link.pointee.slot!.pointee.node
    let isImmediate = link.pointee.wire.pointee.watcher.pointee.traits.contains(.immediate)
    return Departure(
      path: path,
      change: isImmediate
        ? node.kind.departure(
          link.pointee.anchor!, at: Int(link.pointee.step), of: path, from: node) : nil)
  }

  private func isBelowWildcard(_ link: LinkRef) -> Bool {
    let path = link.pointee.wire.pointee.path._withUnsafeGuaranteedRef { $0 }
    return path.kinds[..<Int(link.pointee.step)].contains(.every)
  }

  /// Makes the kind forget the object of an anchored link.
  func release(_ link: LinkRef) {
    guard let anchor = link.pointee.anchor, let node = link.pointee.slot?.pointee.node, !node.isDead
    else { return }
    node.kind.releaseElement(anchor, of: node)
  }

  /// Calls `body` for the paths of a watcher, in the order they were added; `body` may end any of
  /// them.
  func forEachWire(of watcher: WatcherRef, _ body: (WireRef) -> Void) {
    records.forEach(from: watcher.pointee.wires.first, body)
  }
}

extension LinkRef {
  /// True for a link that follows an object in its list.
  var isAnchored: Bool { pointee.isAnchored }

  var component: Path.Component {
    pointee.wire.pointee.path._withUnsafeGuaranteedRef { $0.steps[Int(pointee.step)] }
  }

  var kind: Path.Component.Kind {
    pointee.wire.pointee.path._withUnsafeGuaranteedRef { $0.kinds[Int(pointee.step)] }
  }
}
