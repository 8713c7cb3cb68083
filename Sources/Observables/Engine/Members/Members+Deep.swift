/// `**` (X1): a step to an object, to every object stored in it, and so on, to any depth.
///
/// Each object below has one link at the step of `**`. Its children are the links of the objects
/// stored in it, at the same step, and the first link of the rest of the path. An object on several
/// routes still has only one link: this link hangs below the link that first found the object, and
/// the others have joined it (`Routes`), so links that leave are found without a look at the
/// remaining ones. Registration costs O(objects below); a subtree that comes or leaves costs O(its
/// size), once per flush. Writes of values that are not objects do not reach the links.
extension Members {
  /// Objects with more members than this keep a journal; for other objects all members are looked
  /// at again after a change.
  private static let longest = 32

  /// Fills a link of `**` with the members stored in `node`; returns the objects to continue with.
  func openDeep(_ link: LinkRef, on node: NodeRef) -> [NodeRef] {
    // An opaque root is watched, but nothing below it.
    if node.kind.isOpaque(node) {
      link.pointee.wire.pointee.hasOthers = true
      return []
    }
    let state = LinkState(.deep)
    var children: [NodeRef] = []
    var count = 0
    let payer = link.pointee.wire.chargedReceiver
    node.kind.forEachMember(node, in: state.scope) { member in
      count += 1
      guard let child = member.node, !child.isDead else { return !wiring.isRefused(payer) }
      if let known = state.members[child] {
        state.members[child] = FanMember(count: known.count + 1)
      } else if child.kind.isOpaque(child) {
        link.pointee.wire.pointee.hasOthers = true
      } else {
        state.members[child] = FanMember(count: 1)
        children.append(child)
      }
      return !wiring.isRefused(payer)
    }
    // Most objects contain no others.
    if children.isEmpty, count <= Members.longest { return [] }
    link.adopt(state)
    readJournal(state, of: node, ifLong: count)
    wiring.chargeMembers(of: link, state)
    return children
  }

  /// Starts reading a journal of an object, if it has many members.
  func readJournal(_ state: LinkState, of node: NodeRef, ifLong count: Int) {
    guard !state.isReading, count > Members.longest, !node.isDead else { return }
    state.isReading = true
    beginReading(state, of: node)
  }

  // MARK: Objects that come and leave

  /// Notes that an object came below `**` (1), or left (-1), after the path was registered.
  func noteMove(of node: NodeRef, at link: LinkRef, _ count: Int) {
    let wire = link.pointee.wire
    guard wire.pointee.phase == .attached, let routes = wire.routes else { return }
    routes.noteMove(of: node, at: link.pointee.step, count)
    wire.pointee.watcher.pointee.flags.insert(.moved)
  }

  /// Notes that a value below `**` left with its object before its change was delivered.
  func noteLostValue(at link: LinkRef) {
    guard let routes = link.routes else { return }
    routes.noteLostValue()
    link.pointee.wire.pointee.watcher.pointee.flags.insert(.moved)
  }

  /// The first path of a watcher with objects that came or left below `**` since the last call.
  func takeMoves(of watcher: WatcherRef) -> Path? {
    guard watcher.pointee.flags.contains(.moved) else { return nil }
    watcher.pointee.flags.remove(.moved)
    var first: Path?
    wiring.forEachWire(of: watcher) { wire in
      guard wire.pointee.path._withUnsafeGuaranteedRef({ $0.hasDeepSteps }),
        wire.routes?.takeMoves() == true
      else { return }
      first = first ?? wire.pointee.path.takeUnretainedValue()
    }
    return first
  }

  // MARK: Opaque objects

  /// Removes the links to and below an opaque object; a path that begins at it keeps its first
  /// link.
  func leave(_ link: LinkRef) {
    link.pointee.wire.pointee.hasOthers = true
    var parents: [LinkRef] = []
    link.forEachParent { if $0.pointee.step == link.pointee.step { parents.append($0) } }
    for parent in parents where parent != link && !link.pointee.isDead {
      wiring.detach(link, from: parent)
    }
    guard !link.pointee.isDead, let state = link.state else { return }
    for member in state.members.values {
      if let child = member.link, !child.pointee.isDead { wiring.detach(child, from: link) }
    }
    state.members = [:]
  }
}

extension Path {
  /// Whether any component is `**`.
  var hasDeepSteps: Bool { deepStep != Int.max }
}

extension LinkRef {
  /// Whether this is a link of `**`.
  @inline(__always)
  var isDeep: Bool { pointee.effect.contains(.objects) }
  /// Whether the link is to an object of a whole tree; a transaction may use such links.
  var isOfTree: Bool { isDeep || pointee.wire.pointee.use == .objects }

  /// Whether the link belongs to the rest of a path after `**`.
  var isBelowDeep: Bool {
    pointee.wire.pointee.path._withUnsafeGuaranteedRef { Int(pointee.step) > $0.deepStep }
  }

  /// Whether this is a link of `**`, and `link` belongs to the rest of the path.
  func isDeep(above link: LinkRef) -> Bool {
    isDeep && link.pointee.step > pointee.step
  }
}
