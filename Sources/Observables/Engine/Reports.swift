/// Errors that cannot be thrown to a caller, and counters.
package struct Reports: Room {
  package let rooms: Rooms
  struct State {
    /// Called with errors that cannot be thrown to a caller (T4, T9).
    fileprivate var onError: ((EngineError) -> Void)?
    fileprivate var statistics = EngineStatistics()
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.reports) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.reports)
    }
  }

  package var onError: ((EngineError) -> Void)? {
    get { state.onError }
    nonmutating set { state.onError = newValue }
  }

  package func report(_ error: EngineError) {
    state.statistics.errors += 1
    state.onError?(error)
  }

  package var statistics: EngineStatistics {
    @inline(__always) get { state.statistics }
    @inline(__always) nonmutating set { state.statistics = newValue }
  }

  /// The number of the turn under way, or else of the next one; `stats` shows this number at its
  /// end.
  package var currentTurn: Int { state.statistics.turns + 1 }
}

/// Counters for `stats`.
package struct EngineStatistics {
  package var turns = 0
  package var calls = 0
  package var watchers = 0
  package var nodes = 0
  package var errors = 0
}
