/// An object that is notified when keys of a model are observed, so that it can keep the model
/// alive.
package protocol ObservationKeeper: AnyObject {
  /// Called when a key of the model got its first watcher or lost its last one (W1).
  func observedChanged(isObserved: Bool)
  /// The loop that observes the model, if its thread has several; nil leaves the choice to the
  /// usual rules.
  var loop: Loop? { get }
}
