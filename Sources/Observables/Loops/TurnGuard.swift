/// An object that can undo whole turns of a loop; called on the loop's thread.
package protocol TurnGuard: AnyObject {
  /// A turn begins: later writes belong to it.
  func turnBegins()
  /// Undoes the writes of the turn if necessary; returns whether there was anything to undo.
  ///
  /// Called before the watchers are called, and again afterwards.
  func takeBack() -> Bool
  /// The turn has ended.
  func turnEnds()
}
