/// The values of lazy properties that were delivered to watchers, so that watchers are not called
/// for a value that comes back (Z4).
///
/// A link has the version of the value last delivered to its watcher. When that value is replaced,
/// it is kept until all watchers that received it have compared. The receiver of the property keeps
/// the value from before the flush (its base); `former` keeps all others.
/// before the flush by the receiver of the property (its base), any others in `former`.
package struct DeliveredValues: Room {
  package let rooms: Rooms

  struct State {
    /// Values last delivered to some watcher, other than the values from before the flush.
    fileprivate var former: [WatcherID: [(version: Int, value: AnyObject)]] = [:]
    /// Properties whose receivers keep the value from before the flush.
    fileprivate var based: [WatcherID] = []
    /// Whether a watcher has ended since `forgetBases`, while properties kept such values.
    fileprivate var hasEndedWatcher = false
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.deliveredValues) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.deliveredValues)
    }
  }

  /// Called before the value of `lazy` is replaced.
  @inline(__always)
  func willReplaceValue(of lazy: WatcherRef) {
    if lazy.hasBase { keepValue(of: lazy) }
  }

  private func keepValue(of lazy: WatcherRef) {
    guard let slot = lazy.slot else { return }
    let version = lazy.version
    if version == lazy.lazyState.pointee.baseVersion { return }
    let isKept = records.first(from: slot.pointee.links.first) {
      $0.pointee.version == version && comparesLater($0)
    }
    guard isKept != nil,
      let value = lazy.pointee.receiver.takeUnretainedValue().value(of: lazy, isBase: false)
    else { return }
    state.former[lazy.identity, default: []].append((version, value))
  }

  /// Whether other values may come and go before the watcher of a link compares.
  private func comparesLater(_ link: LinkRef) -> Bool {
    let traits = link.pointee.wire.pointee.watcher.pointee.traits
    if traits.contains(.lazy) { return false }
    if !traits.contains(.immediate) || link.pointee.wire.pointee.watcher.pointee.isPaused {
      return true
    }
    return immediates.batchDepth > 0
  }

  /// Whether the receiver has to keep the present value of `lazy` as the last delivered one.
  ///
  /// Called before the value is replaced; false if no watcher will compare with it, or if a base is
  /// kept already.
  @inline(__always)
  package func shouldKeepBase(of lazy: WatcherRef) -> Bool {
    guard !lazy.hasBase, needsBase(lazy) else { return false }
    lazy.lazyState.pointee.base = .kept
    state.based.append(lazy.identity)
    lazy.lazyState.pointee.baseVersion = lazy.version
    return true
  }

  /// Whether the present value of `lazy` must be kept when it is replaced: a watcher received it
  /// last, and compares it only at the end of the turn, with the value at that time.
  private func needsBase(_ lazy: WatcherRef) -> Bool {
    guard lazy.lazyState.pointee.isKnown, let slot = lazy.slot else { return false }
    if slot.pointee.node.pointee.every != nil { return true }
    if slot.pointee.count == 0 { return false }
    return records.first(from: slot.pointee.links.first, where: comparesLater) != nil
  }

  // MARK: Values that come back

  /// The version that the new value of `lazy` had when it was delivered before; nil if it was not.
  @inline(__always)
  func version(of lazy: WatcherRef) -> Int? { state.former.isEmpty ? nil : versionBack(of: lazy) }

  private func versionBack(of lazy: WatcherRef) -> Int? {
    guard let values = state.former[lazy.identity] else { return nil }
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    guard let index = values.firstIndex(where: { receiver.has($0.value, as: lazy) }) else {
      return nil
    }
    let version = comeBack(to: values[index].version, of: lazy)
    state.former[lazy.identity]?[index].version = version
    return version
  }

  /// The version of the base, when its value has come back.
  func restoredVersion(of lazy: WatcherRef) -> Int {
    lazy.lazyState.pointee.baseVersion = comeBack(to: lazy.lazyState.pointee.baseVersion, of: lazy)
    return lazy.lazyState.pointee.baseVersion
  }

  /// The version of a former value that has come back; a new version if other watchers received
  /// later values, as it is a change for them.
  private func comeBack(to version: Int, of lazy: WatcherRef) -> Int {
    // Some watchers received the value in between, so the return is a change for them.
    let isNewToSome = lazy.lazyState.pointee.base == .lagging || hasReachedAll(lazy)
    let new = isNewToSome ? lazies.nextVersion() : version
    records.forEach(from: lazy.slot?.pointee.links.first) { link in
      let isReader = link.pointee.wire.pointee.watcher.pointee.traits.contains(.lazy)
      if !isReader, link.pointee.version == version { link.pointee.version = new }
    }
    return new
  }

  /// Whether the replaced value was delivered to a watcher of all properties.
  private func hasReachedAll(_ lazy: WatcherRef) -> Bool {
    records.first(from: lazy.slot?.pointee.node.pointee.every?.pointee.links.first) {
      $0.isWhole && $0.pointee.version ?? .min >= lazy.version
    } != nil
  }

  /// Whether a watcher with its own comparison regards the value as equal to its last delivered
  /// one, which has `version`.
  func isEqual(_ lazy: WatcherRef, to version: Int, for watcher: WatcherRef) -> Bool {
    guard watcher.pointee.traits.contains(.comparing), lazy.hasBase,
      let slot = lazy.slot, !slot.pointee.node.isDead
    else { return false }
    let isKept =
      version == lazy.lazyState.pointee.baseVersion
      || state.former[lazy.identity]?.contains { $0.version == version } == true
    if !isKept { return false }
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    let change = receiver.change(of: lazy, from: value(of: lazy, version: version))
    return watcher.pointee.receiver.takeUnretainedValue().accept(.saved(change), for: watcher)
      == nil
  }

  /// The value of `lazy` that has this version; nil if it is not kept.
  func value(of lazy: WatcherRef, version: Int) -> AnyObject? {
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    if lazy.isKnown, version == lazy.version { return receiver.value(of: lazy, isBase: false) }
    if lazy.hasBase, version == lazy.lazyState.pointee.baseVersion {
      return receiver.value(of: lazy, isBase: true)
    }
    return state.former[lazy.identity]?.first { $0.version == version }?.value
  }

  /// Whether each link to `lazy` has the version of its present value or of its base, and `isThat`
  /// is true of that value.
  package func hasDelivered(
    _ lazy: WatcherRef, _ isThat: (_ isBase: Bool) -> Bool
  ) -> Bool {
    let isKnown = lazy.isKnown
    let other = records.first(from: lazy.slot?.pointee.links.first) { link in
      let isLast = link.pointee.version == lazy.version(for: link.pointee.wire.pointee.watcher)
      let isBase = lazy.hasBase && link.pointee.version == lazy.lazyState.pointee.baseVersion
      return !(isKnown && (isLast || isBase) && isThat(!isLast))
    }
    if other != nil { return false }
    // A watcher of all properties has the present values of the properties that have been read.
    let every = lazy.slot?.pointee.node.pointee.every?.pointee.links.first
    return every == nil || !isKnown || isThat(false)
  }

  // MARK: Forgetting

  /// Forgets values at the end of the flush, except those last delivered to watchers that have yet
  /// to compare.
  ///
  /// A watcher may have yet to compare because it is paused, because it is called in the next
  /// flush, or because it regarded values as equal. If a property has failed, its watchers received
  /// no new value, so all of them keep the last delivered one.
  func forgetBases() {
    if state.based.isEmpty { return }
    state.hasEndedWatcher = false
    let (lazies, values) = (state.based, state.former)
    state.based = []
    if !values.isEmpty { state.former = [:] }
    for name in lazies {
      guard let lazy = watchers[name], lazy.slot != nil else { continue }
      let others = values[name] ?? []
      let versions = deliveredVersions(of: lazy)
      let isBaseKnown = versions.contains(lazy.lazyState.pointee.baseVersion)
      let kept = others.filter { versions.contains($0.version) }
      if !isBaseKnown, kept.isEmpty {
        forgetBase(of: lazy)
        continue
      }
      state.based.append(name)
      lazy.lazyState.pointee.base = .lagging
      if !kept.isEmpty { state.former[name] = kept }
    }
  }

  /// Forgets all values, because no watcher compares any more.
  ///
  /// Otherwise a property would keep its base, which may keep the object of the property alive.
  func forgetAll() {
    let lazies = state.based
    (state.based, state.former) = ([], [:])
    for lazy in lazies.compactMap({ watchers[$0] }) where lazy.hasBase { forgetBase(of: lazy) }
  }

  /// Notes that a watcher ends, which may still have had to compare.
  func noteEnd() { if !state.based.isEmpty { state.hasEndedWatcher = true } }

  /// Forgets the values that were kept for watchers that have ended, after a flush without calls.
  func forgetBasesOfEndedWatchers() { if state.hasEndedWatcher { forgetBases() } }

  private func forgetBase(of lazy: WatcherRef) {
    lazy.lazyState.pointee.base = .none
    lazy.pointee.receiver._withUnsafeGuaranteedRef { $0.forgetBase(of: lazy) }
  }

  /// The versions of former values last delivered to watchers that have yet to compare.
  private func deliveredVersions(of lazy: WatcherRef) -> Set<Int> {
    var versions: Set<Int> = []
    guard lazy.hasBase else { return versions }
    let hasFailed = lazy.isOutdated
    records.forEach(from: lazy.slot?.pointee.links.first) { link in
      guard let version = link.pointee.version, version != lazy.version, comparesLater(link) else {
        return
      }
      let watcher = link.pointee.wire.pointee.watcher.pointee
      let isDone = !watcher.isPending && !hasFailed
      if isDone, !watcher.isPaused, !watcher.isEager { return }
      versions.insert(version)
    }
    return versions
  }
}
