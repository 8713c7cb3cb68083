/// The reason why a watcher was not called.
public struct Silence: Sendable {
  /// The kinds of reasons.
  public enum Reason: String, Sendable {
    /// The key that was written, or the property that was computed again, has the same value as
    /// before.
    case equal
    /// The path leads to an object that does not exist.
    case unreachable
    /// The watcher is paused.
    case paused
    /// The watcher has ended.
    case stopped
    /// The watcher will be called in the next flush.
    case pending
    /// The watched property could not be computed.
    case failed
    /// The watcher was called.
    case called
    /// No key on the watcher's paths was written.
    case unwritten
  }

  /// The kind of the reason.
  public let reason: Reason
  /// The reason in words.
  public package(set) var detail: String
}
