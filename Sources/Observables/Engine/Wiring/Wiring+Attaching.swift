/// Making the links of a path: at registration, and for objects that appear on it later.
///
/// Everything here is iterative, as a path may have 10,000 components. Code of the program may run
/// between any two links (getters, error callbacks, finalizers) and may do anything, so the state
/// is checked again afterwards (`Wire.phase`, `Link.isDead`, `Node.isDead`).
extension Wiring {
  /// Adds a path to a watcher, from its observed object or from another one.
  ///
  /// If it throws, the watcher is as it was before.
  ///
  /// - Throws: `PathError` for a component that its object cannot have (P9, P11).
  /// - Complexity: O(length of the path), and the number of objects below each `*`.
  package func add(
    _ path: Path, to watcher: WatcherRef, from root: NodeRef? = nil, ofStored: Bool = false
  ) throws {
    if path.hasOperators { try path.checkOperators() }
    if path.hasDeepSteps { try path.checkDeep() }
    try add(path, to: watcher, from: root, use: ofStored ? .followingStored : .following)
  }

  func add(
    _ path: Path, to watcher: WatcherRef, from root: NodeRef? = nil, use: Wire.Use
  ) throws {
    guard let root = root ?? watcher.pointee.root else { return }
    let hookCount = hooks.count
    try records.hold {
      // The watcher owns the wire from now on, so code that stops the watcher while the links are
      // made finds the wire.
      let wire = records.make(
        Wire(
          watcher: watcher, path: .passRetained(path), use: use, isShort: path.kinds.count == 1,
          index: (watcher.pointee.wires.last?.pointee.index ?? -1) + 1))
      watcher.pointee.wires.append(wire)
      charge(1, for: wire)
      do {
        try whileWiring(watcher) {
          try attach(wire, path, step: 0, to: root, below: nil, isStrict: true)
          if let failure = operations.failure { throw failure }
        }
      } catch {
        if !wire.hasEnded { end(wire, of: watcher) }
        // Nothing was observed in the end, so no hooks are called.
        hooks.cancel(from: hookCount)
        throw error
      }
      if wire.hasEnded { return }
      wire.pointee.phase = .attached
      if recording.isOn { recording.recorder?.registered(watcher, path) }
    }
  }

  /// Runs `body`, which makes links of a watcher or takes values along them; false if the watcher
  /// has ended.
  ///
  /// The watcher ends if an object on its paths could not be read.
  @discardableResult
  func whileWiring<Failure: Error>(
    _ watcher: WatcherRef, _ body: () throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    try records.hold { () throws(Failure) in
      let isOutermost = !watcher.pointee.flags.contains(.wiring)
      watcher.pointee.flags.insert(.wiring)
      defer { if isOutermost { watcher.pointee.flags.remove(.wiring) } }
      let failure = try operations.collectingFailure { () throws(Failure) in
        try operations.wiring(body)
      }
      if let failure { exhausted(watcher, failure) }
      return watcher.pointee.isActive
    }
  }

  /// Makes the links of `wire` from `step` on, which applies to `node`.
  private func attach(
    _ wire: WireRef, _ path: Path, step: Int, to node: NodeRef, below parent: LinkRef?,
    isStrict: Bool
  ) throws {
    var (step, node, parent) = (step, node, parent)
    var waiting: [(step: Int, node: NodeRef, parent: LinkRef)] = []
    // Operators compute their values after all links below were made.
    var incomplete: [LinkRef] = []
    // Below a wildcard some objects may lack the component, but not all of them.
    var isFanned = false
    var unknown: (any Error)?
    var isKnown = false
    let charged = wire.chargedReceiver
    while true {
      if wire.hasEnded { return }
      if let failure = operations.failure { throw failure }
      try charged?.checkLimits()
      if let parent, parent.pointee.isDead {
        // Code of the program removed the parent.
      } else if let parent, let link = wire.routes?.link(at: step, of: node) {
        isKnown = isFanned
        join(parent, to: link)
      } else if let parent, !isStrict, path.kinds[step] == .element,
        awaitsFlush(parent, wire.pointee.watcher, step, path, node)
      {
        isKnown = isFanned
      } else {
        var place = Place()
        do {
          place = try self.place(step, of: path, on: node)
        } catch {
          if isStrict, !isFanned { throw error }
          // A position may be missing: each list has its own length, and one may be too short (P2).
          // Below `**` each object has other components.
          if path.kinds[step] != .element, path.kinds[step] != .slot, step < path.deepStep {
            unknown = unknown ?? error
          }
          // An object that cannot have this component appeared later: the path ends there silently
          // (P7).
          if !isFanned, step < path.deepStep { complain(error, about: wire, below: parent) }
        }
        if let link = makeLink(at: place, step, of: wire, path, below: parent) {
          isKnown = isFanned
          if let state = link.state, state.role != .end, state.role != .edits {
            isFanned = true
            let next = state.staysAtStep ? step : step + 1
            // The first child is popped from `waiting` next, so getters run in the order of the
            // elements.
            for child in members.open(link, on: node).reversed() {
              waiting.append((next, child, link))
            }
            if state.role == .aggregate || state.role == .feed { incomplete.append(link) }
            // The rest of the path may begin here.
            if state.role == .deep { waiting.append((step + 1, node, link)) }
          } else if !dependents.isUpToDate(link, wire) {
            // Bringing the property up to date ran code of the program, which may have ended the
            // watcher.
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
      }
      guard let next = waiting.popLast() else { break }
      (step, node, parent) = (next.step, next.node, next.parent)
    }
    if let failure = operations.failure { throw failure }
    try charged?.checkLimits()
    // The deepest come first: the values of the others depend on them.
    incomplete.sort { $0.pointee.step > $1.pointee.step }
    for link in incomplete { members.complete(link) }
    if isFanned, !isKnown, let unknown {
      if isStrict { throw unknown }
      complain(unknown, about: wire, below: parent)
    }
  }

  /// Makes links for an object that appeared on a path after registration; does not throw.
  ///
  /// If a limit forbids further links, the watcher ends.
  func attachLeniently(_ wire: WireRef, step: Int, to node: NodeRef, below link: LinkRef) {
    do {
      try wire.pointee.path._withUnsafeGuaranteedRef {
        try attach(wire, $0, step: step, to: node, below: link, isStrict: false)
      }
    } catch {
      exhausted(wire.pointee.watcher, error)
    }
  }

  /// Makes all links of a path anew, from the observed object on.
  func attachAnew(_ wire: WireRef, to root: NodeRef) {
    do {
      try wire.pointee.path._withUnsafeGuaranteedRef {
        try attach(wire, $0, step: 0, to: root, below: nil, isStrict: false)
      }
    } catch {
      exhausted(wire.pointee.watcher, error)
    }
    if !wire.hasEnded { wire.pointee.phase = .attached }
  }

  /// Reports a name that turns out to be misspelt, because its object was unknown at registration
  /// (P9).
  ///
  /// It is reported once. A name that is similar to no other may belong to other objects that lie
  /// there at other times, so it is not reported; nor is a name that only some of many objects
  /// lack.
  func complain(_ error: any Error, about wire: WireRef, below parent: LinkRef?) {
    guard let error = error as? PathError, error.suggestion != nil || error.code == .otherLoop,
      !wire.pointee.hasComplained
    else { return }
    let watcher = wire.pointee.watcher
    guard watcher.pointee.isActive else { return }
    wire.pointee.hasComplained = true
    if let state = parent?.state, state.members.values.contains(where: { $0.link != nil }) {
      return
    }
    watcher.pointee.receiver.takeUnretainedValue().reportUnknown(error, of: watcher, in: engine)
  }

  // MARK: One link

  /// The place of the link of a component on one object.
  private struct Place {
    var slot: SlotRef?
    /// The number by which the kind of the node finds the object that the digits follow.
    var anchor: Int?
    /// Whether the component is looked up on each element (C8).
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
    if path.kinds[step] == .deep {
      place.slot = try kind.slot(.every, at: step, of: path, on: node)
      return place
    }
    place.isSpread = path.kinds[step] == .name && kind.spreads(path.steps[step], over: node)
    // Below `**` the elements have their own links.
    if place.isSpread, step > path.deepStep { return Place() }
    place.slot = try kind.slot(path.steps[step], at: step, of: path, on: node)
    return place
  }

  /// Makes the link at a place, in its slot and below its parent; nil if there is nothing to watch.
  private func makeLink(
    at place: Place, _ step: Int, of wire: WireRef, _ path: Path, below parent: LinkRef?
  ) -> LinkRef? {
    guard let slot = place.slot else { return nil }
    let node = slot.pointee.node
    if wire.hasEnded || node.isDead || parent?.pointee.isDead == true {
      if let anchor = place.anchor { node.kind.releaseElement(anchor, of: node) }
      nodes.unobserveWhenIdle(node)
      return nil
    }
    let isTerminal = step == path.kinds.count - 1 && !place.isSpread
    let link = records.make(
      Link(
        wire: wire, step: Int32(truncatingIfNeeded: step), isTerminal: isTerminal,
        isFanned: parent.map { $0.pointee.isFanned || $0.pointee.state != nil } ?? false,
        effect: isTerminal ? .notify : [.notify, .stale]))
    if let parent {
      link.hang(below: parent)
      if !parent.isDeep(above: link), let state = parent.state {
        state.members[node]?.link = link
      }
    } else {
      wire.pointee.top = link
    }
    if path.kinds[step] == .element {
      if let anchor = place.anchor {
        link.pointee.follow(anchor)
        link.pointee.effect = []
        wire.pointee.watcher.pointee.flags.insert(.anchoring)
      }
    } else if slot.pointee.isEvery || step >= path.aggregateStep {
      members.prepare(link, of: path, isSpread: place.isSpread, in: slot)
    }
    append(link, to: slot)
    if place.isSpread, let state = parent?.state, !state.leadsToSpread {
      // The elements of a collection lie at the same step as its other members.
      state.leadsToSpread = true
      var children: [LinkRef] = []
      parent!.appendChildren(to: &children)
      for child in children { addRoute(to: child, of: wire) }
    } else if parent?.isDeep(above: link) == true, link.pointee.isTerminal {
      // The link has the same object as the `**` link above it: no other route leads there.
    } else if parent?.pointee.isFanned == true || place.isSpread
      || parent?.state?.leadsToSpread == true || parent?.isDeep == true || link.isDeep
    {
      addRoute(to: link, of: wire)
    }
    if link.isDeep {
      members.noteMove(of: node, at: link, 1)
      if !node.kind.knowsFormerContents { wire.pointee.hasOthers = true }
    }
    if slot.pointee.lazy != nil {
      lazies.adapt(link, to: slot)
    } else if slot.pointee.isEvery, link.isWhole {
      // Only later changes of lazy properties count for the link.
      link.pointee.version = lazies.lastVersion
    }
    return link
  }

  func append(_ link: LinkRef, to slot: SlotRef) {
    slot.append(link)
    let watcher = link.pointee.wire.pointee.watcher
    if watcher.pointee.isUncounted || link.isOfTree { slot.pointee.count -= 1 }
    if watcher.pointee.traits.contains(.charged) { charge(Charge.link, to: watcher) }
    slots.arm(slot)
    if slot.pointee.node.reportsObservation, let name = hookName(of: link, in: slot) {
      hooks.note(slot, name, isObserved: true)
    }
  }

  /// The object at the component of a link, for the next step.
  func child(of link: LinkRef, on node: NodeRef, _ step: Int, _ path: Path) -> Child {
    if link.isAnchored {
      return link.pointee.anchor.map { node.kind.child(of: $0, in: node) } ?? .none
    }
    if let state = link.state {
      return node.kind.element(atEnd: state.operating?.operation == .last, of: node)?.node.map(
        Child.node)
        ?? .none
    }
    return node.pointee.kind._withUnsafeGuaranteedRef { $0.child(node, at: step, of: path) }
  }

  // MARK: Routes

  /// Registers a link, so that further routes to its object join it.
  private func addRoute(to link: LinkRef, of wire: WireRef) {
    if wire.pointee.routes == nil { wire.pointee.routes = .passRetained(Routes()) }
    wire.routes!.add(link)
  }

  /// Joins `parent` to a link, which already exists for the object at this step.
  private func join(_ parent: LinkRef, to link: LinkRef) {
    link.routes!.join(parent, to: link)
    // An operator gets the values of this object once more.
    if parent.state?.role != .aggregate { members.gainFeed(of: link, through: parent) }
  }

  /// Adds paths to a watcher, from its observed object.
  ///
  /// If it throws, the watcher keeps the paths that it had before.
  ///
  /// - Throws: `PathError` for a component that its object cannot have (P9, P11).
  package func add(_ paths: [Path], to watcher: WatcherRef) throws {
    let name = watcher.identity
    let last = watcher.pointee.wires.last?.pointee.index ?? -1
    do {
      // A getter on a path may end the watcher.
      for path in paths where watchers[name] != nil { try add(path, to: watcher) }
    } catch {
      guard let watcher = watchers[name] else { throw error }
      while let wire = watcher.pointee.wires.last, wire.pointee.index > last {
        end(wire, of: watcher)
      }
      throw error
    }
  }

  /// The name to pass to a hook when `link` came into its slot or left it; nil if another link
  /// observes the same name.
  func hookName(of link: LinkRef, in slot: SlotRef) -> String? {
    if link.pointee.wire.pointee.watcher.pointee.isUncounted || link.isOfTree { return nil }
    let name = slot.pointee.isEvery ? link.wholeName : nil
    var isShared = false
    if let name {
      slot.forEachLink { if $0 != link, $0.wholeName == name { isShared = true } }
    } else {
      isShared = slot.pointee.count > (link.pointee.slot == slot ? 1 : 0)
    }
    return isShared ? nil : name ?? slot.pointee.node.kind.name(of: slot)
  }
}
