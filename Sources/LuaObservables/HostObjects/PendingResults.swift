internal import Lua
internal import Observables

/// A script's task that waits for a result.
private struct PendingCall {
  let operation: Task<Void, Never>
  /// The number of the task's sandbox.
  let sandbox: UInt32
  /// The function that wakes the task.
  let wake: LuaFunction
  let finish: (any Sendable) throws -> Any?
}

/// Results that scripts' tasks wait for.
final class PendingResults: ModuleSlice {
  /// The executor of operations; nil for the pool that all tasks share.
  var executor: (any TaskExecutor)?
  /// The prelude function that makes a function wait; nil until the module is loaded.
  private var awaiting: LuaFunction?
  private var waiting: [Int: PendingCall] = [:]
  /// The error of the operation whose task is being woken.
  private var failure: (any Error)?
  private var lastNumber = 0

  override var functions: [NamedFunction] { [.init("raise_failure", raiseFailure)] }

  /// Raises the error of an operation in the task that waited for it.
  private func raiseFailure(_ L: LuaStack) throws -> CInt {
    defer { failure = nil }
    throw failure ?? LuaError("no operation has failed (this is a bug in LuaObservables)")
  }

  override func preludeDidRun(_ core: CInt, _ L: LuaStack) throws(LuaError) {
    try state.pushField("awaiting", at: core, of: L)
    awaiting = LuaFunction(pin: try state.pin(at: -1, of: L))
    L.pop()
  }

  override func end() {
    cancelAll { _ in true }
    awaiting = nil
  }

  override func end(of sandbox: UInt32) { cancelAll { $0 == sandbox } }

  /// Cancels the operations that tasks of closing sandboxes wait for.
  private func cancelAll(where isClosing: (UInt32) -> Bool) {
    for (number, call) in waiting where isClosing(call.sandbox) { drop(number)?.cancel() }
  }

  /// Pushes a function with which tasks wait for the result that `start` returns. [-0, +1, -]
  func push(
    _ name: String, to L: LuaStack,
    _ start: @escaping (LuaStack) throws -> (any PendingResult)?
  ) throws(LuaError) {
    if awaiting == nil {
      // Loading leaves more on the stack than the module.
      let height = L.height
      _ = try host.module.load(L)
      L.height = height
    }
    guard let awaiting else { throw LuaError("the module 'obs' is not complete") }
    try state.push(awaiting.pin, to: L)
    try state.push(text: "'\(name)'", to: L)
    try calls.push(
      { [self] L in
        // The first argument is the function that wakes the task.
        let wake = LuaFunction(pin: try state.pin(at: 1, of: L))
        L.remove(1)
        guard let result = try start(L) else { throw LuaError("'\(name)' returned no result") }
        let number = begin(result, wake)
        try calls.push(
          { [self] _ in
            drop(number)?.cancel()
            return 0
          }, to: L)
        return 1
      }, to: L)
    try state.tracedCall(arguments: 2, results: 1, L)
  }

  private func begin(_ result: any PendingResult, _ wake: LuaFunction) -> Int {
    lastNumber += 1
    let (number, operation, inbox, reference) = (
      lastNumber, result.operation, host.loop.inbox, host.reference
    )
    let executor = result.isOnLoop ? LoopExecutor(inbox) : executor
    let task = Task(executorPreference: executor) {
      let outcome: Result<any Sendable, any Error>
      do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
      // No task waits for a cancelled operation.
      if !Task.isCancelled {
        inbox.post { reference.use { $0.module.tasks.arrived(number, outcome) } }
      }
    }
    waiting[number] = PendingCall(
      operation: task, sandbox: host.sandboxes.current.number, wake: wake, finish: result.finish)
    // The loop runs as long as a task waits.
    host.loop.retain()
    return number
  }

  /// Removes a call that no task waits for any longer; returns nil if it was already removed.
  private func drop(_ number: Int) -> Task<Void, Never>? {
    guard let call = waiting.removeValue(forKey: number) else { return nil }
    host.loop.release()
    return call.operation
  }

  private func arrived(_ number: Int, _ outcome: Result<any Sendable, any Error>) {
    guard !host.isClosed, let call = waiting[number] else { return }
    _ = drop(number)
    defer { failure = nil }
    do {
      try state.withStack { L throws(LuaError) in
        try state.push(call.wake.pin, to: L)
        let height = L.height
        L.push(true)
        var count: CInt = 1
        do {
          count += try host.objects.push(.other(call.finish(try outcome.get())), to: L)
        } catch {
          L.height = height
          L.push(false)
          failure = error
        }
        try state.tracedCall(arguments: count, L)
      }
    } catch {
      host.reports.report(error, .task, name: "task", site: "")
    }
    host.recorder?.drain()
  }
}
