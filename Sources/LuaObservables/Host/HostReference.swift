/// A reference to a host, as a weak one would be: nil when the host is gone.
///
/// A weak reference to the host itself would make counting its references several times as
/// expensive from then on: each call of a script counts them. Confined to the loop's thread, as the
/// host is.
final class HostReference {
  /// The host; it sets this to nil when it goes.
  unowned(unsafe) var host: LuaHost?
}

// The host is only used on the loop's thread; other threads only pass the reference on.
extension HostReference: @unchecked Sendable {}
