/// An error that a callback has thrown.
///
/// A callback has no caller that could catch it, so ``Loop/onError`` receives it (T10). The watcher
/// stays active, and the other watchers are still called.
public struct WatcherError: Error {
  /// The error that the callback threw.
  public let underlying: any Error
  /// The watcher's name: ``WatcherOptions/name``, or ``site``.
  public let watcher: String
  /// The place where the watcher was registered, as "file:line".
  public let site: String

  package init(_ underlying: any Error, watcher: String, site: String) {
    (self.underlying, self.watcher, self.site) = (underlying, watcher, site)
  }
}

extension WatcherError: CustomStringConvertible {
  /// The description of the error, followed by a line that names the watcher.
  public var description: String {
    let place = watcher == site ? "" : " (registered at \(site))"
    return "\(underlying)\nin watcher \(watcher)\(place)"
  }
}
