/// Calls getters, and processes their results and errors.
package struct Computing: Room {
  package let rooms: Rooms

  struct State {
    fileprivate var computations = Computations()
    fileprivate var stack = ThreadStack()
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.computing) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.computing)
    }
  }

  /// Makes the links to the dependencies of a property; returns the error if that fails.
  @inline(__always)
  func makeWires(of lazy: WatcherRef) -> (any Error)? {
    !lazy.isWired ? makeFirstWires(of: lazy) : nil
  }

  @inline(never)
  private func makeFirstWires(of lazy: WatcherRef) -> (any Error)? {
    // Wiring one property without a stored value may wire the next one natively.
    if operations.wirings > 16, !hasRoom() {
      let name = lazies.name(of: lazy)
      return LazyError.tooDeep(first: name, last: name, depth: operations.wirings)
    }
    lazy.lazyState.pointee.isWired = true
    return records.hold {
      do {
        try wiring.whileWiring(lazy) {
          try lazy.pointee.receiver.takeUnretainedValue().wire(lazy, in: engine)
        }
        return nil
      } catch {
        lazy.lazyState.pointee.isWired = false
        while let wire = lazy.pointee.wires.first { wiring.end(wire, of: lazy) }
        return error
      }
    }
  }

  /// Runs the getter of the property on top of the list; `isNested` says that it runs in another
  /// getter.
  func compute(_ lazy: WatcherRef, isNested: Bool) {
    let depth = state.computations.depth
    if depth > 16, depth > limits.computations || !hasRoom(), let first = state.computations.first {
      fail(
        lazy,
        LazyError.tooDeep(first: lazies.name(of: first), last: lazies.name(of: lazy), depth: depth))
      settling.pop()
      return
    }
    begin(lazy)
    lazy.pointee.receiver._withUnsafeGuaranteedRef { receiver in
      if isNested {
        settling.take(receiver.compute(lazy), of: lazy)
      } else {
        receiver.computeAll(lazy, in: engine)
      }
    }
  }

  /// Notes that the getter of `lazy` is called next.
  @inline(__always)
  func begin(_ lazy: WatcherRef) {
    transactions.note(lazy)
    deliveredValues.willReplaceValue(of: lazy)
    if recording.isOn { recording.recorder?.replacing(lazy) }
    state.computations.begin(lazy)
    tracking.begin(lazy)
  }

  /// True when the property is finished; false while it waits for another one.
  func finish(_ lazy: WatcherRef, _ computation: Computation) -> Bool {
    var computation = computation
    while case .waiting(let slot) = computation {
      tracking.suspend()
      if let other = slot.pointee.lazy, !other.isUnderWay {
        lazy.phase = .suspended
        settling.push(other)
        return false
      }
      let error = slot.pointee.lazy.map { LazyError.cycle(names: lazies.cycle(to: $0)) }
      let other = slot.pointee.lazy ?? lazy
      tracking.goOn(lazy)
      computation = lazy.pointee.receiver.takeUnretainedValue().resume(lazy, after: other, error)
    }
    if case .failed = computation {
      tracking.end(lazy, hasFailed: true)
    } else {
      tracking.end(lazy)
    }
    state.computations.end(lazy)
    if lazy.pointee.isActive {
      if lazy.isFlawed {
        reject(lazy)
        computation = .failed
      }
      if case .failed = computation {
        noteFailure(of: lazy)
      } else {
        let hadFailed = lazy.pointee.status == .failed
        lazies.keep(computation, of: lazy)
        lazy.lazyState.pointee.isAssigned = false
        adoptVersions(of: lazy)
        if hadFailed { invalidation.noteRecovery(of: lazy) }
      }
      if recording.isOn { recording.recorder?.computed(lazy, computation) }
      slots.rearmQuiet()
    }
    return true
  }

  /// Rejects the result of a getter, which may already be stored, but is not a valid value.
  private func reject(_ lazy: WatcherRef) {
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    if lazy.pointee.traits.contains(.mirrored) {
      receiver.invalidated(lazy)
      // The next value must not be compared with this one, which was not delivered.
      lazy.lazyState.pointee.isKnown = false
    }
    if lazy.lazyState.pointee.flaw == .disturbance {
      let property = lazies.name(of: lazy)
      switch state.computations.takeDisturbance(of: lazy) {
      case .invalidation: receiver.fail(lazy, LazyError.invalidated(property: property))
      case .write(let key): receiver.fail(lazy, LazyError.disturbed(property: property, by: key))
      case nil: receiver.fail(lazy, LazyError.disturbed(property: property, by: "?"))
      }
    }
    lazy.lazyState.pointee.flaw = .none
  }

  /// Fails the running getter with an error of a plain read in it.
  ///
  /// False if no getter is running.
  func failRunning(_ error: any Error) -> Bool {
    guard let lazy = state.computations.current else { return false }
    lazy.pointee.receiver.takeUnretainedValue().fail(lazy, error)
    lazy.lazyState.pointee.flaw = .error
    return true
  }

  /// Notes that the property cannot be computed.
  func fail(_ lazy: WatcherRef, _ error: any Error) {
    lazy.pointee.receiver.takeUnretainedValue().fail(lazy, error)
    noteFailure(of: lazy)
    slots.rearmQuiet()
  }

  private func noteFailure(of lazy: WatcherRef) {
    lazy.pointee.status = .failed
    lazy.lazyState.pointee.seen = lazies.nextVersion()
    settling.noteFailure(of: lazy)
  }

  /// Makes a property valid without computing it: none of its dependencies has really changed.
  func validate(_ lazy: WatcherRef) {
    lazies.keep(.same, of: lazy)
    adoptVersions(of: lazy)
    slots.rearmQuiet()
  }

  /// Notes that the property has used the present versions of its dependencies.
  func adoptVersions(of lazy: WatcherRef) {
    if !lazy.hasWork { return }
    records.hold {
      // Links follow the present values, and then operators above them have others: each pass gets
      // at least one step nearer to the end of the longest path.
      var passes = lazy.longestPath + 1
      repeat {
        wiring.rewire(lazy)
        wiring.forEachWireWithWork(of: lazy) { wire in
          while let link = wiring.takeDirty(wire) {
            if let other = link.pointee.slot?.pointee.lazy {
              _ = dependents.useValue(of: other, at: link)
            } else {
              wiring.whileWiring(lazy) { _ = members.refreshDerived(link) }
            }
          }
        }
        passes -= 1
      } while lazy.hasWork && passes > 0
    }
  }

  // MARK: Running getters

  /// True while the getter of a lazy property is running or waiting.
  @inline(__always)
  package var isUnderWay: Bool { !state.computations.isEmpty }
  /// How many computing operations are nested on the stack.
  var depth: Int { state.computations.depth }
  func nest() { state.computations.nest() }
  func unnest() { state.computations.unnest() }
  /// The property whose getter is running; nil if the innermost getter waits.
  var current: WatcherRef? { state.computations.current }
  /// Marks the value being computed as invalid; the first reason is kept.
  func disturb(_ lazy: WatcherRef, by disturbance: Disturbance?) {
    state.computations.disturb(lazy, by: disturbance)
  }
  /// Forgets a property that is no longer lazy.
  func forget(_ lazy: WatcherRef) { state.computations.forget(lazy) }
  /// Whether the stack of the thread has room for another computation.
  func hasRoom() -> Bool { state.stack.hasRoom() }
  func free() { state.computations.free() }
}
