/// The tree of this process, of a script or of Swift objects.
package protocol MirroredTree: AnyObject {
  /// Gives the session what was written since the last call, by `MirrorSession.wrote`.
  func collect()
  /// Makes the changes of others in the tree, as the writes of `writer`.
  func perform(_ step: MirrorStep, from writer: String)
  /// Receives changes of this process that were dropped (A4).
  func rejected(_ rejections: MirrorRejections)
  /// Called after `state`, `pending`, `version` or `peers` has changed.
  func statusDidChange()
  /// Reports an error that has no caller.
  func report(_ error: MirrorError)
  /// Tells the reader of a log what may go wrong, while the mirror goes on.
  func warn(_ text: String)
}
