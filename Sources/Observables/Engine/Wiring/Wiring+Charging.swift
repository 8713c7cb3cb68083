/// The links of watchers whose receiver pays for them: of scripts with limits.
///
/// One watcher may have a link for each of a million objects, and so may each of a thousand others.
/// Each link is charged when it is put into its slot, and given back when it is taken out. Before a
/// link is made the receiver is asked whether it may be. A registration fails where it may not; a
/// watcher that is there already ends, as it could not follow its path any more, and says why.
extension Wiring {
  /// What is charged, in bytes: about what the records and their containers take.
  enum Charge {
    /// A link, with its part of the slot.
    static let link = 208
    /// What a link of a whole collection knows of one member.
    static let member = 96
  }

  func charge(_ bytes: Int, to watcher: WatcherRef) {
    let payer = watcher.pointee.payer
    watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.charge(bytes, to: payer) }
  }

  /// Charges what a link knows of its members now.
  func chargeMembers(of link: LinkRef, _ state: LinkState) {
    let watcher = link.pointee.wire.pointee.watcher
    guard watcher.pointee.traits.contains(.charged) else { return }
    let bytes = Charge.member * state.memberCount
    charge(bytes - state.charge, to: watcher)
    state.charge = bytes
  }

  /// Not all links of a watcher could be made.
  ///
  /// A lazy property gives up all links that it has, and fails when it is computed next.
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
  /// Whether links may have to be made or taken out before the watcher is called.
  var hasLinkWork: Bool {
    pointee.wiresWithWork != nil || pointee.flags.contains(.checkingDepartures)
  }
}

extension WireRef {
  /// The receiver that pays for the links of the wire, if one does.
  var chargedReceiver: ObservationCore.Receiver? {
    let watcher = pointee.watcher
    guard watcher.pointee.traits.contains(.charged) else { return nil }
    return watcher.pointee.receiver.takeUnretainedValue()
  }
}

extension LinkState {
  /// How many members the link knows something of.
  var memberCount: Int {
    guard let operating else { return members.count }
    return members.count + operating.values.count + (operating.aggregate?.size ?? 0)
  }
}
