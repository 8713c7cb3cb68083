/// The event loop of a library that runs inside a loop.
///
/// The outer loop waits for both, and each iteration is a turn. Called on the loop's thread only.
package protocol InnerLoop: AnyObject {
  /// Whether it has pending work that keeps a program running.
  var isAlive: Bool { get }
  /// A descriptor that is readable when the inner loop has something to do.
  var descriptor: Int32 { get }
  /// Seconds until its next timer; nil without a timer.
  ///
  /// Timers that were started since the last iteration may not count yet.
  var secondsToNext: Double? { get }
  /// Updates its time, from which new timers count.
  func updateTime()
  /// Does everything that can be done without waiting, and returns whether there was anything to
  /// do.
  ///
  /// If `isNeeded` is true, the outer loop has other reasons to go on. Work that does not keep a
  /// program running is then done as well.
  func iterate(isNeeded: Bool) -> Bool
}
