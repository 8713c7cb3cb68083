/// What may undo whole turns of a loop; called on its thread.
package protocol TurnGuard: AnyObject {
  /// A turn begins: what is written from now on belongs to it.
  func turnBegins()
  /// Takes back what was written in the turn, where that is to be; false where nothing was.
  ///
  /// Called before the watchers are, and after that.
  func takeBack() -> Bool
  /// The turn is over.
  func turnEnds()
}
