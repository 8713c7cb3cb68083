/// Components that are digits: they follow the object that was there, wherever it moves in its
/// list, until it leaves (C4). Whether it has left is looked at in the flush, when the watcher's
/// turn comes.
extension Engine {
  /// A path whose object has left.
  struct Departure {
    let path: Path
    /// The change that is delivered to an immediate watcher.
    let change: AnyObject?
  }

  /// Takes away the paths whose object left its list, and returns the first; nil where all are
  /// there.
  func takeDepartures(of watcher: WatcherRef) -> Departure? {
    var first: Departure?
    var left: [LinkRef] = []
    forEachWire(of: watcher) { wire in
      guard wire.pointee.path._withUnsafeGuaranteedRef({ $0.hasElements }) else { return }
      forEachLink(of: wire) { link in
        guard link.isAnchored, let anchor = link.pointee.anchor, let slot = link.pointee.slot else {
          return
        }
        let node = slot.pointee.node
        if !node.isDead, !node.kind.holds(anchor, in: node) { left.append(link) }
      }
    }
    // A path may leave by two of its objects at once, and is removed with the one nearest to the
    // root.
    var gone: Set<WireRef> = []
    for link in left where !gone.contains(link.pointee.wire) {
      let wire = link.pointee.wire
      if first == nil { first = departure(of: link) }
      if isBelowWildcard(link) {
        // The watcher's other paths go on; this one stays as it is until its list is replaced.
        release(link)
        link.pointee.endFollowing()
        detachAll(below: link)
      } else {
        gone.insert(wire)
        end(wire, of: watcher)
      }
    }
    return first
  }

  /// Whether digits behind a link, where another list lies now, are followed from the flush on
  /// only: what is written to the list before belongs to the same turn.
  ///
  /// Lazy properties do not wait, nor do the lists below a wildcard.
  func awaitsFlush(_ link: LinkRef, _ watcher: WatcherRef) -> Bool {
    if watcher.pointee.flags.contains(.lazy) || link.pointee.state != nil
      || operations.isFollowing(watcher)
    {
      return false
    }
    link.pointee.awaitsFlush = true
    checkDeparturesInFlush(of: watcher)
    return true
  }

  /// Brings the links of a watcher up to date in the flush, where digits anchor.
  ///
  /// False when the watcher ended meanwhile.
  func rewireInFlush(_ watcher: WatcherRef) -> Bool {
    if watcher.pointee.flags.contains(.checkingDepartures) {
      forEachWire(of: watcher) { wire in
        forEachLink(of: wire) { link in
          guard link.pointee.awaitsFlush else { return }
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
    let isImmediate = link.pointee.wire.pointee.watcher.pointee.flags.contains(.immediate)
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

  /// The kind forgets the object of an anchored link.
  func release(_ link: LinkRef) {
    guard let anchor = link.pointee.anchor, let node = link.pointee.slot?.pointee.node, !node.isDead
    else { return }
    node.kind.releaseElement(anchor, of: node)
  }

  func forEachWire(of watcher: WatcherRef, _ body: (WireRef) -> Void) {
    for wire in Chain(watcher.pointee.wires) { body(wire) }
  }

  /// Every link of a path, the nearest to the root first; `body` takes none out.
  func forEachLink(of wire: WireRef, _ body: (LinkRef) -> Void) {
    var link = wire.pointee.top
    while var current = link {
      body(current)
      link = current.pointee.child
      while link == nil {
        link = current.pointee.sibling
        if link == nil {
          guard let parent = current.pointee.parent else { return }
          current = parent
        }
      }
    }
  }
}

extension LinkRef {
  /// True for a link that follows an object in its list.
  var isAnchored: Bool {
    pointee.hasAnchor && kind == .element
  }

  var component: Path.Component {
    pointee.wire.pointee.path._withUnsafeGuaranteedRef { $0.steps[Int(pointee.step)] }
  }

  var kind: Path.Component.Kind {
    pointee.wire.pointee.path._withUnsafeGuaranteedRef { $0.kinds[Int(pointee.step)] }
  }
}
