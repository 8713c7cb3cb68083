extension ObservationCore.WatcherRecord {
  /// Whether the value last delivered to a watcher, or the value of a lazy property, still holds.
  package enum Status: UInt8, Sendable {
    /// Nothing has changed: a lazy property is valid.
    case clean
    /// A computed value among the dependencies may differ: it is compared before the watcher is
    /// called or the property computed.
    case check
    /// Something has changed: the watcher is called, or the property computed.
    case stale
    /// A lazy property could not be computed, and nothing has changed since.
    case failed
  }

  /// Whether the watcher is to be called, or the property to be computed.
  package var isPending: Bool { status != .clean }
  /// Whether it is pending and needs no comparison first.
  package var isStale: Bool { status.rawValue >= Status.stale.rawValue }

  /// Whether the flush will call it, whatever else happens until then.
  @inline(__always) var isCertain: Bool { isStale && !flags.contains(.tentative) }

  /// Whether the flush has work to do for the watcher.
  var wantsFlush: Bool { isPending || flags.contains(.checkingDepartures) }

  /// Lowers `stale` to `check`, when the writes that made it stale were taken back.
  mutating func lower() { if status == .stale { status = .check } }

  /// Notes that a dependency has changed (`stale`), or may have (`check`).
  @inline(__always)
  mutating func raise(to other: Status) {
    if status == .failed {
      // A property that failed has no value that could still hold.
      status = .stale
    } else if status.rawValue < other.rawValue {
      status = other
    }
  }
}
