/// Keeps the writes that `why` and `whyNot` need, and the events for a log (W4).
///
/// Records keep values as `RecordedValue`. If a bridge provides the values themselves, the events
/// for a log have them until the sink is called.
///
/// Notes are taken in the middle of the engine's operations, and the sink of a log is called after
/// them. A bridge overrides the spelling of keys, the places of writes, and the parts of the
/// program.
@_documentation(visibility: internal)
open class HistoryRecorder: ObservationCore.EngineRecorder {
  /// The recorded history of one watcher.
  package final class History {
    /// The part of the program to which the watcher belongs.
    package let owner: UInt32
    @exclusivity(unchecked) package fileprivate(set) var waiting: [RecordedWrite] = []
    /// The writes in `waiting`, by position, whose objects may have left the path.
    @exclusivity(unchecked) fileprivate var suspects: [(position: Int, place: Place)] = []
    /// The number of the last write that was noted.
    @exclusivity(unchecked) fileprivate var writeNumber = 0
    /// The writes that caused the last call.
    @exclusivity(unchecked) package fileprivate(set) var last: [RecordedWrite] = []
    @exclusivity(unchecked) package fileprivate(set) var lastTurn = 0
    /// The flush of the last call, within its turn; nil for a call outside of flushes.
    @exclusivity(unchecked) package fileprivate(set) var lastFlush: Int?
    @exclusivity(unchecked) fileprivate(set) var lastEqual: RecordedWrite?
    fileprivate(set) var stoppedAt: String?

    fileprivate init(owner: UInt32) { self.owner = owner }
  }

  /// An object that a watcher or lazy property may depend on.
  fileprivate struct Place {
    let node: NodeRef
    let owner: WatcherID
  }

  /// Whether events are kept for a sink (`takeEvents`).
  @exclusivity(unchecked) package var isLogging = false
  /// Whether histories are kept for `why`.
  @exclusivity(unchecked) package var keepsHistory = false {
    didSet {
      if keepsHistory { return }
      forgetHistories { _ in true }
      ended = []
    }
  }
  private unowned(unsafe) let engine: Engine
  @exclusivity(unchecked) private var histories: [UInt64: History] = [:]
  @exclusivity(unchecked) private var events: [LoopEvent] = []
  @exclusivity(unchecked) private var writeNumber = 0
  /// Ended watchers whose histories are kept; the oldest are dropped first.
  private var ended: [UInt64] = []
  private let endedLimit = 10_000
  /// The values of lazy properties that are about to be replaced.
  @exclusivity(unchecked) private var formerValues: [UInt64: AnyObject] = [:]

  /// Makes a recorder for an engine that outlives it or is closed before it.
  package init(of engine: Engine) {
    self.engine = engine
    super.init()
  }

  package var isNeeded: Bool { keepsHistory || isLogging }

  /// The history of a watcher, while histories are kept.
  package func history(of watcher: WatcherRef) -> History? { history(ofID: watcher.pointee.id) }
  package func history(ofID id: UInt64) -> History? { histories[id] }

  /// Returns the events since the last call, and removes them.
  ///
  /// The caller returns the memory of dropped events by `release`.
  package func takeEvents() -> [LoopEvent] {
    defer { events = [] }
    return events
  }

  /// Drops the histories of the watchers for whose owners `isUnwanted` returns true.
  ///
  /// - Complexity: O(histories).
  package func forgetHistories(where isUnwanted: (UInt32) -> Bool) {
    for (id, history) in histories where isUnwanted(history.owner) { forget(id) }
  }

  private func forget(_ id: UInt64) {
    guard let history = histories.removeValue(forKey: id) else { return }
    release(history.waiting + history.last, of: history.owner)
    release(history.lastEqual.map { [$0] } ?? [], of: history.owner)
  }

  private func release(_ writes: [RecordedWrite], of owner: UInt32) {
    for write in writes { release(write.size, of: owner) }
  }

  // MARK: Details that bridges override

  /// The spelling of a write's key.
  open func key(of change: ObservationCore.Change, _ slot: ObservationCore.SlotRef) -> String {
    change.observedValues?.name(in: change.node.kind) ?? change.node.kind.name(of: slot)
  }

  /// The place where the program is writing now.
  open func site(of change: ObservationCore.Change) -> String? { nil }

  /// The values of a write that is under way; nil for values that are not known.
  open func values(
    of change: ObservationCore.Change
  ) -> (old: RecordedValue?, new: RecordedValue?) {
    guard let values = change.observedValues else { return (nil, nil) }
    if case .everything = values.key { return (nil, nil) }
    return (RecordedValue(values.old), RecordedValue(values.new))
  }

  /// The values of a lazy property, as saved by the kind of its object.
  open func values(ofSaved change: AnyObject) -> (old: RecordedValue?, new: RecordedValue?) {
    guard let write = (change as? SavedWrite)?.write else { return (nil, nil) }
    return (RecordedValue(write.old), RecordedValue(write.new))
  }

  /// The values of a write that is under way, as `EventValues` for the sink of a log.
  open func savedValues(of change: ObservationCore.Change) -> AnyObject? { nil }

  /// The name of an object, with which `describe` begins.
  open func title(of node: ObservationCore.NodeRef) -> String {
    node.numbered(node.kind.title(of: node))
  }

  /// The name of a watcher and the place of its registration; nil if the watcher must be hidden.
  open func label(of watcher: ObservationCore.WatcherRef) -> (name: String, site: String?)? {
    watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.label(watcher) }
  }

  // MARK: Parts of a program

  /// The number of the part of the program that is running, as assigned by the bridge; 0 if there
  /// are no parts.
  open var writer: UInt32 { 0 }

  /// The part of the program to which a watcher or a lazy property belongs.
  open func owner(of watcher: ObservationCore.WatcherRef) -> UInt32 { 0 }

  /// Whether a current event of a part of the program is caused by another part.
  open func isCausedByOthers(_ owner: UInt32) -> Bool { false }

  /// Whether a sink receives the events of a part of the program.
  open func logs(_ owner: UInt32) -> Bool { true }

  /// Whether writes are kept for the watchers of a part of the program.
  open func records(_ owner: UInt32) -> Bool { true }

  /// Reserves memory of a part of the program for an event or a write that is about to be kept;
  /// returns false if the part does not have enough.
  open func reserve(_ bytes: Int, of owner: UInt32) -> Bool { true }

  /// Gives back memory that `reserve` has taken.
  open func release(_ bytes: Int, of owner: UInt32) {}

  /// Called when an event was dropped because there was no memory for it.
  open func missed(_ owner: UInt32) {}

  // MARK: EngineRecorder

  private var turn: Int { engine.reports.currentTurn }
  private var flush: Int? { engine.delivery.flushUnderWay }

  public override func wrote(_ change: ObservationCore.Change) {
    guard let slot = change.slot ?? change.every else { return }
    let lazy = change.values == nil ? change.slot?.pointee.lazy : nil
    let owner = writer
    let isLogged = isLogging && logs(owner)
    guard keepsHistory || isLogged else {
      if let lazy { formerValues[lazy.pointee.id] = nil }
      return
    }
    let saved = lazy.flatMap(savedChange)
    let values = saved?.values ?? values(of: change)
    var write = RecordedWrite(
      key: key(of: change, slot), site: site(of: change), turn: turn, flush: flush)
    (write.old, write.new) = values
    write.object = title(of: change.node)
    if keepsHistory { note(write, of: change) }
    if isLogged {
      add(.write, of: owner) {
        ($0.key, $0.site, $0.isEqual) = (write.key, write.site, change.isSame)
        ($0.object, $0.old, $0.new) = (write.object, write.old, write.new)
        $0.values = saved?.change ?? savedValues(of: change) as? any EventValues
      }
    }
  }

  public override func replacing(_ lazy: ObservationCore.WatcherRef) {
    guard lazy.isKnown, !lazy.pointee.traits.contains(.uncached) else { return }
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    formerValues[lazy.pointee.id] = receiver.value(of: lazy, isBase: false)
  }

  /// The change of a lazy property that has a new value; nil if the property keeps no value.
  private func savedChange(
    of lazy: WatcherRef
  ) -> (values: (old: RecordedValue?, new: RecordedValue?), change: (any EventValues)?)? {
    let old = formerValues.removeValue(forKey: lazy.pointee.id)
    let receiver = lazy.pointee.receiver.takeUnretainedValue()
    guard !lazy.pointee.traits.contains(.uncached), let saved = receiver.change(of: lazy, from: old)
    else { return nil }
    let values = values(ofSaved: saved)
    // If there was no value before, that differs from the value nil.
    return ((old == nil ? nil : values.old, values.new), saved as? any EventValues)
  }

  public override func invalidating(_ change: ObservationCore.Change) {
    guard keepsHistory, let slot = change.slot else { return }
    var write = RecordedWrite(
      key: key(of: change, slot), site: site(of: change), turn: turn, flush: flush,
      isInvalidation: true)
    write.object = title(of: change.node)
    note(write, of: change)
  }

  /// Notes a write for all watchers that it concerns, including pending ones, because `why` returns
  /// every write.
  private func note(_ write: RecordedWrite, of change: Change) {
    let slots = [change.slot, change.every]
    writeNumber += 1
    let suspects = suspects(in: slots)
    _ = engine.inspection.firstWatcher(behind: slots) { watcher, through in
      let part = self.owner(of: watcher)
      guard records(part) else { return false }
      let lazies = through()
      let owner = (lazies.first ?? watcher).identity
      let place = suspects.contains(owner) ? Place(node: change.node, owner: owner) : nil
      keep(write, lazies, place, isSame: change.isSame, history(of: watcher, part))
      return false
    }
  }

  /// The history of a watcher, made if it does not exist yet.
  private func history(of watcher: WatcherRef, _ owner: UInt32) -> History {
    let id = watcher.pointee.id
    if let known = histories[id] { return known }
    let history = History(owner: owner)
    histories[id] = history
    return history
  }

  /// The watchers and lazy properties whose paths to a key have all changed nearer to the root
  /// since they were last looked up; the object may no longer be on these paths.
  private func suspects(in slots: [SlotRef?]) -> Set<WatcherID> {
    func owners(isSuspect: Bool) -> Set<WatcherID> {
      var owners: Set<WatcherID> = []
      for case let slot? in slots {
        slot.forEachLinkOfAny { link in
          guard link.isBelowStale == isSuspect else { return }
          owners.insert(link.pointee.wire.pointee.watcher.identity)
        }
      }
      return owners
    }
    let suspects = owners(isSuspect: true)
    return suspects.isEmpty ? [] : suspects.subtracting(owners(isSuspect: false))
  }

  private func keep(
    _ write: RecordedWrite, _ lazies: [WatcherRef], _ suspect: Place?, isSame: Bool,
    _ history: History
  ) {
    // Several paths of a watcher may pass through the written key.
    if history.writeNumber == writeNumber { return }
    history.writeNumber = writeNumber
    if !isSame, history.waiting.count >= 1000 { return }
    var write = write
    write.through = lazies.map(engine.lazies.name)
    guard reserve(write.size, of: history.owner) else { return }
    if let suspect, !isSame { history.suspects.append((history.waiting.count, suspect)) }
    if isSame { keepEqual(write, history) } else { history.waiting.append(write) }
  }

  /// Keeps a write, whose memory was reserved, as the last one that changed nothing.
  private func keepEqual(_ write: RecordedWrite, _ history: History) {
    if let former = history.lastEqual { release(former.size, of: history.owner) }
    history.lastEqual = write
  }

  public override func unchanged(_ watcher: ObservationCore.WatcherRef) {
    guard keepsHistory, let history = histories[watcher.pointee.id],
      var write = history.waiting.last
    else { return }
    write.isRecomputed = true
    // The values of the write differ. Only the watched property's value is equal.
    (write.old, write.new) = (nil, nil)
    release(history.waiting, of: history.owner)
    if reserve(write.size, of: history.owner) { keepEqual(write, history) }
    history.waiting = []
    history.suspects = []
  }

  public override func invalidated(
    _ lazy: ObservationCore.WatcherRef, by change: ObservationCore.Change
  ) {
    guard isLogging else { return }
    let owner = owner(of: lazy)
    guard logs(owner) else { return }
    add(.invalidate, of: owner) {
      ($0.key, $0.site) = (engine.lazies.name(of: lazy), site(of: change))
      $0.object = lazy.pointee.root.map(title(of:))
    }
  }

  public override func computed(
    _ lazy: ObservationCore.WatcherRef, _ computation: ObservationCore.Computation
  ) {
    let hasFailed = if case .failed = computation { true } else { false }
    let owner = isLogging ? owner(of: lazy) : 0
    let isLogged = isLogging && logs(owner)
    guard isLogged, !hasFailed else {
      formerValues[lazy.pointee.id] = nil
      if isLogged { addComputation(of: lazy, owner) { $0.hasFailed = true } }
      return
    }
    let saved = savedChange(of: lazy)
    addComputation(of: lazy, owner) {
      if let saved { ($0.old, $0.new) = saved.values }
      $0.values = saved?.change
      if case .same = computation { $0.isEqual = true }
    }
  }

  private func addComputation(
    of lazy: WatcherRef, _ owner: UInt32, _ fill: (inout LoopEvent) -> Void
  ) {
    let (name, site) = lazy.pointee.receiver.takeUnretainedValue().label(lazy)
    add(.compute, of: owner) {
      ($0.key, $0.site, $0.object) = (name, site, lazy.pointee.root.map(title(of:)))
      fill(&$0)
    }
  }

  open override func called(_ watcher: ObservationCore.WatcherRef) {
    let owner = owner(of: watcher)
    if keepsHistory, records(owner) {
      let history = history(of: watcher, owner)
      release(history.last, of: owner)
      history.last = history.waiting
      for (position, place) in history.suspects where hasLeft(place) {
        history.last[position].hasLeft = true
      }
      (history.waiting, history.suspects) = ([], [])
      (history.lastTurn, history.lastFlush) = (turn, flush)
      if let write = history.lastEqual { release(write.size, of: owner) }
      history.lastEqual = nil
    }
    add(.call, watcher)
  }

  public override func registered(_ watcher: ObservationCore.WatcherRef, _ path: Path) {
    add(.observe, watcher) { $0.path = path.description }
  }

  public override func ended(_ watcher: ObservationCore.WatcherRef) {
    let id = watcher.pointee.id
    formerValues[id] = nil
    if histories[id] != nil {
      ended.append(id)
      if ended.count > endedLimit {
        for old in ended.prefix(endedLimit / 2) { forget(old) }
        ended.removeFirst(endedLimit / 2)
      }
    }
    add(.end, watcher)
  }

  /// Whether no path of the watcher or lazy property leads to the object, according to its current
  /// links.
  ///
  /// Returns false if the links are not up to date.
  ///
  /// - Complexity: O(links).
  private func hasLeft(_ place: Place) -> Bool {
    guard let owner = engine.watchers[place.owner] else { return false }
    var hasLeft = true
    engine.wiring.forEachWire(of: owner) { wire in
      if wire.pointee.hasWork || wire.links.contains(where: { $0.node == place.node }) {
        hasLeft = false
      }
    }
    return hasLeft
  }

  /// Notes that a program stopped the watcher.
  package func noteStop(of watcher: WatcherRef, at site: String) {
    guard keepsHistory else { return }
    let owner = owner(of: watcher)
    if records(owner) {
      history(of: watcher, owner).stoppedAt = site
    }
  }

  private func add(
    _ kind: LoopEvent.Kind, of owner: UInt32, _ fill: (inout LoopEvent) -> Void
  ) {
    var event = LoopEvent(kind, turn: turn, flush: flush)
    event.owner = owner
    event.isCausedByOthers = isCausedByOthers(owner)
    fill(&event)
    if reserve(event.size, of: owner) { events.append(event) } else { missed(owner) }
  }

  private func add(
    _ kind: LoopEvent.Kind, _ watcher: WatcherRef, _ fill: (inout LoopEvent) -> Void = { _ in }
  ) {
    guard isLogging else { return }
    let owner = owner(of: watcher)
    guard logs(owner), let (name, site) = label(of: watcher) else { return }
    add(kind, of: owner) {
      ($0.name, $0.site) = (name, site)
      $0.object = watcher.pointee.root.flatMap { $0.isDead ? nil : title(of: $0) }
      fill(&$0)
    }
  }
}
