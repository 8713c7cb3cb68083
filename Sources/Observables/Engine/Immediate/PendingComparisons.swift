/// Immediate watchers that may have to be called for lazy properties which became invalid.
///
/// Whether one is called is known when all that depends on the write is invalid (T9): then the
/// properties are brought up to date and compared with what they were. While a batch is open, while
/// an operation collects calls that it makes itself, and while the watcher is paused, the
/// comparison waits.
final class PendingComparisons {
  /// The engine, which owns this object.
  @exclusivity(unchecked) unowned(unsafe) var engine: Engine!
  /// Watchers that are to be called in the write under way.
  @exclusivity(unchecked) private var pending: [PendingComparison] = []
  /// How many operations look for calls of immediate watchers that they will make; in memory that a
  /// bridge without Swift can read.
  let collectors: UnsafeMutablePointer<Int32>
  /// The comparisons of paused watchers, which are made when they are resumed.
  @exclusivity(unchecked) private var paused: [WatcherID: [PendingComparison]] = [:]
  /// The lazy property that a program assigns, and the value that it had, where that is to be
  /// delivered to immediate watchers.
  @exclusivity(unchecked) private var assigning: (lazy: WatcherID, old: AnyObject?)?

  @inline(__always) var isEmpty: Bool { pending.isEmpty }

  init() {
    collectors = .allocate(capacity: 1)
    collectors.initialize(to: 0)
  }

  deinit { collectors.deallocate() }

  /// The watcher of a link may have to be called for a property that has become invalid; `isEarly`:
  /// the write is reported later.
  func note(_ link: LinkRef, _ lazy: WatcherRef, isEarly: Bool = false) {
    let watcher = link.pointee.wire.pointee.watcher
    let time = isEarly ? .max : engine.immediates.nextTime()
    let known = pending.firstIndex {
      $0.watcher == watcher.identity && $0.lazy == lazy.identity
    }
    if let known {
      pending[known].time = min(pending[known].time, time)
      return
    }
    let old = assigning?.lazy == lazy.identity ? assigning?.old : lastValue(of: lazy)
    pending.append(
      PendingComparison(
        watcher: watcher.identity, lazy: lazy.identity, old: old, version: lazy.version,
        every: link.pointee.slot?.pointee.isEvery == true
          ? link.pointee.wire.pointee.path.takeUnretainedValue() : nil,
        time: time))
  }

  private func lastValue(of lazy: WatcherRef) -> AnyObject? {
    guard lazy.pointee.flags.contains(.known) else { return nil }
    return lazy.pointee.receiver.takeUnretainedValue().value(of: lazy, isBase: false)
  }

  /// A program is about to assign the value of a property; the value that it has is delivered to
  /// watchers as the old one.
  func beginAssigning(_ lazy: WatcherRef) { assigning = (lazy.identity, lastValue(of: lazy)) }

  func endAssigning() { assigning = nil }

  /// Runs an operation that looks for calls, and makes all of them in order: those of watchers that
  /// are noted meanwhile, too (`take`).
  @inline(__always)
  func collecting<Result>(_ body: () -> Result) -> Result {
    collectors.pointee += 1
    defer { collectors.pointee -= 1 }
    return body()
  }

  /// Calls the watchers that are to be notified in a write of the properties that became invalid in
  /// it, if those have other values now.
  func call() {
    if pending.isEmpty || engine.immediates.batchDepth > 0 || collectors.pointee > 0 { return }
    let calls = take()
    // Writes from here on are no part of the assignment.
    if !calls.isEmpty { assigning = nil }
    engine.immediates.make(calls)
  }

  /// The calls for properties that have other values now; `hasWaited`: the comparisons were put
  /// off.
  func take(hasWaited: Bool = false) -> [ImmediateCalls.Call] {
    if pending.isEmpty { return [] }
    return engine.records.hold { collecting { takeAll(hasWaited: hasWaited) } }
  }

  private func takeAll(hasWaited: Bool) -> [ImmediateCalls.Call] {
    var calls: [ImmediateCalls.Call] = []
    while !pending.isEmpty {
      let comparisons = pending
      pending = []
      var seen: Set<WatcherID> = []
      for comparison in comparisons where seen.insert(comparison.watcher).inserted {
        if let watcher = engine.watcher(comparison.watcher), watcher.pointee.flags.contains(.paused)
        {
          putAside(comparisons.filter { $0.watcher == comparison.watcher })
        } else if let call = call(of: comparison.watcher, because: comparisons, hasWaited) {
          calls.append(call)
        }
      }
    }
    return calls
  }

  /// Puts comparisons of a paused watcher aside until it is resumed.
  private func putAside(_ comparisons: [PendingComparison]) {
    for comparison in comparisons {
      let isKnown = paused[comparison.watcher]?.contains { $0.lazy == comparison.lazy } == true
      if !isKnown { paused[comparison.watcher, default: []].append(comparison) }
    }
  }

  /// The watcher is resumed: its comparisons are pending again, for `call` or the end of a batch.
  func resume(_ name: WatcherID) {
    if paused.isEmpty { return }
    if let comparisons = paused.removeValue(forKey: name) {
      pending.append(contentsOf: comparisons)
    }
  }

  /// Drops the comparisons of a paused watcher that has ended.
  func forget(_ watcher: WatcherRef) {
    if !paused.isEmpty { paused[watcher.identity] = nil }
  }

  /// The call of an immediate watcher for a lazy property at a link that has another value, to be
  /// made when the batch ends; nil where there is no such property.
  func take(
    of watcher: WatcherRef, at link: LinkRef, on path: Path
  ) -> ImmediateCalls.Call? {
    resume(watcher.identity)
    guard let lazy = link.pointee.slot?.pointee.lazy,
      let comparison = remove(of: watcher, about: lazy.identity)
    else { return nil }
    if watcher.pointee.flags.contains(.paused) {
      putAside(pending.filter { $0.watcher == comparison.watcher })
      pending.removeAll { $0.watcher == comparison.watcher }
    }
    return call(for: comparison, lazy, on: path, hasWaited: true)
  }

  private func remove(of watcher: WatcherRef, about lazy: WatcherID) -> PendingComparison? {
    pending.firstIndex { $0.watcher == watcher.identity && $0.lazy == lazy }
      .map { pending.remove(at: $0) }
  }

  /// The call of an immediate watcher for a lazy property which became invalid in the write that is
  /// being delivered, and has another value; nil where `lazy` is not such a property.
  func take(
    of watcher: WatcherRef, about lazy: WatcherID, on path: Path
  ) -> ImmediateCalls.Call? {
    guard let lazy = engine.watcher(lazy), lazy.slot?.pointee.node.isDead == false,
      let comparison = remove(of: watcher, about: lazy.identity)
    else { return nil }
    return call(for: comparison, lazy, on: path, hasWaited: false)
  }

  /// Whether a property of an object that is watched as a whole has another value than when it
  /// became invalid.
  private func hasChanged(_ comparison: PendingComparison, for watcher: WatcherRef) -> Bool {
    guard let lazy = engine.watcher(comparison.lazy), !lazy.isOutdated,
      lazy.version != comparison.version
    else { return false }
    var isThere = false
    engine.forEachWire(of: watcher) {
      if $0.pointee.path._withUnsafeGuaranteedRef({ $0 === comparison.every }) { isThere = true }
    }
    return isThere
  }

  private func call(
    of name: WatcherID, because comparisons: [PendingComparison], _ hasWaited: Bool
  ) -> ImmediateCalls.Call? {
    guard let watcher = engine.watcher(name), let root = watcher.pointee.root, !root.isDead,
      root.kind.isThere(root), engine.settleDependencies(of: watcher), engine.rewire(watcher),
      let refreshed = engine.refresh(watcher)
    else { return nil }
    let own = comparisons.filter { $0.watcher == name }
    // A property may have a value again that it had before the one that was delivered to the
    // watcher last.
    let changed = own.first { $0.every != nil && hasChanged($0, for: watcher) }
    guard let path = refreshed.path ?? changed?.every else {
      if engine.isRecording { engine.recorder?.unchanged(watcher) }
      return nil
    }
    if refreshed.path != nil, refreshed.lazy == nil,
      let noted = engine.immediates.takeNoted(of: name, on: path)
    {
      return noted
    }
    let comparison = own.first { $0.lazy == refreshed.lazy } ?? changed ?? own[0]
    guard let lazy = engine.watcher(comparison.lazy), lazy.slot?.pointee.node.isDead == false
    else { return nil }
    return call(for: comparison, lazy, on: path, hasWaited: hasWaited)
  }

  private func call(
    for comparison: PendingComparison, _ lazy: WatcherRef, on path: Path, hasWaited: Bool
  ) -> ImmediateCalls.Call {
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    // A value that is as before comes last: it is delivered only where nothing else is due.
    let isBack = hasWaited && comparison.old.map { receiver.has($0, as: lazy) } ?? false
    return ImmediateCalls.Call(
      watcher: comparison.watcher, change: .saved(receiver.change(of: lazy, from: comparison.old)),
      path: path, time: isBack ? .max : comparison.time)
  }
}
