/// A watcher that is to be called in a write for a lazy property that became invalid in it.
struct PendingComparison {
  let watcher: WatcherID
  let lazy: WatcherID
  /// The value that the property had, as its receiver keeps it, and the version of that value.
  let old: AnyObject?
  let version: Int
  /// The path that watches all properties of the object; nil where the property itself is on a
  /// path.
  let every: Path?
  /// When it became invalid; `max` until the write that made it so is reported.
  var time: Int
}
