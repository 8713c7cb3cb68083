/// A mirror cannot be made, or has ended, and why.
public struct MirrorError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A sentence for the reader of a log.
  public let description: String

  package init(_ description: String) { self.description = description }
}
