/// A registration: which paths of which object are watched, and who is called.
///
/// The observed object owns it (L1): dropping the handle ends nothing, and keeping it keeps nothing
/// alive. It ends with ``stop()``, or when the observed object or the observer is gone. Confined to
/// the loop's thread.
public final class Watcher: ObservationCore.Receiver {
  @exclusivity(unchecked) private var record: WatcherRef?
  /// Held by hand, so that calling it counts no references; goes when the watcher ended and no call
  /// is under way.
  @exclusivity(unchecked) private var callback: Unmanaged<Callback>?
  @exclusivity(unchecked) private var calls = 0
  @exclusivity(unchecked) private var changeBody: ((Watcher, ModelChange) -> Void)?
  private weak var observer: AnyObject?
  @exclusivity(unchecked) private var endBody: ((Path) -> Void)?
  @exclusivity(unchecked) private var equals: ((Any?, Any?) -> Bool)?
  // Only asked while the watcher is active, and the engine ends its watchers before it goes.
  private let engineReference: Unmanaged<Engine>
  var engine: Engine { engineReference._withUnsafeGuaranteedRef { $0 } }
  /// How reports name it: what ``WatcherOptions/name`` gave, or the place of its registration.
  public var name: String { givenName ?? "\(file):\(line)" }
  private let givenName: String?
  private let file: StaticString
  private let line: UInt

  init(
    engine: Engine, file: StaticString, line: UInt, observer: AnyObject?, options: WatcherOptions,
    body: @escaping (AnyObject, Watcher) -> Void, changeBody: ((Watcher, ModelChange) -> Void)?
  ) {
    engineReference = .passUnretained(engine)
    (self.file, self.line, givenName) = (file, line, options.name)
    self.observer = observer
    callback = .passRetained(Callback(body))
    self.changeBody = changeBody
    endBody = options.onEnd
    equals = options.equals
  }

  deinit { callback?.release() }

  func begin(_ record: WatcherRef) { self.record = record }

  /// Calls can still come.
  public var isActive: Bool { record != nil }
  var activeRecord: WatcherRef? { record }

  /// The observed object; nil when the watcher has ended.
  var observed: AnyObject? {
    guard let root = record?.pointee.root else { return nil }
    return root.kind.object(of: root)?.takeUnretainedValue()
  }

  /// The observing object, while it lives.
  var observing: AnyObject? { observer }

  /// Ends it: no call is made after this returns (T7).
  ///
  /// Harmless when it has ended.
  ///
  /// - Returns: how many paths it had.
  @discardableResult
  public func stop() -> Int {
    guard let record else { return 0 }
    precondition(engine.isHere, "A watcher is stopped on its loop's thread")
    return engineReference._withUnsafeGuaranteedRef { engine in
      let count = engine.stop(record)
      if !engine.hookCalls.isEmpty { engine.runHooks() }
      return count
    }
  }

  /// Calls nothing until `resume()`; changes from now on are remembered as one.
  public func pause() {
    if let record { engine.pause(record) }
  }

  /// Ends `pause()`: what changed meanwhile is delivered, by one call.
  public func resume() {
    if let record { engine.resume(record) }
  }

  /// Adds a path with the same root: still one call per turn.
  ///
  /// - Throws: ``PathError`` for a component that its object doesn't have.
  @discardableResult
  public func observe(_ path: Path) throws -> Watcher { try observe([path]) }

  /// Adds paths with the same root: still one call per turn.
  ///
  /// - Throws: ``PathError`` for a component that its object doesn't have; none of them is added
  ///   then.
  @discardableResult
  public func observe(_ paths: [Path]) throws -> Watcher {
    if let record {
      defer { engine.runHooks() }
      try engine.add(paths, to: record)
    }
    return self
  }

  /// Calls the callback now, if observed and observer are alive.
  ///
  /// - Precondition: the callback is not running.
  public func run() {
    guard let record else { return }
    let hasRun = engine.runNow(record)
    precondition(hasRun, "A watcher is run inside its own callback")
  }

  /// Has it called in this turn's flush, as if something had changed.
  public func schedule() {
    if let record { engine.schedule(record) }
  }

  /// Gives `body` how far the watcher has read the journal of its collection, which it has read to
  /// the end afterwards; nil where it reads none.
  func takeEdits<Edits>(_ body: (_ since: Int) -> Edits?) -> Edits? {
    guard let record else { return nil }
    return engine.takeEdits(of: record) { _, since in body(since) } ?? nil
  }

  // MARK: Receiver

  @_documentation(visibility: internal)
  public override func deliver(_ watcher: ObservationCore.WatcherRef) {
    if let changeBody, let path = watcher.pointee.wires?.pointee.path.takeUnretainedValue() {
      // Not for a write: `initial`, `run`, an object in the middle that died.
      changeBody(self, ModelChange(path: path, key: path.components[0].name, old: nil, new: nil))
    } else {
      call()
    }
  }

  /// The engine keeps the object alive meanwhile.
  @inline(__always)
  private func call() {
    guard let callback, let root = record?.pointee.root,
      let object = root.pointee.kind._withUnsafeGuaranteedRef({ $0.object(of: root) })
    else { return }
    calls += 1
    object._withUnsafeGuaranteedRef { object in
      callback._withUnsafeGuaranteedRef { $0.body(object, self) }
    }
    calls -= 1
    if calls == 0, record == nil { dropCallback() }
  }

  private func dropCallback() {
    let callback = callback
    self.callback = nil
    callback?.release()
  }

  @_documentation(visibility: internal)
  public override func deliver(
    _ watcher: ObservationCore.WatcherRef, _ change: ObservationCore.ImmediateChange, path: Path
  ) {
    guard let changeBody else {
      call()
      return
    }
    let write =
      switch change {
      case .written(let change): Optional(ModelWrite(change))
      case .saved(let saved): (saved as? SavedWrite)?.write
      }
    changeBody(
      self, ModelChange(path: path, key: write?.key ?? "*", old: write?.old, new: write?.new))
  }

  @_documentation(visibility: internal)
  public override func accept(
    _ change: ObservationCore.ImmediateChange, for watcher: ObservationCore.WatcherRef
  ) -> ObservationCore.ImmediateChange? {
    guard let equals else { return super.accept(change, for: watcher) }
    switch change {
    case .written(let written):
      guard let values = written.observedValues else { break }
      return equals(values.old, values.new) ? nil : change
    case .saved(let saved):
      guard let write = (saved as? SavedWrite)?.write else { break }
      return equals(write.old, write.new) ? nil : change
    }
    return super.accept(change, for: watcher)
  }

  @_documentation(visibility: internal)
  public override func isEqual(
    _ old: ObservationCore.Operand, _ new: ObservationCore.Operand,
    for watcher: ObservationCore.WatcherRef
  ) -> Bool { equals?(old.plain, new.plain) ?? false }

  @_documentation(visibility: internal)
  public override func save(_ change: ObservationCore.Change) -> AnyObject? {
    SavedWrite(ModelWrite(change))
  }

  @_documentation(visibility: internal)
  public override func isObserverAlive(_ watcher: ObservationCore.WatcherRef) -> Bool {
    observer != nil
  }

  @_documentation(visibility: internal)
  public override func ended(_ watcher: ObservationCore.WatcherRef, observedDied path: Path?) {
    record = nil
    if calls == 0 { dropCallback() }
    changeBody = nil
    equals = nil
    // This may be in the middle of anything.
    if let path, let endBody { engine.inbox.loop?.deferToNextTurn { endBody(path) } }
    endBody = nil
  }

  @_documentation(visibility: internal)
  public override func title(_ watcher: ObservationCore.WatcherRef) -> String { name }

  @_documentation(visibility: internal)
  public override func label(_ watcher: ObservationCore.WatcherRef) -> (name: String, site: String?)
  {
    (name, "\(file):\(line)")
  }

  private final class Callback {
    let body: (AnyObject, Watcher) -> Void
    init(_ body: @escaping (AnyObject, Watcher) -> Void) { self.body = body }
  }
}

/// What an immediate watcher is given.
///
/// Coalesced watchers are given none: they read the latest state.
public struct ModelChange {
  /// The path on which the change lies, as it was registered.
  public let path: Path
  /// The property that was written; of a collection the index, key or member.
  public let key: String
  /// The value before the write; nil also where the write came without values.
  public let old: Any?
  /// The value after the write; nil also where the write came without values.
  public let new: Any?
}

/// What `observe` can be told besides path and callback.
public struct WatcherOptions {
  /// What reports call the watcher; the place of registration if it is nil.
  public var name: String?
  /// Whether there is a call in the turn of registration, too, without a change.
  public var initial = false
  /// Whether it ends after the first call.
  public var once = false
  /// Replaces the comparison of T5 for this watcher: true when this write is no change.
  public var equals: ((_ old: Any?, _ new: Any?) -> Bool)?
  /// Called in the next turn after the observed object died (not when the watcher was stopped).
  public var onEnd: ((Path) -> Void)?

  /// Options; without arguments a watcher is called for changes only, until it ends.
  public init(
    name: String? = nil, initial: Bool = false, once: Bool = false,
    equals: ((Any?, Any?) -> Bool)? = nil, onEnd: ((Path) -> Void)? = nil
  ) {
    (self.name, self.initial, self.once) = (name, initial, once)
    (self.equals, self.onEnd) = (equals, onEnd)
  }
}
