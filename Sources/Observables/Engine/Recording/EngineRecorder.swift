extension ObservationCore {
  /// The base class of objects that are notified of the engine's steps.
  ///
  /// All calls come during an operation: a recorder must only take notes.
  @_documentation(visibility: internal)
  open class EngineRecorder {
    /// Makes the base part of a recorder; only subclasses call it.
    public init() {}
    open func wrote(_ change: Change) {}
    open func marked(_ watcher: WatcherRef, by change: Change) {}
    open func called(_ watcher: WatcherRef) {}
    /// Called when the callback that `called` reported has returned; its watcher may have ended.
    open func returned(_ watcher: WatcherRef) {}
    /// Called when a lazy property became invalid.
    open func invalidated(_ lazy: WatcherRef, by change: Change) {}
    /// Called when a program invalidates the lazy property at the slot of `change`.
    open func invalidating(_ change: Change) {}
    /// Called before a lazy property gets a value: it is assigned, or its getter runs.
    open func replacing(_ lazy: WatcherRef) {}
    /// Called when the getter of a lazy property has run.
    open func computed(_ lazy: WatcherRef, _ computation: Computation) {}
    /// Called when a pending watcher is not called, as its values were computed again and are
    /// equal.
    open func unchanged(_ watcher: WatcherRef) {}
    open func registered(_ watcher: WatcherRef, _ path: Path) {}
    open func ended(_ watcher: WatcherRef) {}
    /// Called when an object begins to be observed.
    func made(_ node: NodeRef) {}
    /// Called before the node of an object that is gone or no longer observed is removed.
    func removed(_ node: NodeRef) {}
  }
}

/// Several recorders of one engine: the hosts' recorders, and the loop's own.
final class RecorderGroup: EngineRecorder {
  private let recorders: [EngineRecorder]
  init(_ recorders: [EngineRecorder]) { self.recorders = recorders }

  override func wrote(_ change: Change) { for recorder in recorders { recorder.wrote(change) } }
  override func marked(_ watcher: WatcherRef, by change: Change) {
    for recorder in recorders { recorder.marked(watcher, by: change) }
  }
  override func called(_ watcher: WatcherRef) {
    for recorder in recorders { recorder.called(watcher) }
  }
  override func returned(_ watcher: WatcherRef) {
    for recorder in recorders { recorder.returned(watcher) }
  }
  override func invalidated(_ lazy: WatcherRef, by change: Change) {
    for recorder in recorders { recorder.invalidated(lazy, by: change) }
  }
  override func invalidating(_ change: Change) {
    for recorder in recorders { recorder.invalidating(change) }
  }
  override func replacing(_ lazy: WatcherRef) {
    for recorder in recorders { recorder.replacing(lazy) }
  }
  override func computed(_ lazy: WatcherRef, _ computation: Computation) {
    for recorder in recorders { recorder.computed(lazy, computation) }
  }
  override func unchanged(_ watcher: WatcherRef) {
    for recorder in recorders { recorder.unchanged(watcher) }
  }
  override func registered(_ watcher: WatcherRef, _ path: Path) {
    for recorder in recorders { recorder.registered(watcher, path) }
  }
  override func ended(_ watcher: WatcherRef) {
    for recorder in recorders { recorder.ended(watcher) }
  }
  override func made(_ node: NodeRef) { for recorder in recorders { recorder.made(node) } }
  override func removed(_ node: NodeRef) { for recorder in recorders { recorder.removed(node) } }
}
