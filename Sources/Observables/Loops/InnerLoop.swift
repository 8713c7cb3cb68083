/// The event loop of a library, which runs inside of a loop: that waits for both, and each
/// iteration is a turn.
///
/// Called on the loop's thread only.
package protocol InnerLoop: AnyObject {
  /// Whether anything of it is still to come that keeps a program running.
  var isAlive: Bool { get }
  /// Readable when it has something to do.
  var descriptor: Int32 { get }
  /// Seconds until its next timer; nil without one.
  ///
  /// What was begun since the last iteration may not count yet.
  var secondsToNext: Double? { get }
  /// Takes note of the time: its timers count from the last note.
  func updateTime()
  /// Does what can be done without waiting, and returns whether there was anything.
  ///
  /// `isNeeded` tells that the outer loop has other reasons to go on: what does not keep a program
  /// running is served, too.
  func iterate(isNeeded: Bool) -> Bool
}
