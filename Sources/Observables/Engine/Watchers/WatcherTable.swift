/// The watchers and lazy properties that have not ended, by their identities.
///
/// An index is reused when its watcher has ended, but the number that goes with it never is: an
/// identity finds its own watcher or none.
struct WatcherTable {
  /// The records by index; `nil` if the record has ended.
  private var records: [WatcherRef?] = []
  private var freeIndices: [Int] = []
  /// The number of the watcher that was added last.
  private(set) var lastNumber: UInt64 = 0
  private var count = 0
  /// The index that the next watcher will have; in memory that a bridge without Swift can read.
  let nextIndex: UnsafeMutablePointer<Int>

  init() {
    nextIndex = .allocate(capacity: 1)
    nextIndex.initialize(to: 0)
  }

  /// The watcher with this identity, if it has not ended.
  subscript(name: WatcherID) -> WatcherRef? {
    guard name.index < records.count, let watcher = records[name.index],
      watcher.pointee.id == name.number
    else { return nil }
    return watcher
  }

  /// All indices are below this one.
  var endIndex: Int { records.count }

  /// The current watcher at this index.
  func watcher(at index: Int) -> WatcherRef? { index < records.count ? records[index] : nil }

  /// The identity of the watcher that is added next.
  var nextName: WatcherID { WatcherID(index: nextIndex.pointee, number: lastNumber + 1) }

  /// Adds a watcher that has `nextName`.
  mutating func add(_ watcher: WatcherRef) {
    lastNumber = watcher.pointee.id
    count += 1
    if watcher.pointee.index == records.count {
      records.append(watcher)
    } else {
      freeIndices.removeLast()
      records[watcher.pointee.index] = watcher
    }
    noteNextIndex()
  }

  /// Removes a watcher; later look-ups by its identity find nothing.
  mutating func remove(_ watcher: WatcherRef) {
    records[watcher.pointee.index] = nil
    count -= 1
    if count == 0, records.count > 4096 {
      // The memory is freed: numbers are never used again, so indices may be.
      records = []
      freeIndices = []
    } else {
      freeIndices.append(watcher.pointee.index)
    }
    noteNextIndex()
  }

  private func noteNextIndex() { nextIndex.pointee = freeIndices.last ?? records.count }

  func free() { nextIndex.deallocate() }
}
