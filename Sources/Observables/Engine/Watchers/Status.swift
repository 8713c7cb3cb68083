extension ObservationCore.WatcherRecord {
  /// Whether the value that was delivered to a watcher last, or that a lazy property has, still
  /// holds.
  package enum Status: UInt8, Sendable {
    /// Nothing has changed: a lazy property is valid.
    case clean
    /// A computed value among the dependencies may be another one: it is compared before the
    /// watcher is called, or the property computed.
    case check
    /// Something has changed: the watcher is called, or the property computed.
    case stale
    /// A lazy property could not be computed, and nothing has changed since.
    case failed
  }

  /// Whether the watcher is to be called, or the property to be computed.
  package var isPending: Bool { status != .clean }
  /// Whether it is pending, and there is nothing to compare first.
  package var isStale: Bool { status.rawValue >= Status.stale.rawValue }

  /// Whether it is called, whatever happens until the flush.
  @inline(__always) var isCertain: Bool { isStale && !flags.contains(.tentative) }

  /// Whether the flush has something to do with the watcher.
  var wantsFlush: Bool { isPending || flags.contains(.checkingDepartures) }

  /// What made it stale was taken back.
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
