/// Calling getters, and what comes of that.
extension Engine {
  /// Makes the links to what a property depends on; the error where they cannot be.
  @inline(__always)
  func makeWires(of lazy: WatcherRef) -> (any Error)? {
    lazy.pointee.flags.isDisjoint(with: [.wired, .tracking]) ? makeFirstWires(of: lazy) : nil
  }

  @inline(never)
  private func makeFirstWires(of lazy: WatcherRef) -> (any Error)? {
    // Wiring one property without a value of its own may wire the next one natively.
    if operations.wirings > 16, !stack.hasRoom() {
      let name = name(of: lazy)
      return LazyError.tooDeep(first: name, last: name, depth: operations.wirings)
    }
    lazy.pointee.flags.insert(.wired)
    return records.hold {
      do {
        try wiring(lazy) { try lazy.pointee.receiver.takeUnretainedValue().wire(lazy, in: self) }
        return nil
      } catch {
        lazy.pointee.flags.remove(.wired)
        while let wire = lazy.pointee.wires.first { end(wire, of: lazy) }
        return error
      }
    }
  }

  func compute(_ lazy: WatcherRef, isNested: Bool) -> Bool {
    let depth = computations.depth
    if depth > 16, depth > limits.computations || !stack.hasRoom(), let first = computations.first {
      return fail(
        lazy, LazyError.tooDeep(first: name(of: first), last: name(of: lazy), depth: depth))
    }
    begin(lazy)
    let receiver = lazy.pointee.receiver
    return finish(
      lazy, receiver._withUnsafeGuaranteedRef { $0.compute(lazy, isNested: isNested) })
  }

  /// The getter of `lazy` is called next.
  @inline(__always)
  func begin(_ lazy: WatcherRef) {
    willReplaceValue(of: lazy)
    if isRecording { recorder?.replacing(lazy) }
    computations.begin(lazy)
    tracking.begin(lazy)
  }

  /// True when the property is done with; false while it waits for another one.
  func finish(_ lazy: WatcherRef, _ computation: Computation) -> Bool {
    if case .finished = computation { return false }
    var computation = computation
    while case .waiting(let slot) = computation {
      suspendTracking()
      if let other = slot.pointee.lazy, !other.isUnderWay {
        lazy.phase = .suspended
        settling.push(other)
        return false
      }
      let error = slot.pointee.lazy.map { LazyError.cycle(names: cycle(to: $0)) }
      let other = slot.pointee.lazy ?? lazy
      tracking.goOn(lazy)
      computation = lazy.pointee.receiver.takeUnretainedValue().resume(lazy, after: other, error)
    }
    if case .failed = computation {
      tracking.end(lazy, hasFailed: true)
    } else {
      tracking.end(lazy)
    }
    computations.end(lazy)
    if lazy.pointee.isActive {
      if lazy.isFlawed {
        reject(lazy)
        computation = .failed
      }
      if case .failed = computation {
        noteFailure(of: lazy)
      } else {
        keep(computation, of: lazy)
        lazy.lazyState.pointee.isAssigned = false
        adoptVersions(of: lazy)
      }
      if isRecording { recorder?.computed(lazy, computation) }
      rearmQuietSlots()
    }
    return true
  }

  /// Drops the result of a getter, which may be stored already, but is no value.
  private func reject(_ lazy: WatcherRef) {
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    if lazy.pointee.flags.contains(.mirrored) {
      receiver.invalidated(lazy)
      // The next value must not be compared with this one, which was not delivered.
      lazy.pointee.flags.remove(.known)
    }
    if lazy.lazyState.pointee.flaw == .disturbance {
      let property = name(of: lazy)
      switch computations.takeDisturbance(of: lazy) {
      case .invalidation: receiver.fail(lazy, LazyError.invalidated(property: property))
      case .write(let key): receiver.fail(lazy, LazyError.disturbed(property: property, by: key))
      case nil: receiver.fail(lazy, LazyError.disturbed(property: property, by: "?"))
      }
    }
    lazy.lazyState.pointee.flaw = .none
  }

  /// A plain read in the getter that is running met an error: the getter fails with it.
  ///
  /// False where none is running.
  func failRunning(_ error: any Error) -> Bool {
    guard let lazy = computations.current else { return false }
    lazy.pointee.receiver.takeUnretainedValue().fail(lazy, error)
    lazy.lazyState.pointee.flaw = .error
    return true
  }

  /// The property cannot be computed; returns true: it is done with.
  @discardableResult
  func fail(_ lazy: WatcherRef, _ error: any Error) -> Bool {
    lazy.pointee.receiver.takeUnretainedValue().fail(lazy, error)
    noteFailure(of: lazy)
    rearmQuietSlots()
    return true
  }

  private func noteFailure(of lazy: WatcherRef) {
    lazy.pointee.status = .failed
    settling.noteFailure(of: lazy)
  }

  /// Makes a property valid without computing it: nothing that it depends on has really changed.
  func validate(_ lazy: WatcherRef) {
    keep(.same, of: lazy)
    adoptVersions(of: lazy)
    rearmQuietSlots()
  }

  /// Notes the present versions of what the property depends on as those that it has used.
  func adoptVersions(of lazy: WatcherRef) {
    if !lazy.hasWork { return }
    records.hold {
      // Operators among the dependencies have to be made of the present members.
      rewire(lazy)
      forEachWireWithWork(of: lazy) { wire in
        while let link = takeDirty(wire) {
          if let other = link.pointee.slot?.pointee.lazy {
            _ = useValue(of: other, at: link)
          } else {
            wiring(lazy) { _ = refreshDerived(link) }
          }
        }
      }
      rewire(lazy)
    }
  }

  /// The error of a property that waits for itself, if it does.
  package func cycleError(of lazy: WatcherRef) -> LazyError? {
    lazy.isUnderWay ? .cycle(names: cycle(to: lazy)) : nil
  }

  /// The lazy properties of an object, in the order of their declaration.
  package func lazies(of node: NodeRef) -> [WatcherRef] {
    var lazies: [WatcherRef] = []
    node.forEachSlot { slot in if let lazy = slot.pointee.lazy { lazies.append(lazy) } }
    return lazies.sorted { $0.pointee.id < $1.pointee.id }
  }

  /// True while the getter of a lazy property is running.
  package var isComputing: Bool { !computations.isEmpty }

  /// Whether the getter of `lazy` is running, or waits for what it reads.
  package func isComputing(_ lazy: WatcherRef) -> Bool { lazy.isComputing }

  // MARK: Names

  package func name(of lazy: WatcherRef) -> String {
    guard let slot = lazy.slot, !slot.pointee.node.isDead else { return "?" }
    return slot.pointee.node.kind.name(of: slot)
  }

  /// The names of the properties that wait for each other, from `lazy` back to it; in full where
  /// they are not all of one object.
  package func cycle(to lazy: WatcherRef) -> [String] {
    var members: [WatcherRef] = []
    var isInside = false
    for other in settling.chain {
      if other == lazy { isInside = true }
      if isInside, other != lazy || members.isEmpty { members.append(other) }
    }
    // It is not among those where it was observed only after its getter had begun.
    if members.isEmpty { members.append(lazy) }
    members.append(lazy)
    let node = lazy.slot?.pointee.node
    if members.allSatisfy({ $0.slot?.pointee.node == node }) {
      return members.map { name(of: $0) }
    }
    return members.map { fullName(of: $0) }
  }

  /// The name that distinguishes a property from those of other objects with the same name.
  private func fullName(of lazy: WatcherRef) -> String {
    guard let slot = lazy.slot, !slot.pointee.node.isDead else { return "?" }
    return lazy.pointee.receiver.takeUnretainedValue().fullName(
      of: lazy, name(of: lazy), title: slot.pointee.node.kind.title(of: slot.pointee.node))
  }
}
