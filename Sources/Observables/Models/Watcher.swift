import Synchronization

/// A registration: the paths of an object that are watched, and the callback to call.
///
/// The object can be a model, a collection, or a table of a script. It owns the watcher (L1):
/// dropping the handle doesn't end the watcher, and keeping it keeps nothing else alive. A watcher
/// ends with ``stop()``, or when the observed object or the observer is gone. Any thread can hold
/// the handle, stop it, and read its ``name`` and ``isActive``. Use everything else on the loop's
/// thread.
// Any thread uses `hasEnded`, which is atomic, and the constants. All other state is only used on
// the loop's thread: public methods check this, and the engine makes no calls on other threads.
open class Watcher: ObservationCore.Receiver, @unchecked Sendable {
  /// Set before the loop ends the watcher if another thread stops it.
  private final let hasEnded = Atomic(false)
  /// The record in the engine; nil after the watcher has ended.
  @exclusivity(unchecked) package private(set) final var activeRecord: WatcherRef?
  /// The watcher's custom comparison (``WatcherOptions/equals``).
  @exclusivity(unchecked) package private(set) final var equals: ((Any?, Any?) -> Bool)?
  @exclusivity(unchecked) private final var endBody: ((Path) -> Void)?
  /// The state with which a watcher of changes or of a history compares; the callback owns it.
  @exclusivity(unchecked) private(set) final weak var shadow: TreeShadow?
  private final weak var observer: AnyObject?
  private final let hasObserver: Bool
  /// The way for other threads to find the loop; a reference to the loop or its inbox would need
  /// reference counting in each registration.
  private final let address: LoopAddress
  // The reference is only used while the watcher is active. The engine ends its watchers before it
  // is freed.
  private final let engineReference: Unmanaged<Engine>
  package final var engine: Engine { engineReference._withUnsafeGuaranteedRef { $0 } }
  /// The watcher's name in reports: ``WatcherOptions/name``, or the place of its registration.
  public final var name: String { givenName ?? site }
  private final let givenName: String?
  package final var site: String { "\(file):\(line)" }
  private final let file: StaticString
  private final let line: UInt

  /// Makes the base part of a watcher; only subclasses call it.
  @_documentation(visibility: internal)
  public init(_ request: ObservationCore.WatcherRequest) {
    engineReference = .passUnretained(request.engine)
    address = request.engine.address
    (file, line, givenName) = (request.file, request.line, request.options.name)
    (equals, endBody) = (request.options.equals, request.options.onEnd)
    (observer, hasObserver) = (request.options.observer, request.options.hasObserver)
  }

  package final func begin(_ record: WatcherRef) { activeRecord = record }

  /// Whether the watcher can still be called; can be read on any thread.
  public final var isActive: Bool { !hasEnded.load(ordering: .acquiring) }

  /// The observing object, while it is alive.
  package final var observing: AnyObject? { observer }

  /// Keeps the observer alive while `body` runs; if the observer is gone, `body` is not run.
  @inline(__always)
  package final func holdingObserver(_ body: () throws -> Void) rethrows {
    guard hasObserver else { return try body() }
    guard let observer else { return }
    try withExtendedLifetime(observer, body)
  }

  /// Ends the watcher: no call begins after this returns (T7).
  ///
  /// Can be called on any thread. If another thread stops the watcher, a call that has begun on the
  /// loop's thread may not have finished. The loop then wakes and ends the watcher's paths at the
  /// beginning of its next turn. Does nothing if the watcher has ended.
  ///
  /// - Returns: the number of paths that the watcher had; 0 on any thread other than the loop's.
  @discardableResult
  public final func stop() -> Int {
    guard address.isHere else {
      if !hasEnded.exchange(true, ordering: .sequentiallyConsistent) {
        address.inbox?.postEnding { [self] in stop() }
      }
      return 0
    }
    guard let activeRecord else { return 0 }
    return engineReference._withUnsafeGuaranteedRef { engine in
      let count = engine.watchers.stop(activeRecord)
      if !engine.hooks.isEmpty { engine.hooks.run() }
      return count
    }
  }

  /// Traps on threads other than the loop's, because the watcher's state could change during the
  /// call.
  private func requireThread(_ what: String) {
    precondition(
      !isActive || address.isHere,
      "A watcher must be \(what) on its loop's thread; only stop() works on any")
  }

  /// Suspends calls until `resume()`.
  ///
  /// Changes from now on are remembered as one. Call it on the loop's thread.
  public final func pause() {
    requireThread("paused")
    if let activeRecord { engine.watchers.pause(activeRecord) }
  }

  /// Ends `pause()`.
  ///
  /// If something changed since then, the callback is called once. Call it on the loop's thread.
  public final func resume() {
    requireThread("resumed")
    if let activeRecord { engine.watchers.resume(activeRecord) }
  }

  /// Adds paths that start at the same object.
  ///
  /// There is still one call per turn. Call it on the loop's thread.
  ///
  /// - Throws: ``PathError`` for a component that its object doesn't have. In this case no path is
  ///   added.
  @discardableResult
  public final func observe(_ path: Path, _ others: Path...) throws -> Self {
    requireThread("given a path")
    if let activeRecord {
      defer { engine.hooks.run() }
      try engine.wiring.add([path] + others, to: activeRecord)
    }
    return self
  }

  /// Calls the callback now, if the observed object and the observer are alive.
  ///
  /// Call it on the loop's thread.
  ///
  /// - Precondition: the callback is not running.
  public final func run() {
    requireThread("run")
    guard let activeRecord else { return }
    let hasRun = engine.delivery.runNow(activeRecord)
    precondition(hasRun, "A watcher is run inside its own callback")
  }

  /// Returns the state from which the next delivery of a watcher of changes continues; nil if the
  /// watcher has ended.
  ///
  /// It is the state at the last delivery, plus later changes of the skipped origin. Call it on the
  /// loop's thread.
  ///
  /// - Precondition: the watcher was made by `changes`.
  /// - Complexity: O(size of the tree).
  public final func snapshot() -> ChangeSnapshot? {
    requireThread("asked for a snapshot")
    guard activeRecord != nil else { return nil }
    precondition(shadow != nil, "Only watchers of changes have snapshots")
    return shadow?.snapshot
  }

  /// Schedules a call in this turn's flush, as if something had changed.
  ///
  /// Call it on the loop's thread.
  public final func schedule() {
    requireThread("scheduled")
    if let activeRecord { engine.delivery.schedule(activeRecord) }
  }

  /// Reports an error that the callback has thrown (T10), on the loop's thread.
  ///
  /// Does nothing if the loop is gone.
  @_documentation(visibility: internal)
  open func report(_ error: any Error) {
    address.inbox?.loop?.engine.report(.callback(WatcherError(error, watcher: name, site: site)))
  }

  /// Starts the watcher's shadow.
  ///
  /// If that fails, the watcher ends.
  ///
  /// - Parameters:
  ///   - handle: the callback's handle of the shadow.
  final func beginShadow(
    of root: AnyObject, in engine: Engine, goesIntoTables: Bool, skip: AnyHashable? = nil,
    _ handle: ShadowHandle
  ) throws {
    guard let activeRecord else { return }
    do {
      handle.shadow = try TreeShadow(
        of: root, for: activeRecord, in: engine, goesIntoTables: goesIntoTables, skip: skip)
    } catch {
      stop()
      throw error
    }
    shadow = handle.shadow
  }

  /// Called when the watcher has ended: a subclass releases its callback.
  @_documentation(visibility: internal)
  open func dropCallback() {}

  // MARK: Receiver

  @_documentation(visibility: internal)
  public final override func isObserverAlive(_ watcher: ObservationCore.WatcherRef) -> Bool {
    observer != nil
  }

  @_documentation(visibility: internal)
  public final override func ended(
    _ watcher: ObservationCore.WatcherRef, observedDied path: Path?
  ) {
    activeRecord = nil
    // Another thread may have stopped the watcher before its object died.
    let path = isActive ? path : nil
    hasEnded.store(true, ordering: .releasing)
    dropCallback()
    equals = nil
    // The watcher may end in the middle of any operation, so `onEnd` is called later.
    if let path, let endBody { engine.inbox.loop?.deferToNextTurn { endBody(path) } }
    endBody = nil
  }

  final override func wasWritten(_ node: NodeRef) { shadow?.keepContents(of: node) }

  @_documentation(visibility: internal)
  public final override func title(_ watcher: ObservationCore.WatcherRef) -> String { name }

  @_documentation(visibility: internal)
  public final override func label(
    _ watcher: ObservationCore.WatcherRef
  ) -> (name: String, site: String?) { (name, site) }
}

extension ObservationCore {
  /// The arguments that make a watcher, whatever it calls.
  @_documentation(visibility: internal)
  public struct WatcherRequest {
    let engine: Engine
    let file: StaticString
    let line: UInt
    let options: WatcherOptions

    package init(
      _ engine: Engine, _ options: WatcherOptions, _ file: StaticString, _ line: UInt
    ) {
      (self.engine, self.options, self.file, self.line) = (engine, options, file, line)
    }
  }
}

/// The options of `observe`, besides the path and the callback.
public struct WatcherOptions {
  /// The watcher's name in reports; nil uses the place of the registration.
  public var name: String?
  /// Whether the callback is also called in the turn of registration, without a change.
  public var initial = false
  /// Whether the watcher ends after the first call.
  public var once = false
  /// The object on whose behalf the watcher observes.
  ///
  /// When it is gone, the watcher ends (L3). These options and the watcher hold it weakly. The
  /// watcher keeps it alive during each call and each task, so a callback can capture it as
  /// `unowned`. ``equals`` and ``onEnd`` may be called after it is gone, so they should capture it
  /// as `weak`. ``KeyPathObservable/stopObserving(_:observer:)-(Path?,_)`` ends the watchers of one
  /// observer.
  public var observer: AnyObject? {
    get { observerReference?.object }
    set { observerReference = newValue.map(WeakReference.init) }
  }
  private var observerReference: WeakReference?
  /// Whether there is an observer, or was one.
  package var hasObserver: Bool { observerReference != nil }
  /// Replaces the comparison of T5 for this watcher; returns true if a write is not a change.
  public var equals: ((_ old: Any?, _ new: Any?) -> Bool)?
  /// Called in the next turn after the observed object died; not called if the watcher was stopped.
  public var onEnd: ((Path) -> Void)?

  /// Makes options; without arguments, a watcher is called for changes only, until it ends.
  public init(
    name: String? = nil, initial: Bool = false, once: Bool = false, observer: AnyObject? = nil,
    equals: ((Any?, Any?) -> Bool)? = nil, onEnd: ((Path) -> Void)? = nil
  ) {
    (self.name, self.initial, self.once) = (name, initial, once)
    (self.equals, self.onEnd) = (equals, onEnd)
    self.observer = observer
  }

  /// The traits of a watcher with these options.
  package var traits: ObservationCore.WatcherRecord.Traits {
    var traits: ObservationCore.WatcherRecord.Traits = []
    if once { traits.insert(.once) }
    if equals != nil { traits.insert(.comparing) }
    if hasObserver { traits.insert(.observing) }
    return traits
  }
}

private final class WeakReference {
  weak var object: AnyObject?
  init(_ object: AnyObject) { self.object = object }
}
