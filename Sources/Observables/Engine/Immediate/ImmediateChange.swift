extension ObservationCore {
  /// What an immediate watcher is given.
  @_documentation(visibility: internal)
  public enum ImmediateChange {
    /// A write that is under way.
    case written(Change)
    /// One that is over, in a form of the receiver's that needs nothing of the graph; nil where
    /// nothing is known of it.
    case saved(AnyObject?)

    /// T5: nothing changed.
    package var isSame: Bool {
      if case .written(let change) = self { change.isSame } else { false }
    }
  }
}
