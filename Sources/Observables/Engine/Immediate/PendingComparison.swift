/// A watcher that may have to be called in a write, for a lazy property that the write made
/// invalid.
struct PendingComparison {
  let watcher: WatcherID
  let lazy: WatcherID
  /// The former value of the property, as its receiver keeps it, and the version of that value; nil
  /// while the watcher is paused.
  var old: AnyObject?
  let version: Int
  /// The path that watches all properties of the object; nil if the property itself is on a path.
  let every: Path?
  /// When it became invalid; `max` until the responsible write is reported.
  var time: Int
}
