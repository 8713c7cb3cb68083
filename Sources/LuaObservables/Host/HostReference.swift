internal import Observables

/// A reference to a host that becomes nil with it, as a weak reference would.
///
/// A real weak reference would make every later retain and release of the host several times as
/// expensive, and each call of a script does these. Confined to the loop's thread, as the host is.
final class HostReference {
  /// The host, which sets this to nil when it is destroyed.
  unowned(unsafe) var host: LuaHost?

  /// Calls `body` with the host, unless the host is destroyed, and keeps the host alive.
  func use(_ body: (LuaHost) -> Void) {
    guard let host = host.map(Unmanaged.passUnretained) else { return }
    host.keeping { body(host._withUnsafeGuaranteedRef { $0 }) }
  }
}

extension HostReference: LoopMember {
  func loopEnds() { use { $0.close() } }
}

extension Unmanaged<LuaHost> {
  /// Runs `body`, which calls scripts of the host, and keeps the host alive.
  ///
  /// A Swift function that a script calls may drop the last other reference. While the engine still
  /// uses its parts, the host then lives until the turn is over; otherwise it ends here.
  @inline(__always)
  func keeping<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var host = takeUnretainedValue()
    defer {
      if isKnownUniquelyReferenced(&host) {
        let engine = host.engine
        if engine.isOccupied { engine.delivery.hold(host) }
      }
    }
    return try body()
  }
}

// The host is used only on the loop's thread; other threads only pass the reference on.
extension HostReference: @unchecked Sendable {}
