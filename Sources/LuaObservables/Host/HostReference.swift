/// Leads to a host as long as that is there, as a weak reference would.
///
/// A weak reference to the host itself would make each of its reference counts several times as
/// expensive, for ever: they are taken in every call of a script. Confined to the loop's thread, as
/// the host is.
final class HostReference {
  /// The host takes itself out of here when it goes.
  unowned(unsafe) var host: LuaHost?
}

// Only used on the loop's thread; others carry it back there.
extension HostReference: @unchecked Sendable {}
