internal import Lua
internal import Observables

/// What a program of its own needs: the ends of turns, and a loop that runs until nothing is left.
extension LuaHost {
  /// Told when the module was asked for first: the script uses the loop.
  package var moduleDidLoad: (() -> Void)? {
    get { module.didLoad }
    set { module.didLoad = newValue }
  }

  /// Where operations of `AsyncResult` run; nil for the pool that all tasks share.
  package var operationExecutor: (any TaskExecutor)? {
    get { module.tasks.executor }
    set { module.tasks.executor = newValue }
  }

  /// Switches the record on that `why` and `whynot` answer from; off costs one branch.
  public func record(_ isOn: Bool) { module.debugging.record(isOn) }

  /// Calls what the script wants called at its end, once each, in the order of registration.
  public func runExitHooks() { module.exitHooks.run() }

  var reports: ErrorReports { module.reports }
  var arguments: Arguments { Arguments(self) }
  var observed: ObservedObjects { ObservedObjects(self) }
  var edits: ScriptEdits { ScriptEdits(self) }
  var recorder: ScriptRecorder? { module.debugging.recorder }

  /// Ends the turn under way: calls the watchers that are pending.
  package func endTurn() {
    try? state.withStack { _ throws(LuaError) in loop.endTurn() }
    recorder?.drain()
  }

  /// The program is about to end: the loop stops, and a flush under way is the last of its turn.
  package func endAfterTurn() {
    engine.isEnding = true
    loop.stop()
  }

  /// Handles what is due while something else is awaited outside of any turn.
  package func stepWhileIdle() {
    guard !engine.isOccupied else { return }
    _ = try? state.withStack { _ throws(LuaError) in loop.step() }
    recorder?.drain()
  }

  /// Runs the loop until nothing could wake it, or until `isOver` says so, which is asked whenever
  /// `descriptor` is readable; -1 for none.
  package func runLoop(wakingFor descriptor: CInt, isOver: @escaping () -> Bool) {
    if descriptor >= 0 {
      loop.inputs[descriptor] = { [unowned loop] in
        if isOver() { loop.stop() }
      }
    }
    loop.run()
    loop.inputs[descriptor] = nil
    endTurn()
  }

  /// Reports an error of the loop itself: watchers that trigger themselves without end (T4, T9),
  /// and operators over what they cannot take (C9).
  package func report(_ error: any Error) {
    let name =
      switch error as? EngineError {
      case .operand(let watcher, _, _, _, _), .immediateLoop(let watcher, _),
        .unknownName(let watcher, _), .value(let watcher, _):
        watcher
      case .computation(let property, _): property
      case .retriggered, .registration, .hookLoop, nil: ""
      }
    reports.report(LuaError("\(error)"), .loop, name: name, site: "")
  }
}
