/// Identifies a watcher or a lazy property while code of the program runs, which may end it.
package struct WatcherID: Hashable {
  /// Its index in the table of watchers.
  let index: Int
  /// Grows with each registration, and is never reused.
  package let number: UInt64

  package init(index: Int, number: UInt64) { (self.index, self.number) = (index, number) }
}

extension WatcherRef {
  package var identity: WatcherID { WatcherID(index: pointee.index, number: pointee.id) }
}
