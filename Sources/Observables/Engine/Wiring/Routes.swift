/// The routes of a path that goes over many objects.
///
/// One object at one step of a path is one link, however many routes lead there. The links form a
/// tree: each hangs below the link that first found its object (`Link.parent`). Other links that
/// reach the same object at the same step *join* the existing link, and this class records these
/// joins. If the tree is cut above a link, the link moves below one of the links that have joined
/// it and are outside of the cut. So a link lives exactly as long as a route leads to it, even if
/// lists contain each other. A path costs O(steps × objects) this way, a cut O(links and joins
/// below it).
///
/// A path without wildcards has no routes. The objects right below its first wildcard are recorded
/// only if one of them is a collection on whose elements the next name is looked up: nothing else
/// can lead to the same step.
final class Routes {
  private struct Place: Hashable {
    let step: Int32
    let node: NodeRef
  }

  /// The links of each step, by their objects.
  private var links: [Int32: [NodeRef: LinkRef]] = [:]
  /// For each link, the links that have joined it, besides its parent.
  private var joined: [LinkRef: Set<LinkRef>] = [:]
  /// For a link that leads to one object only, the link that it has joined.
  private var onward: [LinkRef: LinkRef] = [:]
  /// How often objects came (above 0) or left below `**` since the last call.
  private var moves: [Place: Int] = [:]
  /// Whether a link was removed whose derived value may differ: if its object is still there, the
  /// new link does not know the last delivered value.
  private var hasLostValue = false
  /// Links that lose their place in the tree while it is being cut.
  private var leaving: Set<LinkRef> = []

  /// The link of an object at a step.
  func link(at step: Int, of node: NodeRef) -> LinkRef? {
    links[Int32(truncatingIfNeeded: step)]?[node]
  }

  func add(_ link: LinkRef) {
    guard let node = link.pointee.slot?.pointee.node else { return }
    links[link.pointee.step, default: [:]][node] = link
  }

  /// The link that `link`, which leads to one object, has joined.
  func onward(of link: LinkRef) -> LinkRef? { onward[link] }

  /// Notes that `parent`, too, leads to the object of `link`.
  func join(_ parent: LinkRef, to link: LinkRef) {
    joined[link, default: []].insert(parent)
    if let state = parent.state, state.role != .end, !parent.isDeep(above: link),
      let node = link.pointee.slot?.pointee.node
    {
      state.members[node]?.link = link
    } else {
      onward[parent] = link
    }
  }

  /// Notes that `parent` no longer leads to the object of `link`; false if `parent` itself found
  /// the object.
  func leave(_ parent: LinkRef, from link: LinkRef) -> Bool {
    if link.pointee.parent == parent { return false }
    joined[link]?.remove(parent)
    if joined[link]?.isEmpty == true { joined[link] = nil }
    if onward[parent] == link { onward[parent] = nil }
    return true
  }

  func forEachJoined(to link: LinkRef, _ body: (LinkRef) -> Void) {
    joined[link]?.forEach(body)
  }

  /// Forgets a link that is gone.
  func forget(_ link: LinkRef, of node: NodeRef) {
    if links[link.pointee.step]?[node] == link { links[link.pointee.step]?[node] = nil }
    forEachJoin(of: link) { _ = leave(link, from: $0) }
    joined[link] = nil
  }

  /// The links that `link` has joined.
  private func forEachJoin(of link: LinkRef, _ body: (LinkRef) -> Void) {
    if let next = onward[link] { body(next) }
    guard let state = link.state else { return }
    for member in state.members.values {
      if let child = member.link, child.pointee.parent != link { body(child) }
    }
  }

  // MARK: Objects that come and leave

  func noteMove(of node: NodeRef, at step: Int32, _ count: Int) {
    let place = Place(step: step, node: node)
    let sum = (moves[place] ?? 0) + count
    moves[place] = sum == 0 ? nil : sum
  }

  func noteLostValue() { hasLostValue = true }

  /// Whether objects came or left below `**` since the last call.
  func takeMoves() -> Bool {
    if moves.isEmpty, !hasLostValue { return false }
    moves = [:]
    hasLostValue = false
    return true
  }

  // MARK: Cutting

  /// Moves each of `links`, which lose their place in the tree, with its subtree below another
  /// route, if one leads to it.
  ///
  /// - Returns: the other links.
  func rescue(_ links: [LinkRef]) -> [LinkRef] {
    if joined.isEmpty { return links }
    leaving = Set(links)
    for link in links where leaving.contains(link) {
      // Any parent will do. The lowest one does not depend on the order of a set.
      let parents = joined[link]?.filter { !leaving.contains($0) }
      if let parent = parents?.min() { move(link, below: parent) }
    }
    let rest = links.filter(leaving.contains)
    leaving = []
    return rest
  }

  private func move(_ link: LinkRef, below parent: LinkRef) {
    var moves = [(link, parent)]
    while let (link, parent) = moves.popLast() {
      guard leaving.contains(link) else { continue }
      let finder = link.pointee.parent
      _ = leave(parent, from: link)
      link.unhang()
      link.hang(below: parent)
      // The link that found the object may be moved as well, and then still leads there.
      if let finder, leaving.contains(finder) { join(finder, to: link) }
      // Its subtree stays, and so do the links that the subtree has joined.
      var staying = [link]
      while let link = staying.popLast() {
        leaving.remove(link)
        link.appendChildren(to: &staying)
        forEachJoin(of: link) { if leaving.contains($0) { moves.append(($0, link)) } }
      }
    }
  }
}

extension LinkRef {
  /// The routes of its path; nil if the path does not go over many objects.
  var routes: Routes? { pointee.wire.routes }

  /// The link one step further, for a link that leads to one object.
  @inline(__always)
  var onward: LinkRef? {
    if let child = pointee.child { return child }
    return pointee.wire.pointee.routes?._withUnsafeGuaranteedRef { $0.onward(of: self) }
  }

  /// True if the link leads to no other link.
  var isLast: Bool {
    onward == nil && state?.members.values.contains { $0.link != nil } != true
  }

  /// The links that lead to the object of this one.
  func forEachParent(_ body: (LinkRef) -> Void) {
    if let parent = pointee.parent { body(parent) }
    routes?.forEachJoined(to: self, body)
  }
}
