/// Calls of watchers inside of writes (T9): which of them run now, and which have to wait.
///
/// A call that cannot be made at once is kept here with its change saved:
/// - while a batch is open, or its watcher is paused: the first call of each watcher (`waiting`);
/// - while its watcher is running: each call (`reruns`), made when the running call has returned;
/// - while calls are nested too deep: each call (`deferred`), made when the outermost call has
///   returned.
///
/// Calls by which watchers trigger themselves or each other are counted until the outermost call
/// has returned; beyond the limit they are dropped with an error.
package struct ImmediateCalls: Room {
  package let rooms: Rooms

  struct State {
    /// How many calls are nested.
    fileprivate var depth = 0
    /// How many batches are open.
    fileprivate var batchDepth = 0
    fileprivate var waiting: [WatcherID: Call] = [:]
    /// For each watcher, the first change that its derived values depend on; the values are
    /// compared when the batch ends, or when the paused watcher is resumed.
    fileprivate var derived: [WatcherID: Call] = [:]
    /// The lists of calls that are being made, the outermost first; a callback that writes begins
    /// another list.
    fileprivate var lists: [List] = []
    fileprivate var reruns: [Call] = []
    fileprivate var deferred: [Call] = []
    /// How often calls under way triggered each watcher.
    fileprivate var nested: [WatcherID: Int] = [:]
    fileprivate var time = 0
    /// Calls that would be nested deeper than this wait until the outermost call has returned (T9).
    fileprivate let nestingLimit = 50
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.immediates) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.immediates)
    }
  }

  struct Call {
    let watcher: WatcherID
    let change: ImmediateChange
    let path: Path
    /// The time of the change: of two waiting calls, the call with the earlier change is delivered.
    let time: Int
    /// The change in a form that outlives the write; nil if it was not saved.
    var saved: AnyObject?

    /// True if no comparison is necessary: the watcher has compared the change, or does not compare
    /// by itself.
    var isCompared = false

    /// This call for another path, which has a different value.
    func on(_ path: Path, isCompared: Bool = false) -> Call {
      Call(
        watcher: watcher, change: change, path: path, time: time, saved: saved,
        isCompared: isCompared)
    }

    /// This call with the change to deliver.
    func with(_ change: ImmediateChange) -> Call {
      Call(watcher: watcher, change: change, path: path, time: time)
    }

    /// This call with its saved change, for use after the write.
    var later: Call {
      guard case .written = change else { return self }
      return with(.saved(saved))
    }
  }

  /// Calls that are being made, in order of registration: one for each watcher.
  fileprivate struct List {
    var calls: [Call]
    private(set) var next = 0

    init(_ calls: [Call]) { self.calls = calls }

    /// The watcher to call next.
    var first: WatcherID? { next < calls.count ? calls[next].watcher : nil }

    /// Removes and returns the call of a watcher; O(log n) if the watcher is first or has no call.
    mutating func take(_ watcher: WatcherID) -> Call? {
      if first == watcher {
        next += 1
        return calls[next - 1]
      }
      let index = max(next, calls.partitioningIndex { $0.watcher.number >= watcher.number })
      guard index < calls.count, calls[index].watcher == watcher else { return nil }
      return calls.remove(at: index)
    }
  }

  /// How many calls are nested.
  @inline(__always) var depth: Int { state.depth }
  /// How many batches are open.
  package var batchDepth: Int { state.batchDepth }

  // MARK: Calling

  /// Makes calls in order of registration, one for each watcher, even if the change lies on several
  /// of its paths; watchers with their own comparison are asked first.
  func make(_ calls: [Call]) {
    if calls.isEmpty { return }
    records.hold {
      // A single call leaves nothing for callbacks that write, so it needs no list.
      if calls.count == 1, state.lists.isEmpty, let watcher = watchers[calls[0].watcher],
        watcher.pointee.traits.contains(.immediate),
        watcher.pointee.traits.isDisjoint(with: [.atOnce, .comparing]), !waitsForFlush(watcher)
      {
        return make(calls[0], watcher)
      }
      var calls = calls
      if calls.count > 1 { calls.sort { $0.watcher.number < $1.watcher.number } }
      makeFirst(&calls)
      var accepted: [Call] = []
      var last: WatcherID?
      for call in calls where call.watcher != last {
        guard let watcher = watchers[call.watcher] else { continue }
        if waitsForFlush(watcher) {
          last = call.watcher
          callInFlush(watcher, call)
          continue
        }
        guard let change = accept(call, watcher) else { continue }
        last = call.watcher
        if watcher.pointee.traits.contains(.immediate) {
          accepted.append(call.with(change))
        } else if case .written(let change) = call.change {
          delivery.mark(watcher, .stale, by: change)
        }
      }
      makeList(accepted)
    }
  }

  /// Whether the watcher is called in the flush instead of now.
  private func waitsForFlush(_ watcher: WatcherRef) -> Bool {
    watcher.pointee.traits.contains(.charged)
      && watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.waitsForFlush(watcher) }
  }

  /// Schedules the call of the watcher for the flush, without the watcher's own comparison; an
  /// immediate watcher gets the first change that it missed.
  private func callInFlush(_ watcher: WatcherRef, _ call: Call) {
    if watcher.pointee.traits.contains(.immediate) {
      wait(call, watcher)
      if !watcher.pointee.isPaused { delivery.checkInFlush(watcher) }
    } else if case .written(let change) = call.change {
      delivery.mark(watcher, .stale, by: change)
    }
  }

  /// Removes and returns the call that has waited for the flush.
  func takeWaiting(of watcher: WatcherRef) -> Call? {
    state.waiting.isEmpty ? nil : state.waiting.removeValue(forKey: watcher.identity)
  }

  /// Makes the calls that nothing delays, and removes them from `calls`.
  private func makeFirst(_ calls: inout [Call]) {
    func isFirst(_ call: Call) -> Bool {
      watchers[call.watcher].map {
        $0.pointee.traits.contains(.atOnce)
          && $0.pointee.flags.isDisjoint(with: [.paused, .running])
      } ?? false
    }
    guard calls.contains(where: isFirst) else { return }
    var last: WatcherID?
    calls.removeAll { call in
      guard isFirst(call) else { return false }
      if call.watcher != last, let watcher = watchers[call.watcher] { run(watcher, call) }
      last = call.watcher
      return true
    }
  }

  /// Makes calls, one for each watcher, in order of registration.
  ///
  /// A callback that writes begins another list. Before this list calls a watcher, the enclosing
  /// lists deliver the calls that they still have for the watcher, so it receives changes in the
  /// order they were made. If the callback has opened a batch, neither call is delivered and each
  /// stays where it is: a batch keeps only its first change for each watcher (T9).
  private func makeList(_ calls: [Call]) {
    let top = state.lists.count
    state.lists.append(List(calls))
    if calls.count > 1 { keepValues(at: top, behind: 0) }
    while let name = state.lists[top].first {
      for index in 0..<(state.batchDepth > 0 ? 0 : top) {
        guard let call = state.lists[index].take(name), let watcher = watchers[name] else {
          continue
        }
        keepValues(at: top, behind: -1)
        make(call.later, watcher)
      }
      if let call = state.lists[top].take(name), let watcher = watchers[name] {
        make(call, watcher)
      }
    }
    state.lists.removeLast()
  }

  /// Saves the changes of a list, beginning `offset` after its next call, as callbacks that write
  /// may need them; saves each change once for all receivers of a kind.
  private func keepValues(at index: Int, behind offset: Int) {
    var last: (change: Change, receiver: ObjectIdentifier, saved: AnyObject?)?
    for place in (state.lists[index].next + offset + 1)..<state.lists[index].calls.count {
      let call = state.lists[index].calls[place]
      guard call.saved == nil, case .written(let change) = call.change,
        let watcher = watchers[call.watcher]
      else { continue }
      let receiver = watcher.pointee.receiver.takeUnretainedValue()
      let kind = ObjectIdentifier(type(of: receiver))
      if let last, last.receiver == kind, last.change.slot == change.slot,
        last.change.values == change.values
      {
        state.lists[index].calls[place].saved = last.saved
      } else {
        let saved = receiver.save(change)
        last = (change, kind, saved)
        state.lists[index].calls[place].saved = saved
      }
    }
  }

  /// The change to deliver to the watcher of the call; nil if the watcher regards it as no change.
  private func accept(_ call: Call, _ watcher: WatcherRef) -> ImmediateChange? {
    guard watcher.pointee.traits.contains(.comparing), !call.isCompared else { return call.change }
    guard let root = watcher.pointee.root, root.kind.isThere(root) else { return nil }
    // A write made by the comparison is not compared again: that would never end.
    if watcher.pointee.flags.contains(.comparingNow) {
      return call.change.isSame ? nil : call.change
    }
    watcher.pointee.flags.insert(.comparingNow)
    defer { watcher.pointee.flags.remove(.comparingNow) }
    let change = watcher.pointee.receiver.takeUnretainedValue().accept(call.change, for: watcher)
    return watcher.pointee.isActive ? change : nil
  }

  private func make(_ call: Call, _ watcher: WatcherRef) {
    if recording.isOn, case .written(let change) = call.change {
      recording.recorder?.marked(watcher, by: change)
    }
    if watcher.pointee.isPaused || state.batchDepth > 0 {
      wait(call, watcher)
    } else if watcher.pointee.flags.contains(.running) {
      if count(watcher) { state.reruns.append(saved(call, watcher)) }
    } else if waitsForFlush(watcher) {
      callInFlush(watcher, call)
    } else if state.depth > 0, state.nested[call.watcher, default: 0] > limits.immediates {
      // A watcher that was reported as endless is not called again: several watchers that trigger
      // each other would multiply their limits.
    } else if state.depth >= state.nestingLimit
      || state.deferred.contains(where: { $0.watcher == call.watcher })
    {
      if count(watcher) { state.deferred.append(saved(call, watcher)) }
    } else {
      run(watcher, call)
      if state.depth == 0 { makeDeferred() }
    }
  }

  private func makeDeferred() {
    while !state.deferred.isEmpty {
      let call = state.deferred.removeFirst()
      guard let watcher = watchers[call.watcher] else { continue }
      if watcher.pointee.isPaused {
        wait(call, watcher)
      } else {
        run(watcher, call)
      }
    }
    if !state.nested.isEmpty { state.nested = [:] }
  }

  /// Calls the watcher now, and again for each change that its callback made.
  private func run(_ watcher: WatcherRef, _ first: Call) {
    var call = first
    records.hold {
      while isCallable(watcher) {
        deliver(call, to: watcher)
        guard watcher.pointee.isActive else {
          watchers.freeIfUnused(watcher)
          break
        }
        if watcher.pointee.traits.contains(.once) {
          watchers.stop(watcher)
          break
        }
        guard let next = takeRerun(of: call.watcher) else { return }
        if watcher.pointee.isPaused {
          wait(next, watcher)
          break
        }
        call = next
      }
      state.reruns.removeAll { $0.watcher == call.watcher }
    }
  }

  /// Whether the watcher can be called: makes its paths follow replaced objects, and checks that
  /// the observed object and the observer are alive.
  private func isCallable(_ watcher: WatcherRef) -> Bool {
    // The observed object may have died in the callback: the watcher ends after the callback.
    guard wiring.rewire(watcher), let root = watcher.pointee.root, !root.isDead,
      root.kind.isThere(root)
    else { return false }
    if watcher.hasLostObserver {
      watchers.stop(watcher)
      return false
    }
    return true
  }

  private func deliver(_ call: Call, to watcher: WatcherRef) {
    watcher.pointee.flags.insert(.running)
    state.depth += 1
    tracking.suspend()
    if !watcher.pointee.traits.contains(.probing) { reports.statistics.calls += 1 }
    if recording.isOn { recording.recorder?.called(watcher) }
    let outer = delivery.callee
    // Watchers of tools do not count: the callback that writes stays the innermost one.
    if !watcher.pointee.traits.contains(.probing) {
      delivery.callee = watcher.pointee.receiver.toOpaque()
    }
    watcher.pointee.receiver.takeUnretainedValue().deliver(watcher, call.change, path: call.path)
    delivery.callee = outer
    if recording.isOn { recording.recorder?.returned(watcher) }
    state.depth -= 1
    tracking.resume()
    watcher.pointee.flags.remove(.running)
  }

  /// Makes the calls that a watcher's callback triggered for the same watcher, after a call that
  /// had another reason than a write.
  func makeReruns(of watcher: WatcherRef) {
    guard let call = takeRerun(of: watcher.identity) else { return }
    if watcher.pointee.isPaused {
      wait(call, watcher)
      state.reruns.removeAll { $0.watcher == call.watcher }
    } else {
      run(watcher, call)
      if state.depth == 0 { makeDeferred() }
    }
  }

  private func takeRerun(of watcher: WatcherID) -> Call? {
    if state.reruns.isEmpty { return nil }
    return state.reruns.firstIndex { $0.watcher == watcher }.map { state.reruns.remove(at: $0) }
  }

  /// Counts a nested call of a watcher; if there were too many, returns false and reports an error.
  private func count(_ watcher: WatcherRef) -> Bool {
    let times = state.nested[watcher.identity, default: 0] + 1
    state.nested[watcher.identity] = times
    if times == limits.immediates + 1 {
      reports.report(
        .immediateLoop(watcher: watchers.title(watcher), times: limits.immediates))
    }
    return times <= limits.immediates
  }

  private func saved(_ call: Call, _ watcher: WatcherRef) -> Call {
    guard case .written(let change) = call.change else { return call }
    let saved = watcher.pointee.receiver.takeUnretainedValue().save(change)
    return call.with(.saved(saved))
  }

  // MARK: Waiting

  /// Keeps a call for later, unless its watcher has one: the first change is delivered (T9).
  private func wait(_ call: Call, _ watcher: WatcherRef) {
    if state.waiting[call.watcher] != nil { return }
    if !watcher.pointee.isPaused, let root = watcher.pointee.root {
      // The object is kept until the call (L2); if the collector has given it up, its watchers are
      // not called.
      guard delivery.anchor(watcher, on: root) else { return }
    }
    state.waiting[call.watcher] = kept(call, watcher)
  }

  /// A call in the form in which it waits: if the watcher is paused, its object keeps the values.
  private func kept(_ call: Call, _ watcher: WatcherRef, isDerived: Bool = false) -> Call {
    let call = saved(call, watcher)
    guard watcher.pointee.isPaused, case .saved(let saved?) = call.change else { return call }
    let receiver = watcher.pointee.receiver.takeUnretainedValue()
    return call.with(.saved(receiver.keep(saved, whilePaused: watcher, isDerived: isDerived)))
  }

  /// A call that `kept` has returned, with its values.
  private func restored(_ call: Call?, _ watcher: WatcherRef) -> Call? {
    guard let call, case .saved(let saved?) = call.change else { return call }
    let receiver = watcher.pointee.receiver.takeUnretainedValue()
    return call.with(.saved(receiver.takeKept(saved, of: watcher)))
  }

  /// Notes a write on which derived values of a watcher depend, while a batch is open or the
  /// watcher is paused.
  func noteDerived(_ call: Call, _ watcher: WatcherRef) {
    if state.derived[call.watcher] != nil { return }
    state.derived[call.watcher] = kept(call, watcher, isDerived: true)
  }

  /// Keeps a call for the end of the batch, for a removed path whose derived value has changed.
  ///
  /// The call is `comparison`, or else the noted change of the watcher's derived values.
  func keep(_ comparison: Call?, of watcher: WatcherRef, on path: Path) {
    let name = watcher.identity
    guard let noted = comparison ?? state.derived[name], let root = watcher.pointee.root else {
      return
    }
    if let known = state.waiting[name], known.time < noted.time { return }
    if !watcher.pointee.isPaused, !delivery.anchor(watcher, on: root) { return }
    state.waiting[name] = kept(noted.on(path), watcher)
  }

  /// The time of the next change: a number that grows with each change.
  func nextTime() -> Int {
    state.time += 1
    return state.time
  }

  /// Whether a call of the watcher waits until a batch ends or the watcher is resumed.
  func isWaiting(_ watcher: WatcherRef) -> Bool {
    !state.waiting.isEmpty && state.waiting[watcher.identity] != nil
  }

  /// Drops the calls of a watcher that has ended.
  func forget(_ watcher: WatcherRef) {
    let name = watcher.identity
    if !state.waiting.isEmpty { _ = restored(state.waiting.removeValue(forKey: name), watcher) }
    if !state.derived.isEmpty { _ = restored(state.derived.removeValue(forKey: name), watcher) }
  }

  /// Moves the values of waiting calls to the object of a watcher that was paused.
  func pause(_ watcher: WatcherRef) {
    let name = watcher.identity
    if let call = state.waiting[name] { state.waiting[name] = kept(call, watcher) }
    if let call = state.derived[name] {
      state.derived[name] = kept(call, watcher, isDerived: true)
    }
  }

  /// Resumes a paused watcher: delivers the missed change at once, or when the batch ends.
  func resume(_ watcher: WatcherRef) {
    let name = watcher.identity
    state.waiting[name] = restored(state.waiting[name], watcher)
    state.derived[name] = restored(state.derived[name], watcher)
    comparisons.resume(name)
    guard let root = watcher.pointee.root else { return }
    if state.batchDepth > 0 {
      if state.waiting[name] != nil { _ = delivery.anchor(watcher, on: root) }
      return
    }
    var calls = comparisons.take(hasWaited: true)
    calls += takeDerived { $0 == name }
    if let call = state.waiting.removeValue(forKey: name) { calls.append(call) }
    // Comparing may have run code of the program.
    guard let first = calls.min(by: { $0.time < $1.time }), let watcher = watchers[name]
    else {
      return
    }
    make(first, watcher)
  }

  // MARK: Batches

  /// Defers calls until the matching `endBatch`, which makes one call for each watcher.
  package func beginBatch() { state.batchDepth += 1 }

  package func endBatch() {
    state.batchDepth -= 1
    if state.batchDepth == 0 { makeWaiting() }
  }

  private func makeWaiting() {
    func goesOn(_ name: WatcherID) -> Bool {
      watchers[name].map { !$0.pointee.isPaused } ?? true
    }
    var calls = state.waiting.filter { name, _ in goesOn(name) }
    for name in calls.keys { state.waiting[name] = nil }
    // A watcher with several changed paths receives the first change.
    let comparisons = comparisons.take(hasWaited: true)
    for call in comparisons + takeDerived(where: goesOn) {
      if let known = calls[call.watcher], known.time < call.time { continue }
      calls[call.watcher] = call
    }
    if calls.isEmpty { return }
    makeList(calls.values.sorted { $0.watcher.number < $1.watcher.number })
    for name in calls.keys {
      if let watcher = watchers[name] { delivery.releaseAnchorIfIdle(of: watcher) }
    }
  }

  /// Removes and returns the noted call for derived values of a watcher, after a value on `path`
  /// has changed.
  func takeNoted(of watcher: WatcherID, on path: Path) -> Call? {
    state.derived.removeValue(forKey: watcher)?.on(path)
  }

  /// Removes the noted calls of some watchers; returns the calls whose derived values differ from
  /// before the batch or pause.
  private func takeDerived(where isMeant: (WatcherID) -> Bool) -> [Call] {
    if state.derived.isEmpty { return [] }
    let calls = state.derived.values.filter { isMeant($0.watcher) }.sorted {
      $0.watcher.number < $1.watcher.number
    }
    for call in calls { state.derived[call.watcher] = nil }
    return calls.compactMap { call in
      guard let watcher = watchers[call.watcher], dependents.follow(watcher),
        let path = dependents.refresh(watcher)?.path
      else { return nil }
      return call.on(path)
    }
  }
}
