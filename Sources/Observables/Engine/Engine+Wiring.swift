/// Chains of links: made at registration, and re-made for replaced objects before a watcher runs.
///
/// Everything here is iterative: a path may have 10,000 components.
extension Engine {
  /// Adds a path to a watcher, from its observed object or from another one.
  ///
  /// If it throws, the watcher is as it was before.
  ///
  /// - Throws: `PathError` for a component that its object cannot have (P9, P11).
  /// - Complexity: O(length of the path), and the number of objects below each `*`.
  package func add(_ path: Path, to watcher: WatcherRef, from root: NodeRef? = nil) throws {
    if path.hasOperators { try path.checkOperators() }
    try add(path, to: watcher, from: root, isEditing: false)
  }

  func add(
    _ path: Path, to watcher: WatcherRef, from root: NodeRef? = nil, isEditing: Bool
  ) throws {
    guard let root = root ?? watcher.pointee.root else { return }
    let wire = wirePool.make(
      Wire(watcher: watcher, path: .passRetained(path), isEditing: isEditing))
    let hookCount = hookCalls.count
    let outer = beginWiring(watcher)
    do {
      try attach(wire, path, step: 0, to: root, below: nil, isStrict: true)
    } catch {
      free(wire)
      endWiring(watcher, outer)
      // Nothing was observed: the hooks need not know.
      hookCalls.removeSubrange(min(hookCount, hookCalls.count)...)
      throw error
    }
    guard endWiring(watcher, outer) else {
      free(wire)
      return
    }
    var end: WireRef? = watcher.pointee.wires
    if end == nil {
      watcher.pointee.wires = wire
    } else {
      while let next = end!.pointee.next { end = next }
      end!.pointee.next = wire
    }
    if isRecording { recorder?.registered(watcher, path) }
  }

  /// Takes a path away again; the watcher ends with its last one (L5).
  ///
  /// True if it had that path.
  package func remove(_ path: Path, from watcher: WatcherRef) -> Bool {
    var previous: WireRef?
    var wire = watcher.pointee.wires
    while let current = wire {
      if current.pointee.path._withUnsafeGuaranteedRef({ $0 == path }) {
        if let previous {
          previous.pointee.next = current.pointee.next
        } else {
          watcher.pointee.wires = current.pointee.next
        }
        free(current)
        if watcher.pointee.wires == nil { stop(watcher) }
        return true
      }
      previous = current
      wire = current.pointee.next
    }
    return false
  }

  /// Code of the program that runs while links are made (getters) may do anything: until the
  /// matching `endWiring` no node, wire, link or record of a watcher is freed.
  func beginWiring(_ watcher: WatcherRef) -> Bool {
    let isOutermost = !watcher.pointee.flags.contains(.wiring)
    watcher.pointee.flags.insert(.wiring)
    wiringDepth += 1
    return isOutermost
  }

  /// False when the watcher ended meanwhile.
  @discardableResult
  func endWiring(_ watcher: WatcherRef, _ isOutermost: Bool) -> Bool {
    if isOutermost { watcher.pointee.flags.remove(.wiring) }
    wiringDepth -= 1
    if wiringDepth == 0, !doomed.isEmpty {
      let wires = doomed
      doomed = []
      for wire in wires { free(wire) }
    }
    if wiringDepth == 0, !doomedLinks.isEmpty {
      for link in doomedLinks { linkPool.free(link) }
      doomedLinks = []
    }
    if wiringDepth == 0, !doomedWatchers.isEmpty {
      let watchers = doomedWatchers
      doomedWatchers = []
      for watcher in watchers {
        watcher.pointee.flags.remove(.wiring)
        freeIfUnused(watcher)
      }
    }
    if watcher.pointee.isActive { return true }
    freeIfUnused(watcher)
    return false
  }

  /// Detaches and frees all links of a path.
  func free(_ wire: WireRef) {
    // The computation that is running was taken back.
    if wire == trackingWire { suspendTracking() }
    if wiringDepth > 0 {
      doomed.append(wire)
      return
    }
    // What a tracked computation has read are siblings without a parent.
    while let top = wire.pointee.top { detach(top) }
    // All of them are dead: this frees them.
    _ = takeStale(wire)
    _ = takeDirty(wire)
    wire.pointee.path.release()
    wirePool.free(wire)
  }

  /// Makes the links of `wire` from `step` on, which applies to `node`.
  private func attach(
    _ wire: WireRef, _ path: Path, step: Int, to node: NodeRef, below parent: LinkRef?,
    isStrict: Bool
  ) throws {
    var (step, node, parent) = (step, node, parent)
    var waiting: [(step: Int, node: NodeRef, parent: LinkRef)] = []
    // What puts values together does so when all below is there, the deepest first.
    var incomplete: [LinkRef] = []
    // Below a wildcard some objects may lack the component, but not all of them.
    var isFanned = false
    var unknown: (any Error)?
    var isKnown = false
    while true {
      var place = Place()
      do {
        place = try self.place(step, of: path, on: node)
      } catch {
        if isStrict, !isFanned { throw error }
        unknown = unknown ?? error
        // An object that cannot have this component turned up later: silent beyond it (P7).
        if !isFanned { complain(error, about: wire, below: parent) }
      }
      // A list that contains itself: the one further up asks its elements already.
      if place.isSpread, isSpread(over: node, step, above: parent) { place.slot = nil }
      if let link = makeLink(at: place, step, of: wire, path, below: parent) {
        isKnown = isFanned
        if let state = link.state, state.role != .end, state.role != .edits {
          isFanned = true
          let next = state.role == .spread ? step : step + 1
          for child in open(link, on: node) { waiting.append((next, child, link)) }
          if state.role == .aggregate || state.role == .feed { incomplete.append(link) }
        } else if !isUpToDate(link, wire) {
          // It was brought up to date by code of the program, which ended the watcher.
        } else if !link.pointee.isTerminal,
          case .node(let child) = child(of: link, on: node, step, path), !child.isDead
        {
          (step, node, parent) = (step + 1, child, link)
          continue
        }
      }
      if let error = takeForeign(step, of: path) {
        if isStrict { throw error }
        complain(error, about: wire, below: nil)
      }
      guard let next = waiting.popLast() else { break }
      (step, node, parent) = (next.step, next.node, next.parent)
    }
    for link in incomplete.reversed() { complete(link) }
    if isFanned, !isKnown, let unknown {
      if isStrict { throw unknown }
      complain(unknown, about: wire, below: parent)
    }
  }

  /// A name that was written while nobody could know its object turns out to be misspelt (P9).
  ///
  /// Told once. One that is like no other is a name of other objects, which may lie there by turns; and
  /// of many objects some may lack it.
  private func complain(_ error: any Error, about wire: WireRef, below parent: LinkRef?) {
    guard let error = error as? PathError, error.suggestion != nil || error.code == .otherLoop,
      !wire.pointee.hasComplained
    else { return }
    let watcher = wire.pointee.watcher
    guard watcher.pointee.isActive else { return }
    wire.pointee.hasComplained = true
    if let state = parent?.state, state.members.values.contains(where: { $0.link != nil }) {
      return
    }
    watcher.pointee.receiver.takeUnretainedValue().reportUnknown(error, of: watcher, in: self)
  }

  /// Where the link of a component goes on one object.
  private struct Place {
    var slot: SlotRef?
    /// By what the kind of the object knows an object that digits follow.
    var anchor = Link.notDerived
    /// The component is asked of each element (C8).
    var isSpread = false
  }

  @inline(__always)
  private func place(_ step: Int, of path: Path, on node: NodeRef) throws -> Place {
    var place = Place()
    place.slot = node.pointee.kind._withUnsafeGuaranteedRef {
      $0.knownSlot(at: step, of: path, on: node)
    }
    if place.slot != nil { return place }
    let kind = node.kind
    if path.kinds[step] == .element {
      switch try kind.element(path.steps[step], at: step, of: path, on: node) {
      case .key(let key): place.slot = key
      case .object(let list, let object): (place.slot, place.anchor) = (list, object)
      }
      return place
    }
    place.isSpread = path.kinds[step] == .name && kind.spreads(path.steps[step], over: node)
    place.slot = try kind.slot(path.steps[step], at: step, of: path, on: node)
    return place
  }

  /// Whether a link from `link` upwards asks the same component of each element of `node`.
  private func isSpread(over node: NodeRef, _ step: Int, above link: LinkRef?) -> Bool {
    var next = link
    while let link = next, Int(link.pointee.step) == step, link.state?.role == .spread {
      if link.pointee.slot?.pointee.node == node { return true }
      next = link.pointee.parent
    }
    return false
  }

  /// The link at a place, in its slot and below its parent; nil where there is nothing to watch.
  private func makeLink(
    at place: Place, _ step: Int, of wire: WireRef, _ path: Path, below parent: LinkRef?
  ) -> LinkRef? {
    guard let slot = place.slot else { return nil }
    if place.anchor > 0, slot.pointee.node.isDead {
      slot.pointee.node.kind.releaseElement(place.anchor, of: slot.pointee.node)
      return nil
    }
    let isTerminal = step == path.kinds.count - 1 && !place.isSpread
    let link = linkPool.make(
      Link(
        wire: wire, step: Int32(truncatingIfNeeded: step), isTerminal: isTerminal,
        effect: isTerminal ? .certain : [.certain, .stale], parent: parent))
    if let parent {
      link.pointee.sibling = parent.pointee.child
      parent.pointee.child?.pointee.previousSibling = link
      parent.pointee.child = link
      if let state = parent.state { state.members[slot.pointee.node]?.link = link }
    } else {
      wire.pointee.top = link
    }
    if path.kinds[step] == .element {
      if place.anchor != Link.notDerived {
        link.pointee.derived = place.anchor
        link.pointee.effect = []
        wire.pointee.watcher.pointee.flags.insert(.anchoring)
      }
    } else if slot.pointee.isEvery || step >= path.aggregateStep {
      prepare(link, of: path, isSpread: place.isSpread, in: slot)
    }
    append(link, to: slot)
    if slot.pointee.lazy != nil {
      adapt(link, to: slot)
    } else if slot.pointee.isEvery, link.isWhole {
      // From here on it hears of lazy properties.
      link.pointee.derived = lastVersion
    }
    return link
  }

  /// What lies at the component of a link, for the next one.
  private func child(of link: LinkRef, on node: NodeRef, _ step: Int, _ path: Path) -> Child {
    if link.isAnchored { return node.kind.child(of: link.pointee.derived, in: node) }
    if let state = link.state {
      return node.kind.element(atEnd: state.operation == .last, of: node)?.node.map(Child.node)
        ?? .none
    }
    return node.pointee.kind._withUnsafeGuaranteedRef { $0.child(node, at: step, of: path) }
  }

  /// The error where an object that another loop observes was met at a component.
  @inline(__always)
  private func takeForeign(_ step: Int, of path: Path) -> PathError? {
    hasMetForeign ? makeForeign(step, of: path) : nil
  }

  private func makeForeign(_ step: Int, of path: Path) -> PathError {
    hasMetForeign = false
    return PathError(
      .otherLoop, path: String(decoding: path.text, as: UTF8.self), component: step + 1)
  }

  func append(_ link: LinkRef, to slot: SlotRef) {
    slot.append(link)
    if link.pointee.wire.pointee.watcher.pointee.isUncounted {
      slot.pointee.count -= 1
    }
    arm(slot)
    if slot.pointee.node.pointee.isHooked, let name = hookName(of: link, in: slot) {
      noteObserved(slot, name, true)
    }
  }

  /// Takes out `top` and all that hangs below it.
  func detach(_ top: LinkRef) {
    if let parent = top.pointee.parent { withdraw(top, from: parent) }
    if let previous = top.pointee.previousSibling {
      previous.pointee.sibling = top.pointee.sibling
    } else if let parent = top.pointee.parent {
      parent.pointee.child = top.pointee.sibling
    } else {
      top.pointee.wire.pointee.top = top.pointee.sibling
    }
    top.pointee.sibling?.pointee.previousSibling = top.pointee.previousSibling
    top.pointee.sibling = nil

    var work: [LinkRef] = []
    var link = top
    while true {
      var next = link.pointee.child
      if var child = next, child.pointee.sibling != nil {
        // More than one below: the rest waits.
        while let sibling = child.pointee.sibling {
          work.append(sibling)
          child = sibling
        }
      }
      takeOut(link)
      if next == nil { next = work.popLast() }
      guard let next else { return }
      link = next
    }
  }

  private func takeOut(_ link: LinkRef) {
    if let slot = link.pointee.slot {
      if link.isAnchored { release(link) }
      slot.remove(link)
      if link.pointee.wire.pointee.watcher.pointee.isUncounted {
        slot.pointee.count += 1
      }
      let node = slot.pointee.node
      if node.pointee.isHooked, let name = hookName(of: link, in: slot) {
        noteObserved(slot, name, false)
      }
      if slot.pointee.first == nil {
        slot.pointee.wants = 0
        makeIdle(node)
      } else {
        arm(slot)
      }
      if let state = link.pointee.state {
        endReading(state._withUnsafeGuaranteedRef { $0 }, of: node)
      }
    }
    if let state = link.pointee.state {
      link.pointee.state = nil
      state.release()
    }
    link.pointee.isDead = true
    if !link.pointee.isStale, !link.pointee.isDirty { free(link) }
  }

  /// A link that is in no list any more.
  private func free(_ link: LinkRef) {
    if wiringDepth > 0 { doomedLinks.append(link) } else { linkPool.free(link) }
  }

  // MARK: Replaced objects

  func markStale(_ link: LinkRef) {
    guard !link.pointee.isStale else { return }
    link.pointee.isStale = true
    link.pointee.nextStale = link.pointee.wire.pointee.stale
    link.pointee.wire.pointee.stale = link
  }

  func markDirty(_ link: LinkRef) {
    guard !link.pointee.isDirty else { return }
    link.pointee.isDirty = true
    link.pointee.nextDirty = link.pointee.wire.pointee.dirty
    link.pointee.wire.pointee.dirty = link
  }

  /// The next link that has to look again, if it is still there.
  private func takeStale(_ wire: WireRef) -> LinkRef? {
    while let link = wire.pointee.stale {
      wire.pointee.stale = link.pointee.nextStale
      link.pointee.nextStale = nil
      link.pointee.isStale = false
      if !link.pointee.isDead { return link }
      if !link.pointee.isDirty { free(link) }
    }
    return nil
  }

  /// The next link whose derived value may have changed, if it is still there.
  func takeDirty(_ wire: WireRef) -> LinkRef? {
    while let link = wire.pointee.dirty {
      wire.pointee.dirty = link.pointee.nextDirty
      link.pointee.nextDirty = nil
      link.pointee.isDirty = false
      if !link.pointee.isDead { return link }
      if !link.pointee.isStale { free(link) }
    }
    return nil
  }

  /// The same, which stays in the list.
  func firstDirty(of wire: WireRef) -> LinkRef? {
    while let link = wire.pointee.dirty, link.pointee.isDead {
      wire.pointee.dirty = link.pointee.nextDirty
      link.pointee.nextDirty = nil
      link.pointee.isDirty = false
      if !link.pointee.isStale { free(link) }
    }
    return wire.pointee.dirty
  }

  /// Brings the links of a watcher up to date with the objects (P6): by identity, never by equality.
  ///
  /// False when the watcher ended meanwhile.
  @discardableResult
  func rewire(_ watcher: WatcherRef) -> Bool {
    var wire = watcher.pointee.wires
    while let current = wire {
      if current.pointee.stale != nil { return rewireStale(watcher) }
      wire = current.pointee.next
    }
    return true
  }

  private func rewireStale(_ watcher: WatcherRef) -> Bool {
    let outer = beginWiring(watcher)
    var wire = watcher.pointee.wires
    while let current = wire {
      while let link = takeStale(current) { rewire(link) }
      wire = current.pointee.next
    }
    return endWiring(watcher, outer)
  }

  private func rewire(_ link: LinkRef) {
    let path = link.pointee.wire.pointee.path._withUnsafeGuaranteedRef { $0 }
    if let node = link.pointee.slot?.pointee.node, !node.isDead {
      if let state = link.state, state.role != .end {
        update(link, state, on: node)
        return
      }
      // The object that it follows is another matter than what lies there now.
      if link.isAnchored { return }
      if !link.pointee.isTerminal { follow(link, on: node, path) }
    } else {
      while let child = link.pointee.child { detach(child) }
    }
    if Int(link.pointee.step) > path.aggregateStep { contributionChanged(at: link) }
  }

  /// Moves what is below a link to the object that lies there now.
  private func follow(_ link: LinkRef, on node: NodeRef, _ path: Path) {
    let step = Int(link.pointee.step)
    let child = child(of: link, on: node, step, path)
    if let error = takeForeign(step, of: path) {
      complain(error, about: link.pointee.wire, below: nil)
    }
    if let existing = link.pointee.child {
      if case .node(let child) = child, existing.pointee.slot?.pointee.node == child { return }
      detach(existing)
    }
    if case .node(let child) = child, !child.isDead {
      attachLeniently(link.pointee.wire, step: step + 1, to: child, below: link)
    }
  }

  func attachLeniently(_ wire: WireRef, step: Int, to node: NodeRef, below link: LinkRef) {
    do {
      try wire.pointee.path._withUnsafeGuaranteedRef {
        try attach(wire, $0, step: step, to: node, below: link, isStrict: false)
      }
    } catch {
      fatalError("Lenient wiring cannot fail: \(error) (this is a bug in Observables)")
    }
  }

  /// Brings all links up to date: somebody asks which keys are observed (W1).
  package func settleWiring() {
    buryDead()
    forEachWatcher { watcher in
      let flags = watcher.pointee.flags
      if flags.contains(.pending), !flags.contains(.lazy) { rewire(watcher) }
    }
  }
}
