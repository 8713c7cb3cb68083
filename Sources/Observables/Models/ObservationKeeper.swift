/// What is notified when keys of a model are observed, so that it can keep the model.
package protocol ObservationKeeper: AnyObject {
  /// A key of the model got its first watcher, or lost its last (W1).
  func observedChanged(isObserved: Bool)
  /// The loop that observes the model, whichever others its thread has; nil where none is meant.
  var loop: Loop? { get }
}
