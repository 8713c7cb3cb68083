/// `**` (X1): a step that leads to an object, to what is stored in it, to what is stored in that,
/// and so on.
///
/// Each object below has one link at the step of `**`, whose children are the links of the objects
/// that are stored in it, at the same step, and the first link of the rest of the path. An object
/// that several ways lead to has one link all the same: it hangs below the one that has found it,
/// and the others have joined it (`Routes`), so that what leaves is known without looking at what
/// stays. Registration costs O(objects below), a subtree that comes or leaves O(its size), once per
/// flush. Writes of values that are no objects do not reach the links.
extension Members {
  /// An object with more members than this has its changes kept; others are looked through again.
  private static let longest = 32

  /// Fills a link of `**` with what is stored in `node`; returns the objects to go on with.
  func openDeep(_ link: LinkRef, on node: NodeRef) -> [NodeRef] {
    // An opaque object that is the root is watched, but nothing below it.
    if node.kind.isOpaque(node) {
      link.pointee.wire.pointee.hasOthers = true
      return []
    }
    let state = LinkState(.deep)
    var children: [NodeRef] = []
    var count = 0
    node.kind.forEachMember(node, in: state.scope) { member in
      count += 1
      guard let child = member.node, !child.isDead else { return }
      if let known = state.members[child] {
        state.members[child] = FanMember(count: known.count + 1)
      } else if child.kind.isOpaque(child) {
        link.pointee.wire.pointee.hasOthers = true
      } else {
        state.members[child] = FanMember(count: 1)
        children.append(child)
      }
    }
    // Most objects hold no others.
    if children.isEmpty, count <= Members.longest { return [] }
    link.adopt(state)
    readJournal(state, of: node, ifLong: count)
    wiring.chargeMembers(of: link, state)
    return children
  }

  /// Has the changes of an object kept that has many members.
  func readJournal(_ state: LinkState, of node: NodeRef, ifLong count: Int) {
    guard !state.isReading, count > Members.longest, !node.isDead else { return }
    state.isReading = true
    beginReading(state, of: node)
  }

  // MARK: Objects that come and leave

  /// An object came below `**` (1), or left (-1), after the path was registered.
  func noteMove(of node: NodeRef, at link: LinkRef, _ count: Int) {
    let wire = link.pointee.wire
    guard wire.pointee.phase == .attached, let routes = wire.routes else { return }
    routes.noteMove(of: node, at: link.pointee.step, count)
    wire.pointee.watcher.pointee.flags.insert(.moved)
  }

  /// A value below `**` left with its object before its change was delivered.
  func noteLostValue(at link: LinkRef) {
    guard let routes = link.routes else { return }
    routes.noteLostValue()
    link.pointee.wire.pointee.watcher.pointee.flags.insert(.moved)
  }

  /// The first path of a watcher below whose `**` objects came or left since this was asked last.
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

  /// Takes out the links to and below an opaque object; a path that begins at it keeps its first
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
  /// Whether some component is `**`.
  var hasDeepSteps: Bool { deepStep != Int.max }
}

extension LinkRef {
  /// Whether the link is one of `**`.
  @inline(__always)
  var isDeep: Bool { pointee.effect.contains(.objects) }
  /// Whether the link is to an object of a whole tree, which a transaction may use.
  var isOfTree: Bool { isDeep || pointee.wire.pointee.use == .objects }

  /// Whether the link belongs to the rest of a path behind `**`.
  var isBelowDeep: Bool {
    pointee.wire.pointee.path._withUnsafeGuaranteedRef { Int(pointee.step) > $0.deepStep }
  }

  /// Whether this is a link of `**`, and `link` belongs to the rest of the path.
  func isDeep(above link: LinkRef) -> Bool {
    isDeep && link.pointee.step > pointee.step
  }
}
