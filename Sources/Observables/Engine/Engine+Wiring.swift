/// Chains of links: made at registration, and re-made for replaced objects before a watcher runs.
///
/// Everything here is iterative: a path may have 10,000 components.
extension Engine {
  /// Adds a path to a watcher. If it throws, the watcher is as it was before.
  ///
  /// - Throws: `PathError` for a component that its object cannot have (P9, P11).
  /// - Complexity: O(length of the path), and the number of objects below each `*`.
  package func add(_ path: Path, to watcher: WatcherRef) throws {
    guard let root = watcher.pointee.root else { return }
    let wire = wirePool.make(Wire(watcher: watcher, path: .passRetained(path)))
    let wasBusy = isBusy
    isBusy = true
    defer { isBusy = wasBusy }
    do {
      try attach(wire, step: 0, to: root, below: nil, isStrict: true)
    } catch {
      free(wire)
      throw error
    }
    var end: WireRef? = watcher.pointee.wires
    if end == nil {
      watcher.pointee.wires = wire
    } else {
      while let next = end!.pointee.next { end = next }
      end!.pointee.next = wire
    }
    recorder?.registered(watcher, path)
  }

  /// Takes a path away again; the watcher ends with its last one (L5). True if it had that path.
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

  /// Detaches and frees all links of a path.
  func free(_ wire: WireRef) {
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
    _ wire: WireRef, step: Int, to node: NodeRef, below parent: LinkRef?, isStrict: Bool
  ) throws {
    let path = wire.pointee.path._withUnsafeGuaranteedRef { $0 }
    let last = path.components.count - 1
    var (step, node, parent) = (step, node, parent)
    var fans: [(step: Int, node: NodeRef, parent: LinkRef)] = []
    while true {
      let component = path.components[step]
      let slot: SlotRef?
      do {
        slot = try node.kind.slot(component, at: step, of: path, on: node)
      } catch {
        if isStrict { throw error }
        // An object that cannot have this component turned up later: silent beyond it (P7).
        slot = nil
      }
      if let slot, parent.map({ child(of: $0, in: slot) == nil }) ?? true {
        let isTerminal = step == last
        let link = linkPool.make(
          Link(wire: wire, step: Int32(step), isTerminal: isTerminal, parent: parent))
        link.pointee.stamp = stamp
        if let parent {
          link.pointee.sibling = parent.pointee.child
          parent.pointee.child?.pointee.previousSibling = link
          parent.pointee.child = link
        } else {
          wire.pointee.top = link
        }
        append(link, to: slot)
        if isTerminal {
          if let value = node.kind.derivedValue(component, of: node) {
            link.pointee.derived = value
          }
        } else if component.kind == .every {
          node.kind.forEachChild(node) { fans.append((step + 1, $0, link)) }
        } else if case .node(let child) = node.kind.child(node, at: step, of: path) {
          (step, node, parent) = (step + 1, child, link)
          continue
        }
      }
      guard let next = fans.popLast() else { return }
      (step, node, parent) = (next.step, next.node, next.parent)
    }
  }

  /// The link in `slot` that hangs below `parent`.
  private func child(of parent: LinkRef, in slot: SlotRef) -> LinkRef? {
    guard parent.pointee.child != nil else { return nil }
    // The newest are at the end, and below one parent there is at most one link in a slot.
    var link = slot.pointee.last
    while let current = link {
      if current.pointee.parent == parent { return current }
      link = current.pointee.previous
    }
    return nil
  }

  private func append(_ link: LinkRef, to slot: SlotRef) {
    let wasObserved = slot.pointee.count > 0
    slot.append(link)
    if link.pointee.wire.pointee.watcher.pointee.flags.contains(.probing) {
      slot.pointee.count -= 1
    }
    arm(slot)
    if slot.pointee.node.pointee.isHooked, !wasObserved, slot.pointee.count > 0 {
      noteObserved(slot, true)
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
      let wasObserved = slot.pointee.count > 0
      slot.remove(link)
      if link.pointee.wire.pointee.watcher.pointee.flags.contains(.probing) {
        slot.pointee.count += 1
      }
      let node = slot.pointee.node
      if node.pointee.isHooked, wasObserved, slot.pointee.count == 0 { noteObserved(slot, false) }
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
  func rewire(_ watcher: WatcherRef) {
    let wasBusy = isBusy
    isBusy = true
    defer { isBusy = wasBusy }
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
  }

  private func rewire(_ link: LinkRef) {
    guard let node = link.pointee.slot?.pointee.node, !node.isDead else {
      while let child = link.pointee.child { detach(child) }
      return
    }
    let wire = link.pointee.wire
    let step = Int(link.pointee.step)
    let path = wire.pointee.path._withUnsafeGuaranteedRef { $0 }
    if path.components[step].kind == .every {
      rewireFan(link, on: node, of: path)
      return
    }
    let child = node.kind.child(node, at: step, of: path)
    if let existing = link.pointee.child {
      if case .node(let child) = child, existing.pointee.slot?.pointee.node == child { return }
      detach(existing)
    }
    if case .node(let child) = child {
      attachLeniently(wire, step: step + 1, to: child, below: link)
    }
  }

  private func rewireFan(_ link: LinkRef, on node: NodeRef, of path: Path) {
    stamp += 1
    let step = Int(link.pointee.step) + 1
    var children: [NodeRef] = []
    node.kind.forEachChild(node) { children.append($0) }
    for child in children {
      let slot = try? child.kind.slot(path.components[step], at: step, of: path, on: child)
      if let slot, let existing = self.child(of: link, in: slot) {
        existing.pointee.stamp = stamp
      } else if slot != nil {
        attachLeniently(link.pointee.wire, step: step, to: child, below: link)
      }
    }
    var child = link.pointee.child
    while let current = child {
      child = current.pointee.sibling
      if current.pointee.stamp != stamp { detach(current) }
    }
  }

  private func attachLeniently(_ wire: WireRef, step: Int, to node: NodeRef, below link: LinkRef) {
    do {
      try attach(wire, step: step, to: node, below: link, isStrict: false)
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
