/// A reference to a host that becomes nil with it, as a weak reference would.
///
/// A real weak reference would make every later retain and release of the host several times as
/// expensive, and each call of a script does these. Confined to the loop's thread, as the host is.
final class HostReference {
  /// The host, which sets this to nil when it is destroyed.
  unowned(unsafe) var host: LuaHost?
}

// The host is used only on the loop's thread; other threads only pass the reference on.
extension HostReference: @unchecked Sendable {}
