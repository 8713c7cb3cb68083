/// The state of a mirror.
public enum MirrorState: String, Sendable {
  /// The server has not answered yet.
  case connecting
  /// The tree has everything that the server had a moment ago.
  case live
  /// The server has batches that the tree does not have yet.
  case behind
  /// The connection is lost, and the mirror tries to connect again.
  case offline
  /// Writes are refused: too much waits for the server, or the mirror cannot go on.
  case failed
  /// The mirror was ended.
  case stopped
}
