internal import LibC
internal import Lua
internal import Observables

/// Functions for stand-alone programs: ending turns, and running the loop until nothing can wake
/// it.
extension LuaHost {
  /// Called when a script first requires the module, which means that it uses the loop.
  package var moduleDidLoad: (() -> Void)? {
    get { module.didLoad }
    set { module.didLoad = newValue }
  }

  /// The executor of `AsyncResult` operations; nil for the pool that all tasks share.
  package var operationExecutor: (any TaskExecutor)? {
    get { module.tasks.executor }
    set { module.tasks.executor = newValue }
  }

  /// Switches the record for `why` and `whynot` on or off; while it is off, it costs one branch.
  public func record(_ isOn: Bool) { module.debugging.record(isOn, for: sandboxes.main) }

  /// Calls the exit functions that scripts have registered, once each, in order of registration.
  public func runExitHooks() { module.exitHooks.run() }

  var reports: ErrorReports { module.reports }
  var arguments: Arguments { Arguments(self) }
  var observed: ObservedObjects { ObservedObjects(self) }
  var edits: ScriptEdits { ScriptEdits(self) }
  var recorder: ScriptRecorder? { module.debugging.recorder }

  /// Ends the turn under way by calling the pending watchers.
  package func endTurn() {
    try? state.withStack { _ throws(LuaError) in loop.endTurn() }
    loop.noteOuterCode()
    recorder?.drain()
  }

  /// Ends the program after this turn: stops the loop, and makes a flush under way the last of its
  /// turn.
  package func endAfterTurn() {
    engine.delivery.isEnding = true
    loop.stop()
  }

  /// Whether `stepWhileIdle` might have something to do.
  package var mayStep: Bool { loop.mayStep && !engine.isOccupied }

  /// Handles due messages and timers while the program waits outside any turn.
  package func stepWhileIdle() {
    guard !engine.isOccupied else { return }
    _ = try? state.withStack { _ throws(LuaError) in loop.step() }
    recorder?.drain()
  }

  /// Runs the loop until nothing can wake it, or until `isOver` returns true.
  ///
  /// `isOver` is called whenever `descriptor` is readable; -1 for no descriptor.
  package func runLoop(wakingFor descriptor: CInt, isOver: @escaping () -> Bool) {
    let handler = waits(for: descriptor) { [unowned loop] in
      if isOver() { loop.stop() }
    }
    loop.run()
    handler?.stop()
    endTurn()
  }

  /// Calls `body` when a descriptor is readable, without keeping the loop running; nil if it is not
  /// open.
  func waits(for descriptor: CInt, _ body: @escaping () -> Void) -> DescriptorHandler? {
    let handler = try? loop.onReadable(descriptor, body)
    handler?.keepsLoopRunning = false
    return handler
  }

  /// Stops the loop, if `runLoop` is running it, at the end of a descriptor's input.
  ///
  /// Input before the end is dropped. A descriptor that a script reads is left alone.
  package func stopsLoop(atEndOf descriptor: CInt) {
    if loop.isWaiting(for: descriptor) { return }
    let handler = try? loop.onReadable(descriptor) { [unowned loop] in
      var bytes: [UInt8] = Array(repeating: 0, count: 256)
      if read(descriptor, &bytes, bytes.count) <= 0 { loop.stop() }
    }
    handler?.keepsLoopRunning = false
  }

  /// Reports an error of the loop itself: endless watcher cycles (T4, T9), and values that an
  /// operator cannot take (C9).
  package func report(_ error: any Error) {
    if let error = error as? WatcherError {
      return reports.report(
        LuaError(.runtime, "\(error.underlying)", underlying: error.underlying), .watcher,
        name: error.watcher, site: error.site, isRecorded: true)
    }
    let name =
      switch error as? EngineError {
      case .operand(let watcher, _, _, _, _), .immediateLoop(let watcher, _),
        .unknownName(let watcher, _), .value(let watcher, _):
        watcher
      case .computation(let property, _): property
      case .retriggered, .registration, .hookLoop, .callback, nil: ""
      }
    reports.report(LuaError("\(error)"), .loop, name: name, site: "", isRecorded: true)
  }
}
