/// Charging links to the receivers that pay for them: scripts with limits.
///
/// One watcher may have a link for each of a million objects, and so may each of a thousand other
/// watchers. Each link is charged when it is put into its slot, and credited when it is removed.
/// `checkLimits` of the receiver is called before a link is made. If it throws, a registration
/// fails. If an existing watcher lacks only time, all its links are made anew in the next turn. If
/// this fails, too, or if memory is refused, the watcher ends and reports why, because it could no
/// longer follow its path.
extension Wiring {
  /// The charges in bytes: approximately the size of the records and their containers.
  enum Charge {
    /// A link, with its part of the slot.
    static let link = 208
    /// One component of a path, with its part of the wire, but without the bytes of its name.
    static let component = 320
    /// One member in the state of a link to a whole collection.
    static let member = 96
  }

  func charge(_ bytes: Int, to watcher: WatcherRef) {
    let payer = watcher.pointee.payer
    watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.charge(bytes, to: payer) }
  }

  /// Charges a watcher for one of its paths (1), or returns the charge (-1).
  ///
  /// A path counts even without limits, because garbage is collected for the engine's memory, too.
  func charge(_ times: Int, for wire: WireRef) {
    switch wire.pointee.use {
    // These wires have no separate path.
    case .tracking, .objects: return
    case .following, .followingStored, .editing: break
    }
    let path = wire.pointee.path._withUnsafeGuaranteedRef { $0 }
    charge(times * (Charge.component * path.components.count + path.size), to: wire.pointee.watcher)
  }

  /// Whether the work on a watcher's links has to end, because memory for it was refused, or no
  /// time is left (S1, S3).
  ///
  /// The first refusal is the reason why the watcher ends, or is not registered: trying further
  /// objects would collect garbage again for each of them.
  func isRefused(_ receiver: ObservationCore.Receiver?) -> Bool {
    if operations.failure != nil { return true }
    guard let receiver else { return false }
    do { try receiver.checkTime() } catch { operations.noteUnreadable(error) }
    return operations.failure != nil
  }

  /// Updates the charge for the members in a link's state.
  func chargeMembers(of link: LinkRef, _ state: LinkState) {
    let watcher = link.pointee.wire.pointee.watcher
    guard watcher.pointee.traits.contains(.charged) else { return }
    let bytes = Charge.member * state.memberCount
    charge(bytes - state.charge, to: watcher)
    state.charge = bytes
  }

  /// Ends a watcher, because not all of its links could be made, or lets it start over.
  ///
  /// A lazy property does not end: it gives up all its links, and fails when it is computed next.
  func exhausted(_ watcher: WatcherRef, _ error: any Error) {
    guard watcher.pointee.isActive, !watcher.pointee.flags.contains(.startingOver) else { return }
    if watcher.pointee.traits.contains(.lazy) {
      while let wire = watcher.pointee.wires.first { end(wire, of: watcher) }
      watcher.lazyState.pointee.isWired = false
    } else if canStartOver(watcher, after: error) {
      removeLinks(of: watcher)
      watcher.pointee.flags.insert(.startingOver)
      watcher.pointee.raise(to: .stale)
    } else {
      watcher.pointee.receiver.takeUnretainedValue().reportExhausted(error, watcher)
      watchers.stop(watcher)
    }
  }
}

// MARK: Starting over

extension Wiring {
  /// Whether all links of the watcher may be made anew in the next turn.
  ///
  /// This holds only for the watcher that the flush is about to call, and only if objects tell
  /// everything that its links know. They do not tell edits, nor which objects digits follow.
  private func canStartOver(_ watcher: WatcherRef, after error: any Error) -> Bool {
    let others: WatcherRecord.Traits = [
      .immediate, .comparing, .probing, .covering, .collecting, .recording,
    ]
    guard operations.isFollowing(watcher), watcher.pointee.traits.isDisjoint(with: others),
      watcher.pointee.flags.isDisjoint(with: [.anchoring, .tentative]),
      watcher.pointee.receiver._withUnsafeGuaranteedRef({ $0.mayStartOver(after: error) })
    else { return false }
    var isPossible = true
    forEachWire(of: watcher) { wire in
      if wire.pointee.use != .following || transactions.holds(wire) { isPossible = false }
    }
    return isPossible
  }

  private func removeLinks(of watcher: WatcherRef) {
    nodes.whileRemoving {
      forEachWire(of: watcher) { wire in
        wire.pointee.phase = .attaching
        while let top = wire.pointee.top { takeOutTree(top) }
        // All stale and dirty links are dead: this frees them.
        _ = takeStale(wire)
        _ = takeDirty(wire)
        wire.pointee.routes?.release()
        wire.pointee.routes = nil
      }
    }
    forgetIdleWires(of: watcher)
  }

  /// Makes the links of a watcher that starts over.
  ///
  /// Returns false if the watcher has ended: if this fails, too, it does not start over again.
  func startAgain(_ watcher: WatcherRef) -> Bool {
    watcher.pointee.flags.remove(.startingOver)
    return whileWiring(watcher) {
      forEachWire(of: watcher) { wire in
        // A path that was added since then has its links.
        guard wire.pointee.phase == .attaching, operations.failure == nil else { return }
        if let root = watcher.pointee.root { attachAnew(wire, to: root) }
      }
    }
  }
}

extension WatcherRef {
  /// Whether links may have to be made or removed before the watcher is called.
  var hasLinkWork: Bool {
    pointee.wiresWithWork != nil
      || !pointee.flags.isDisjoint(with: [.checkingDepartures, .startingOver])
  }
}

extension WireRef {
  /// The receiver that pays for the links of the wire; nil if none is charged.
  var chargedReceiver: ObservationCore.Receiver? {
    let watcher = pointee.watcher
    guard watcher.pointee.traits.contains(.charged) else { return nil }
    return watcher.pointee.receiver.takeUnretainedValue()
  }
}

extension LinkState {
  /// How many members the state has entries for.
  var memberCount: Int {
    guard let operating else { return members.count }
    return members.count + operating.values.count + (operating.aggregate?.size ?? 0)
  }
}
