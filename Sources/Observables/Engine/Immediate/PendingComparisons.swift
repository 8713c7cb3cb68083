/// Immediate watchers that may have to be called for lazy properties which became invalid.
///
/// The decision is made when all dependents of the write are invalid (T9): then the properties are
/// brought up to date and compared with their former values. The comparison waits while a batch is
/// open, while an operation collects calls that it makes itself, and while the watcher is paused.
package struct PendingComparisons: Room {
  package let rooms: Rooms

  struct State {
    /// The comparisons that decide which watchers are called in the write under way.
    fileprivate var pending: [PendingComparison] = []
    /// How many operations are collecting calls of immediate watchers that they will make; in
    /// memory that C can read.
    fileprivate let collectors: UnsafeMutablePointer<Int32>
    /// The comparisons of paused watchers, made when the watchers are resumed.
    fileprivate var paused: [WatcherID: [PendingComparison]] = [:]
    /// The lazy property that a program is assigning, and its former value, which is delivered to
    /// immediate watchers.
    fileprivate var assigning: (lazy: WatcherID, old: AnyObject?)?

    init() {
      collectors = .allocate(capacity: 1)
      collectors.initialize(to: 0)
    }
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.comparisons) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.comparisons)
    }
  }

  @inline(__always) var isEmpty: Bool { state.pending.isEmpty }

  /// Not 0 while getters may run to find the immediate watchers that a write calls; waiting writes
  /// are reported after that, in order.
  package var collectors: UnsafePointer<Int32> { UnsafePointer(state.collectors) }

  func free() { state.collectors.deallocate() }

  /// Notes that the watcher of a link may have to be called for a property that became invalid.
  ///
  /// `isEarly` says that the write is reported later.
  func note(_ link: LinkRef, _ lazy: WatcherRef, isEarly: Bool = false) {
    let watcher = link.pointee.wire.pointee.watcher
    let time = isEarly ? .max : immediates.nextTime()
    let known = state.pending.firstIndex {
      $0.watcher == watcher.identity && $0.lazy == lazy.identity
    }
    if let known {
      state.pending[known].time = min(state.pending[known].time, time)
      return
    }
    let old = state.assigning?.lazy == lazy.identity ? state.assigning?.old : lastValue(of: lazy)
    state.pending.append(
      PendingComparison(
        watcher: watcher.identity, lazy: lazy.identity, old: old, version: lazy.version,
        every: link.pointee.slot?.pointee.isEvery == true
          ? link.pointee.wire.pointee.path.takeUnretainedValue() : nil,
        time: time))
  }

  private func lastValue(of lazy: WatcherRef) -> AnyObject? {
    guard lazy.lazyState.pointee.isKnown else { return nil }
    return lazy.pointee.receiver.takeUnretainedValue().value(of: lazy, isBase: false)
  }

  /// Begins an assignment of a property by a program; watchers receive the current value as the old
  /// one.
  func beginAssigning(_ lazy: WatcherRef) { state.assigning = (lazy.identity, lastValue(of: lazy)) }

  func endAssigning() { state.assigning = nil }

  /// Runs an operation that collects calls of immediate watchers, including watchers that are noted
  /// while it runs; `call` makes no calls until it returns.
  @inline(__always)
  func collecting<Result>(_ body: () -> Result) -> Result {
    state.collectors.pointee += 1
    defer { state.collectors.pointee -= 1 }
    return body()
  }

  /// Calls the immediate watchers of properties that became invalid, if the properties now have
  /// different values.
  func call() {
    if state.pending.isEmpty || immediates.batchDepth > 0 || state.collectors.pointee > 0 { return }
    let calls = take()
    // Later writes are no part of the assignment.
    if !calls.isEmpty { state.assigning = nil }
    immediates.make(calls)
  }

  /// The calls for properties that now have different values; `hasWaited` says that the comparisons
  /// were deferred.
  func take(hasWaited: Bool = false) -> [ImmediateCalls.Call] {
    if state.pending.isEmpty { return [] }
    return records.hold { collecting { takeAll(hasWaited: hasWaited) } }
  }

  private func takeAll(hasWaited: Bool) -> [ImmediateCalls.Call] {
    var calls: [ImmediateCalls.Call] = []
    while !state.pending.isEmpty {
      let comparisons = state.pending
      state.pending = []
      var seen: Set<WatcherID> = []
      for comparison in comparisons where seen.insert(comparison.watcher).inserted {
        if let watcher = watchers[comparison.watcher], watcher.pointee.isPaused {
          putAside(comparisons.filter { $0.watcher == comparison.watcher })
        } else if let call = call(of: comparison.watcher, because: comparisons, hasWaited) {
          calls.append(call)
        }
      }
    }
    return calls
  }

  /// Keeps comparisons of a paused watcher until it is resumed.
  ///
  /// The former values are left to the objects of the properties, as they may refer to the observed
  /// object (L6).
  private func putAside(_ comparisons: [PendingComparison]) {
    for var comparison in comparisons {
      let isKnown =
        state.paused[comparison.watcher]?.contains { $0.lazy == comparison.lazy } == true
      comparison.old = nil
      if !isKnown { state.paused[comparison.watcher, default: []].append(comparison) }
    }
  }

  /// Makes the comparisons of a resumed watcher pending again, for `call` or the end of a batch.
  func resume(_ name: WatcherID) {
    if state.paused.isEmpty { return }
    for var comparison in state.paused.removeValue(forKey: name) ?? [] {
      comparison.old = watchers[comparison.lazy].flatMap {
        deliveredValues.value(of: $0, version: comparison.version)
      }
      state.pending.append(comparison)
    }
  }

  /// Drops the comparisons of a paused watcher that has ended.
  func forget(_ watcher: WatcherRef) {
    if !state.paused.isEmpty { state.paused[watcher.identity] = nil }
  }

  /// The call of an immediate watcher for a lazy property at a link that has a different value, to
  /// be made when the batch ends; nil if there is no such property.
  func take(
    of watcher: WatcherRef, at link: LinkRef, on path: Path
  ) -> ImmediateCalls.Call? {
    resume(watcher.identity)
    guard let lazy = link.pointee.slot?.pointee.lazy,
      let comparison = remove(of: watcher, about: lazy.identity)
    else { return nil }
    if watcher.pointee.isPaused {
      putAside(state.pending.filter { $0.watcher == comparison.watcher })
      state.pending.removeAll { $0.watcher == comparison.watcher }
    }
    return call(for: comparison, lazy, on: path, hasWaited: true)
  }

  private func remove(of watcher: WatcherRef, about lazy: WatcherID) -> PendingComparison? {
    state.pending.firstIndex { $0.watcher == watcher.identity && $0.lazy == lazy }
      .map { state.pending.remove(at: $0) }
  }

  /// The call of an immediate watcher for a lazy property that became invalid in the write being
  /// delivered, and has a different value; nil if `lazy` is not such a property.
  func take(
    of watcher: WatcherRef, about lazy: WatcherID, on path: Path
  ) -> ImmediateCalls.Call? {
    guard let lazy = watchers[lazy], lazy.slot?.pointee.node.isDead == false,
      let comparison = remove(of: watcher, about: lazy.identity)
    else { return nil }
    return call(for: comparison, lazy, on: path, hasWaited: false)
  }

  /// Whether a property of an object that is watched as a whole has a different value than when it
  /// became invalid.
  private func hasChanged(_ comparison: PendingComparison, for watcher: WatcherRef) -> Bool {
    guard let lazy = watchers[comparison.lazy], !lazy.isOutdated,
      lazy.version != comparison.version
    else { return false }
    var isThere = false
    wiring.forEachWire(of: watcher) {
      if $0.pointee.path._withUnsafeGuaranteedRef({ $0 === comparison.every }) { isThere = true }
    }
    return isThere
  }

  private func call(
    of name: WatcherID, because comparisons: [PendingComparison], _ hasWaited: Bool
  ) -> ImmediateCalls.Call? {
    guard let watcher = watchers[name], let root = watcher.pointee.root, !root.isDead,
      root.kind.isThere(root), dependents.follow(watcher),
      let refreshed = dependents.refresh(watcher)
    else { return nil }
    let own = comparisons.filter { $0.watcher == name }
    // A property may again have an earlier value than the one last delivered to the watcher.
    let changed = own.first { $0.every != nil && hasChanged($0, for: watcher) }
    guard let path = refreshed.path ?? changed?.every else {
      if recording.isOn { recording.recorder?.unchanged(watcher) }
      return nil
    }
    if refreshed.path != nil, refreshed.lazy == nil,
      let noted = immediates.takeNoted(of: name, on: path)
    {
      return noted
    }
    let comparison = own.first { $0.lazy == refreshed.lazy } ?? changed ?? own[0]
    guard let lazy = watchers[comparison.lazy], lazy.slot?.pointee.node.isDead == false
    else { return nil }
    return call(for: comparison, lazy, on: path, hasWaited: hasWaited)
  }

  private func call(
    for comparison: PendingComparison, _ lazy: WatcherRef, on path: Path, hasWaited: Bool
  ) -> ImmediateCalls.Call {
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    // An unchanged value comes last: it is delivered only if nothing else is due.
    let isBack = hasWaited && comparison.old.map { receiver.has($0, as: lazy) } ?? false
    return ImmediateCalls.Call(
      watcher: comparison.watcher, change: .saved(receiver.change(of: lazy, from: comparison.old)),
      path: path, time: isBack ? .max : comparison.time)
  }
}
