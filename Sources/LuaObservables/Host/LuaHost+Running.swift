internal import Glibc
internal import Lua
internal import Observables

/// The functions that a stand-alone program needs: the ends of turns, and a loop that runs until
/// nothing is left.
extension LuaHost {
  /// Called when a script first requires the module: it uses the loop.
  package var moduleDidLoad: (() -> Void)? {
    get { module.didLoad }
    set { module.didLoad = newValue }
  }

  /// Where operations of `AsyncResult` run; nil for the pool that all tasks share.
  package var operationExecutor: (any TaskExecutor)? {
    get { module.tasks.executor }
    set { module.tasks.executor = newValue }
  }

  /// Switches the record on or off that `why` and `whynot` need; while it is off it costs one
  /// branch.
  public func record(_ isOn: Bool) { module.debugging.record(isOn, for: sandboxes.main) }

  /// Calls the functions that scripts registered for their end, once each, in the order of
  /// registration.
  public func runExitHooks() { module.exitHooks.run() }

  var reports: ErrorReports { module.reports }
  var arguments: Arguments { Arguments(self) }
  var observed: ObservedObjects { ObservedObjects(self) }
  var edits: ScriptEdits { ScriptEdits(self) }
  var recorder: ScriptRecorder? { module.debugging.recorder }

  /// Ends the turn under way: calls the watchers that are pending.
  package func endTurn() {
    try? state.withStack { _ throws(LuaError) in loop.endTurn() }
    loop.noteOuterCode()
    recorder?.drain()
  }

  /// The program is about to end: the loop stops, and a flush under way is the last of its turn.
  package func endAfterTurn() {
    engine.delivery.isEnding = true
    loop.stop()
  }

  /// Whether `stepWhileIdle` could have something to do.
  package var mayStep: Bool { loop.mayStep && !engine.isOccupied }

  /// Handles messages and timers that are due, while the program waits outside of any turn.
  package func stepWhileIdle() {
    guard !engine.isOccupied else { return }
    _ = try? state.withStack { _ throws(LuaError) in loop.step() }
    recorder?.drain()
  }

  /// Runs the loop until nothing could wake it, or until `isOver` returns true, which is called
  /// whenever `descriptor` is readable; -1 for none.
  package func runLoop(wakingFor descriptor: CInt, isOver: @escaping () -> Bool) {
    let handler = waits(for: descriptor) { [unowned loop] in
      if isOver() { loop.stop() }
    }
    loop.run()
    handler?.stop()
    endTurn()
  }

  /// Calls `body` when a descriptor can be read, which keeps no loop running; nil where it is not
  /// open.
  func waits(for descriptor: CInt, _ body: @escaping () -> Void) -> DescriptorHandler? {
    let handler = try? loop.onReadable(descriptor, body)
    handler?.keepsLoopRunning = false
    return handler
  }

  /// Stops the loop, while `runLoop` runs it, when a descriptor has no more to read.
  ///
  /// What can be read before is dropped. A descriptor that a script reads is left to that.
  package func stopsLoop(atEndOf descriptor: CInt) {
    if loop.isWaiting(for: descriptor) { return }
    let handler = try? loop.onReadable(descriptor) { [unowned loop] in
      var bytes: [UInt8] = Array(repeating: 0, count: 256)
      if read(descriptor, &bytes, bytes.count) <= 0 { loop.stop() }
    }
    handler?.keepsLoopRunning = false
  }

  /// Reports an error of the loop itself: watchers that trigger themselves without end (T4, T9),
  /// and operators over values that they cannot take (C9).
  package func report(_ error: any Error) {
    if let error = error as? WatcherError {
      return reports.report(
        LuaError(.runtime, "\(error.underlying)", underlying: error.underlying), .watcher,
        name: error.watcher, site: error.site)
    }
    let name =
      switch error as? EngineError {
      case .operand(let watcher, _, _, _, _), .immediateLoop(let watcher, _),
        .unknownName(let watcher, _), .value(let watcher, _):
        watcher
      case .computation(let property, _): property
      case .retriggered, .registration, .hookLoop, .callback, nil: ""
      }
    reports.report(LuaError("\(error)"), .loop, name: name, site: "")
  }
}
