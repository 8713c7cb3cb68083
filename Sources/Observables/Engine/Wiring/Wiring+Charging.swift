/// Charging links to the receivers that pay for them: scripts with limits.
///
/// One watcher may have a link for each of a million objects, and so may each of a thousand other
/// watchers. Each link is charged when it is put into its slot, and credited when it is removed.
/// The receiver is asked before a link is made. If it refuses, a registration fails. An existing
/// watcher ends and reports why, as it could no longer follow its path.
extension Wiring {
  /// The charges in bytes: approximately the size of the records and their containers.
  enum Charge {
    /// A link, with its part of the slot.
    static let link = 208
    /// One member in the state of a link to a whole collection.
    static let member = 96
  }

  func charge(_ bytes: Int, to watcher: WatcherRef) {
    let payer = watcher.pointee.payer
    watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.charge(bytes, to: payer) }
  }

  /// Updates the charge for the members in a link's state.
  func chargeMembers(of link: LinkRef, _ state: LinkState) {
    let watcher = link.pointee.wire.pointee.watcher
    guard watcher.pointee.traits.contains(.charged) else { return }
    let bytes = Charge.member * state.memberCount
    charge(bytes - state.charge, to: watcher)
    state.charge = bytes
  }

  /// Ends a watcher, because not all of its links could be made.
  ///
  /// A lazy property does not end: it gives up all its links, and fails when it is computed next.
  func exhausted(_ watcher: WatcherRef, _ error: any Error) {
    guard watcher.pointee.isActive else { return }
    if watcher.pointee.traits.contains(.lazy) {
      while let wire = watcher.pointee.wires.first { end(wire, of: watcher) }
      watcher.lazyState.pointee.isWired = false
    } else {
      watcher.pointee.receiver.takeUnretainedValue().reportExhausted(error, watcher)
      watchers.stop(watcher)
    }
  }
}

extension WatcherRef {
  /// Whether links may have to be made or removed before the watcher is called.
  var hasLinkWork: Bool {
    pointee.wiresWithWork != nil || pointee.flags.contains(.checkingDepartures)
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
