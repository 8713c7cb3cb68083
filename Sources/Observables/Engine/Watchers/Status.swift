extension ObservationCore.WatcherRecord {
  /// How what was delivered to a watcher, or a lazy property has, stands to what that depends on.
  package enum Status: UInt8, Sendable {
    /// Nothing has changed: a lazy property is valid.
    case clean
    /// A computed value that it depends on may be another one: it compares before it is called, or
    /// computed.
    case check
    /// Something has changed: it is called, or computed.
    case stale
    /// A lazy property could not be computed, and nothing has changed since.
    case failed
  }

  /// It is to be called, or computed.
  package var isPending: Bool { status != .clean }
  /// The same, and there is nothing to compare first.
  package var isStale: Bool { status.rawValue >= Status.stale.rawValue }

  /// The flush has something to do with it.
  var wantsFlush: Bool { isPending || flags.contains(.checkingDepartures) }

  /// Something that it depends on has changed (`stale`), or may have (`check`).
  @inline(__always)
  mutating func raise(to other: Status) {
    if status == .failed {
      // It has no value that could turn out to be right.
      status = .stale
    } else if status.rawValue < other.rawValue {
      status = other
    }
  }
}
