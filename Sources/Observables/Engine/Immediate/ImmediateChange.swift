extension ObservationCore {
  /// The change that is delivered to an immediate watcher.
  @_documentation(visibility: internal)
  public enum ImmediateChange {
    /// A write that is under way.
    case written(Change)
    /// A write that is over, in a form of the receiver's that needs nothing of the graph; nil where
    /// nothing is known of it.
    case saved(AnyObject?)

    /// Whether the write changed nothing (T5).
    package var isSame: Bool {
      if case .written(let change) = self { change.isSame } else { false }
    }
  }
}
