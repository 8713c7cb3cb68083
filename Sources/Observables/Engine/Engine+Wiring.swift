/// Chains of links: made at registration, and re-made for replaced objects before a watcher runs.
///
/// Everything here is iterative: a path may have 10,000 components.
extension Engine {
  /// Adds a path to a watcher.
  ///
  /// If it throws, the watcher is as it was before.
  ///
  /// - Throws: `PathError` for a component that its object cannot have (P9, P11).
  /// - Complexity: O(length of the path), and the number of objects below each `*`.
  package func add(_ path: Path, to watcher: WatcherRef) throws {
    guard let root = watcher.pointee.root else { return }
    let wire = wirePool.make(
      Wire(watcher: watcher, path: .passRetained(path), isDerived: path.endsInOperation))
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
  /// matching `endWiring` no node, wire or record of a watcher is freed.
  private func beginWiring(_ watcher: WatcherRef) -> Bool {
    let isOutermost = !watcher.pointee.flags.contains(.wiring)
    watcher.pointee.flags.insert(.wiring)
    wiringDepth += 1
    return isOutermost
  }

  /// False when the watcher ended meanwhile.
  @discardableResult
  private func endWiring(_ watcher: WatcherRef, _ isOutermost: Bool) -> Bool {
    if isOutermost { watcher.pointee.flags.remove(.wiring) }
    wiringDepth -= 1
    if wiringDepth == 0, !doomed.isEmpty {
      let wires = doomed
      doomed = []
      for wire in wires { free(wire) }
    }
    if watcher.pointee.isActive { return true }
    freeIfUnused(watcher)
    return false
  }

  /// Detaches and frees all links of a path.
  func free(_ wire: WireRef) {
    if wiringDepth > 0 {
      doomed.append(wire)
      return
    }
    if let top = wire.pointee.top { detach(top) }
    var stale = wire.pointee.stale
    while let link = stale {
      stale = link.pointee.nextStale
      linkPool.free(link)
    }
    wire.pointee.path.release()
    wirePool.free(wire)
  }

  /// Makes the links of `wire` from `step` on, which applies to `node`.
  private func attach(
    _ wire: WireRef, _ path: Path, step: Int, to node: NodeRef, below parent: LinkRef?,
    isStrict: Bool
  ) throws {
    let last = path.components.count - 1
    var (step, node, parent) = (step, node, parent)
    var fans: [(step: Int, node: NodeRef, parent: LinkRef)] = []
    // Below a wildcard some objects may lack the component, but not all of them.
    var isFanned = false
    var unknown: (any Error)?
    var isKnown = false
    while true {
      var anchor = Link.notDerived
      var slot: SlotRef?
      do {
        if path.hasElements, path.components[step].kind == .element {
          switch try node.kind.element(path.components[step], at: step, of: path, on: node) {
          case .key(let key): slot = key
          case .object(let list, let object): (slot, anchor) = (list, object)
          }
        } else {
          slot = node.pointee.kind._withUnsafeGuaranteedRef {
            $0.knownSlot(at: step, of: path, on: node)
          }
          if slot == nil {
            slot = try node.kind.slot(path.components[step], at: step, of: path, on: node)
          }
        }
      } catch {
        if isStrict, !isFanned { throw error }
        unknown = unknown ?? error
        // An object that cannot have this component turned up later: silent beyond it (P7).
        slot = nil
      }
      if let slot {
        isKnown = isFanned
        let isTerminal = step == last
        let link = linkPool.make(
          Link(wire: wire, step: Int32(step), isTerminal: isTerminal, parent: parent))
        if let parent {
          link.pointee.sibling = parent.pointee.child
          parent.pointee.child?.pointee.previousSibling = link
          parent.pointee.child = link
        } else {
          wire.pointee.top = link
        }
        link.pointee.derived = anchor
        append(link, to: slot)
        if anchor != Link.notDerived { wire.pointee.watcher.pointee.flags.insert(.anchoring) }
        if isTerminal {
          if wire.pointee.isDerived, anchor == Link.notDerived,
            let value = node.kind.derivedValue(path.components[step], of: node)
          {
            link.pointee.derived = value
          }
        } else if path.isEvery(step) {
          isFanned = true
          for child in children(of: node) where !child.isDead {
            fans.append((step + 1, child, link))
          }
        } else if case .node(let child) = node.pointee.kind._withUnsafeGuaranteedRef({
          anchor == Link.notDerived
            ? $0.child(node, at: step, of: path) : $0.child(of: anchor, in: node)
        }), !child.isDead {
          (step, node, parent) = (step + 1, child, link)
          continue
        }
      } else if let slot, anchor > 0 {
        slot.pointee.node.kind.releaseElement(anchor, of: slot.pointee.node)
      }
      guard let next = fans.popLast() else {
        if isStrict, !isKnown, let unknown { throw unknown }
        return
      }
      (step, node, parent) = (next.step, next.node, next.parent)
    }
  }

  /// The objects below a wildcard, each once, however often it is there.
  private func children(of node: NodeRef) -> [NodeRef] {
    var children: [NodeRef] = []
    node.kind.forEachChild(node) { children.append($0) }
    stamp += 1
    children.removeAll { child in
      if child.pointee.fanStamp == stamp { return true }
      child.pointee.fanStamp = stamp
      child.pointee.fanLink = nil
      return false
    }
    return children
  }

  private func append(_ link: LinkRef, to slot: SlotRef) {
    slot.append(link)
    if link.pointee.wire.pointee.watcher.pointee.flags.contains(.probing) {
      slot.pointee.count -= 1
    }
    arm(slot)
    if slot.pointee.node.pointee.isHooked, let name = hookName(of: link, in: slot) {
      noteObserved(slot, name, true)
    }
  }

  /// Takes out `top` and all that hangs below it.
  func detach(_ top: LinkRef) {
    if let previous = top.pointee.previousSibling {
      previous.pointee.sibling = top.pointee.sibling
    } else if let parent = top.pointee.parent {
      parent.pointee.child = top.pointee.sibling
    } else {
      top.pointee.wire.pointee.top = nil
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
      if link.pointee.wire.pointee.watcher.pointee.flags.contains(.probing) {
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
    }
    if link.pointee.isStale {
      link.pointee.isDead = true
    } else {
      linkPool.free(link)
    }
  }

  // MARK: Replaced objects

  func markStale(_ link: LinkRef) {
    guard !link.pointee.isStale else { return }
    link.pointee.isStale = true
    link.pointee.nextStale = link.pointee.wire.pointee.stale
    link.pointee.wire.pointee.stale = link
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
      while let link = current.pointee.stale {
        current.pointee.stale = link.pointee.nextStale
        link.pointee.nextStale = nil
        link.pointee.isStale = false
        if link.pointee.isDead {
          linkPool.free(link)
        } else {
          rewire(link)
        }
      }
      wire = current.pointee.next
    }
    return endWiring(watcher, outer)
  }

  private func rewire(_ link: LinkRef) {
    guard let node = link.pointee.slot?.pointee.node, !node.isDead else {
      while let child = link.pointee.child { detach(child) }
      return
    }
    let wire = link.pointee.wire
    let step = Int(link.pointee.step)
    if wire.pointee.path._withUnsafeGuaranteedRef({ $0.isEvery(step) }) {
      rewireFan(link, on: node)
      return
    }
    // The object that it follows is another matter than what lies there now.
    if link.isAnchored { return }
    let child = wire.pointee.path._withUnsafeGuaranteedRef { path in
      node.pointee.kind._withUnsafeGuaranteedRef { $0.child(node, at: step, of: path) }
    }
    if let existing = link.pointee.child {
      if case .node(let child) = child, existing.pointee.slot?.pointee.node == child { return }
      detach(existing)
    }
    if case .node(let child) = child, !child.isDead {
      attachLeniently(wire, step: step + 1, to: child, below: link)
    }
  }

  private func rewireFan(_ link: LinkRef, on node: NodeRef) {
    let children = children(of: node)
    let walk = stamp
    var child = link.pointee.child
    while let current = child {
      child = current.pointee.sibling
      if let node = current.pointee.slot?.pointee.node, node.pointee.fanStamp == walk,
        !node.isDead
      {
        node.pointee.fanLink = current
      } else {
        detach(current)
      }
    }
    let step = Int(link.pointee.step) + 1
    // Decided before anything is attached: that may walk other wildcards over the same objects.
    for child in children.filter({ $0.pointee.fanLink == nil && !$0.isDead }) {
      attachLeniently(link.pointee.wire, step: step, to: child, below: link)
    }
  }

  private func attachLeniently(_ wire: WireRef, step: Int, to node: NodeRef, below link: LinkRef) {
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
    forEachWatcher { if $0.pointee.flags.contains(.pending) { rewire($0) } }
  }
}
