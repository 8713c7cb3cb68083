internal import CLua
public import Lua
internal import Observables
internal import Synchronization

/// A script task that the program has begun and can wait for.
///
/// ```swift
/// guard let load = host["load"] as LuaFunction? else { return }
/// let results = try await load.task("index.html").results
/// ```
public final class ScriptTask: Sendable {
  private enum Progress {
    case running([CheckedContinuation<[LuaValue], any Error>])
    case done(Result<[LuaValue], any Error>)
  }

  private let progress = Mutex(Progress.running([]))
  private let number: Int
  private let inbox: Inbox
  private let reference: HostReference

  fileprivate init(_ number: Int, _ host: LuaHost) {
    (self.number, inbox, reference) = (number, host.loop.inbox, host.reference)
  }

  /// All results of the function, after it has returned.
  ///
  /// May be awaited on any thread, and several times. If a waiting Swift task is cancelled, this
  /// task is cancelled, too, for everyone who waits.
  ///
  /// - Throws: the error of the function; `CancellationError` if the program cancelled the task;
  ///   `closed` if the host, or the function's sandbox, closed first.
  public var results: [LuaValue] {
    get async throws {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let result: Result<[LuaValue], any Error>? = progress.withLock { progress in
            switch progress {
            case .running(let waiting):
              progress = .running(waiting + [continuation])
              return nil
            case .done(let result): return result
            }
          }
          if let result { continuation.resume(with: result) }
        }
      } onCancel: {
        cancel()
      }
    }
  }

  /// Cancels the task as `task:cancel()` does, in a turn of the loop.
  ///
  /// Does nothing if the task is done. May be called on any thread.
  public func cancel() {
    inbox.post { [reference, number] in reference.use { $0.module.taskCalls.cancel(number) } }
  }

  fileprivate func end(_ result: Result<[LuaValue], any Error>) {
    let waiting: [CheckedContinuation<[LuaValue], any Error>] = progress.withLock { progress in
      guard case .running(let waiting) = progress else { return [] }
      progress = .done(result)
      return waiting
    }
    for continuation in waiting { continuation.resume(with: result) }
  }
}

/// Script tasks that the program has begun.
final class TaskCalls: ModuleSlice {
  /// The unfinished tasks, their sandboxes, and their Lua tables, which are nil until the function
  /// first waits.
  private var running: [Int: (task: ScriptTask, sandbox: UInt32, table: LuaTable?)] = [:]
  private var lastNumber = 0
  /// The prelude function that begins such a task; nil until the module is loaded.
  private var beginning: LuaFunction?

  override func preludeDidRun(_ core: CInt, _ L: LuaStack) throws(LuaError) {
    try state.pushField("call_in_task", at: core, of: L)
    beginning = LuaFunction(pin: try state.pin(at: -1, of: L))
    L.pop()
  }

  override func end() {
    endAll { _ in true }
    beginning = nil
  }

  override func end(of sandbox: UInt32) { endAll { $0 == sandbox } }

  private func endAll(where isClosing: (UInt32) -> Bool) {
    for (number, entry) in running where isClosing(entry.sandbox) {
      end(number, .failure(LuaError.closed))
    }
  }

  /// Calls a function in a task.
  func begin(_ function: LuaFunction, _ arguments: [LuaValue]) throws(LuaError) -> ScriptTask {
    try function.inTurn { () throws(LuaError) in try start(function, arguments) }
  }

  private func start(
    _ function: LuaFunction, _ arguments: [LuaValue]
  ) throws(LuaError) -> ScriptTask {
    lastNumber += 1
    let number = lastNumber
    let done = try state.withStack { L throws(LuaError) in
      if beginning == nil { _ = try host.module.load(L) }
      try calls.push({ [self] L in try taskIsDone(number, L) }, to: L)
      return LuaFunction(pin: try state.pin(at: -1, of: L))
    }
    guard let beginning else { throw LuaError("the module 'obs' is not complete") }
    let task = ScriptTask(number, host)
    running[number] = (task, host.sandboxes.current.number, nil)
    // The loop runs as long as the task.
    host.loop.retain()
    do {
      let made = try beginning.callPlainly(
        arguments: [.function(function), .function(done)] + arguments)
      if case .table(let table)? = made.first { running[number]?.table = table }
    } catch {
      end(number, .failure(error))
      throw error
    }
    return task
  }

  /// Cancels the task, if it is not done.
  func cancel(_ number: Int) {
    guard let table = running[number]?.table else { return }
    end(number, .failure(CancellationError()))
    guard case .function(let cancel)? = try? table["cancel"] else { return }
    _ = try? cancel.call(arguments: [.table(table)])
  }

  /// Called with true and the results, or with false and an error.
  private func taskIsDone(_ number: Int, _ L: LuaStack) throws -> CInt {
    if L.boolean(at: 1) {
      // End the task even if a result cannot be converted: waiting code and the loop depend on it.
      end(number, Result { try (2..<L.height + 1).map { try state.value(at: $0, of: L) } })
    } else {
      L.height = 2
      end(number, .failure(state.takeError(LUA_ERRRUN, L)))
    }
    return 0
  }

  private func end(_ number: Int, _ result: Result<[LuaValue], any Error>) {
    guard let entry = running.removeValue(forKey: number) else { return }
    host.loop.release()
    entry.task.end(result)
  }
}
