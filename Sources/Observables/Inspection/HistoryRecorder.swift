/// Keeps the writes that `why` and `whyNot` need, and the events for a log (W4).
///
/// Notes are taken in the middle of the engine's operations; the sink of a log is called after
/// them. A bridge overrides how keys are spelled, where writes are, and which watchers are its own.
@_documentation(visibility: internal)
open class HistoryRecorder: ObservationCore.EngineRecorder {
  /// The recorded history of one watcher.
  package struct History {
    package fileprivate(set) var waiting: [RecordedWrite] = []
    /// The last write that was noted.
    fileprivate var writeNumber = 0
    /// The writes behind the last call.
    package fileprivate(set) var last: [RecordedWrite] = []
    package fileprivate(set) var lastTurn = 0
    package fileprivate(set) var lastEqual: RecordedWrite?
    package fileprivate(set) var stoppedAt: String?
  }

  /// Whether events are kept for a sink (`takeEvents`).
  package var isLogging = false
  /// Whether `why` is to answer.
  package var keepsHistory = false {
    didSet {
      if keepsHistory { return }
      histories = [:]
      ended = []
    }
  }
  private unowned(unsafe) let engine: Engine
  private var histories: [UInt64: History] = [:]
  private var events: [LoopEvent] = []
  private var writeNumber = 0
  /// Watchers that ended and whose histories are kept; the oldest are dropped first.
  private var ended: [UInt64] = []
  private let endedLimit = 10_000

  /// Makes a recorder for an engine that lives longer, or is closed before.
  package init(of engine: Engine) {
    self.engine = engine
    super.init()
  }

  package var isNeeded: Bool { keepsHistory || isLogging }

  /// The history of a watcher, while histories are kept.
  package func history(of watcher: WatcherRef) -> History? { history(ofID: watcher.pointee.id) }
  package func history(ofID id: UInt64) -> History? { histories[id] }

  /// Returns the events since the last call, and removes them.
  package func takeEvents() -> [LoopEvent] {
    defer { events = [] }
    return events
  }

  // MARK: What bridges know better

  /// How the key of a write is spelled.
  open func key(of change: ObservationCore.Change, _ slot: ObservationCore.SlotRef) -> String {
    change.observedValues?.name(in: change.node.kind) ?? change.node.kind.name(of: slot)
  }

  /// Where the program writes now.
  open func site(of change: ObservationCore.Change) -> String? { nil }

  /// How a watcher is named and where it was registered; nil for one that is not to be shown.
  open func label(of watcher: ObservationCore.WatcherRef) -> (name: String, site: String?)? {
    watcher.pointee.receiver._withUnsafeGuaranteedRef { $0.label(watcher) }
  }

  // MARK: EngineRecorder

  private var turn: Int { engine.statistics.turns + 1 }

  public override func wrote(_ change: ObservationCore.Change) {
    guard let slot = change.slot ?? change.every else { return }
    let write = RecordedWrite(key: key(of: change, slot), site: site(of: change), turn: turn)
    if keepsHistory { note(write, of: change) }
    if isLogging {
      add(.write) {
        ($0.key, $0.site, $0.isEqual) = (write.key, write.site, change.isSame)
      }
    }
  }

  public override func invalidating(_ change: ObservationCore.Change) {
    guard keepsHistory, let slot = change.slot else { return }
    let write = RecordedWrite(
      key: key(of: change, slot), site: site(of: change), turn: turn, isInvalidation: true)
    note(write, of: change)
  }

  /// Notes a write for all watchers that it concerns, also those that are pending already: `why`
  /// returns every write.
  private func note(_ write: RecordedWrite, of change: Change) {
    let slots = [change.slot, change.every].compactMap { $0 }
    writeNumber += 1
    engine.forEachWatcher(behind: slots) { watcher, lazies in
      keep(
        write, lazies, isSame: change.isSame, &histories[watcher.pointee.id, default: History()])
    }
  }

  private func keep(
    _ write: RecordedWrite, _ lazies: [WatcherRef], isSame: Bool, _ history: inout History
  ) {
    // Several paths of a watcher may pass through the key that was written.
    if history.writeNumber == writeNumber { return }
    history.writeNumber = writeNumber
    if !isSame, history.waiting.count >= 1000 { return }
    var write = write
    write.through = lazies.map(engine.name)
    if isSame { history.lastEqual = write } else { history.waiting.append(write) }
  }

  public override func unchanged(_ watcher: ObservationCore.WatcherRef) {
    guard keepsHistory, var history = histories[watcher.pointee.id],
      var write = history.waiting.last
    else { return }
    write.isRecomputed = true
    history.lastEqual = write
    history.waiting = []
    histories[watcher.pointee.id] = history
  }

  public override func invalidated(
    _ lazy: ObservationCore.WatcherRef, by change: ObservationCore.Change
  ) {
    guard isLogging else { return }
    add(.invalidate) { ($0.key, $0.site) = (engine.name(of: lazy), site(of: change)) }
  }

  public override func computed(
    _ lazy: ObservationCore.WatcherRef, _ computation: ObservationCore.Computation
  ) {
    guard isLogging else { return }
    let (name, site) = lazy.pointee.receiver.takeUnretainedValue().label(lazy)
    add(.compute) {
      ($0.key, $0.site) = (name, site)
      if case .same = computation { $0.isEqual = true }
      if case .failed = computation { $0.hasFailed = true }
    }
  }

  public override func called(_ watcher: ObservationCore.WatcherRef) {
    if keepsHistory {
      var history = histories[watcher.pointee.id] ?? History()
      history.last = history.waiting
      history.waiting = []
      history.lastTurn = turn
      history.lastEqual = nil
      histories[watcher.pointee.id] = history
    }
    add(.call, watcher)
  }

  public override func registered(_ watcher: ObservationCore.WatcherRef, _ path: Path) {
    add(.observe, watcher) { $0.path = path.description }
  }

  public override func ended(_ watcher: ObservationCore.WatcherRef) {
    let id = watcher.pointee.id
    if keepsHistory {
      ended.append(id)
      if ended.count > endedLimit {
        for old in ended.prefix(endedLimit / 2) { histories[old] = nil }
        ended.removeFirst(endedLimit / 2)
      }
    }
    add(.end, watcher)
  }

  /// Notes that a program stopped the watcher.
  package func noteStop(of watcher: WatcherRef, at site: String) {
    if keepsHistory { histories[watcher.pointee.id, default: History()].stoppedAt = site }
  }

  private func add(_ kind: LoopEvent.Kind, _ fill: (inout LoopEvent) -> Void) {
    var event = LoopEvent(kind, turn: turn)
    fill(&event)
    events.append(event)
  }

  private func add(
    _ kind: LoopEvent.Kind, _ watcher: WatcherRef, _ fill: (inout LoopEvent) -> Void = { _ in }
  ) {
    guard isLogging, let (name, site) = label(of: watcher) else { return }
    add(kind) {
      ($0.name, $0.site) = (name, site)
      fill(&$0)
    }
  }
}
