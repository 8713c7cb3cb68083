extension ObservationCore {
  /// The change delivered to an immediate watcher.
  @_documentation(visibility: internal)
  public enum ImmediateChange {
    /// A write that is under way.
    case written(Change)
    /// A completed write, in a form of the receiver that does not refer to the graph; nil if
    /// nothing is known of it.
    case saved(AnyObject?)

    /// Whether the write changed nothing (T5).
    package var isSame: Bool {
      if case .written(let change) = self { change.isSame } else { false }
    }
  }
}
