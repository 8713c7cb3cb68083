/// The error that a callback has thrown, which has no caller: `Loop.onError` is given it (T10).
///
/// The watcher stays, and the others are called.
public struct WatcherError: Error {
  /// What the callback has thrown.
  public let underlying: any Error
  /// How the watcher is called: what ``WatcherOptions/name`` gave, or ``site``.
  public let watcher: String
  /// Where the watcher was registered, "file:line".
  public let site: String

  package init(_ underlying: any Error, watcher: String, site: String) {
    (self.underlying, self.watcher, self.site) = (underlying, watcher, site)
  }
}

extension WatcherError: CustomStringConvertible {
  /// The error as it describes itself, and the watcher on the line below it.
  public var description: String {
    let place = watcher == site ? "" : " (registered at \(site))"
    return "\(underlying)\nin watcher \(watcher)\(place)"
  }
}
