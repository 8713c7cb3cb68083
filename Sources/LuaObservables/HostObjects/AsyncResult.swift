internal import CLua
internal import Lua
internal import Observables

/// A result that takes its time, which a task of a script waits for.
///
/// A method or function that returns one runs on the loop's thread first, where it may read its
/// model; what it hands to the operation is `Sendable`, so that this can run anywhere.
///
/// ```swift
/// Method("load") { (library, id: Int) in
///   let address = library.address
///   return AsyncResult { try await fetch(address, id) } then: { text in
///     library.last = text
///     return text
///   }
/// }
/// ```
///
/// A script calls it inside a task, as `obs.sleep`: `local text = library:load(3)`. Elsewhere that
/// is an error. The result, or what was thrown, arrives in a turn of the loop. The operation is
/// cancelled when the task of the script is, or when the host closes; nobody waits for it then.
public struct AsyncResult<Value> {
  let operation: @Sendable () async throws -> any Sendable
  let finish: (any Sendable) throws -> Any?

  /// The value that `operation` gives.
  ///
  /// It runs where its closure says, in no actor if that says nothing, and never on the loop's
  /// thread.
  public init(_ operation: @escaping @Sendable () async throws -> Value) where Value: Sendable {
    self.operation = { try await operation() }
    finish = { $0 }
  }

  /// What `then` makes of the output of `operation`, on the loop's thread again: it may use the
  /// model.
  public init<Output: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Output,
    then: @escaping (Output) throws -> Value
  ) {
    self.operation = { try await operation() }
    // The operation gives nothing else.
    finish = { try then($0 as! Output) }
  }
}

/// An `AsyncResult` of any type.
protocol PendingResult {
  var operation: @Sendable () async throws -> any Sendable { get }
  var finish: (any Sendable) throws -> Any? { get }
}

extension AsyncResult: PendingResult {}

/// A task of a script that waits for a result.
struct PendingCall {
  let operation: Task<Void, Never>
  /// Wakes the task.
  let wake: LuaFunction
  let finish: (any Sendable) throws -> Any?
}

extension LuaHost {
  /// Pushes a function by which tasks wait for the result that `start` gives. [-0, +1, -]
  func pushAwaiting(
    _ name: String, to L: OpaquePointer,
    _ start: @escaping (LuaHost, OpaquePointer) throws -> (any PendingResult)?
  ) throws(LuaError) {
    if awaiting == nil {
      _ = try loadModule(L)
      clua_pop(L, 1)
    }
    guard let awaiting else { throw LuaError("the module 'obs' is not complete") }
    try state.push(awaiting.pin, to: L)
    try state.push(text: "'\(name)'", to: L)
    try push(
      { host, L in
        // What wakes the task comes before the arguments.
        let wake = LuaFunction(pin: try host.state.pin(at: 1, of: L))
        clua_remove(L, 1)
        guard let result = try start(host, L) else { throw LuaError("'\(name)' gave no result") }
        let number = host.begin(result, wake)
        try host.push(
          { host, _ in
            host.drop(number)?.cancel()
            return 0
          }, to: L)
        return 1
      }, to: L)
    try state.check(clua_tracedcall(L, 2, 1), L)
  }

  private func begin(_ result: any PendingResult, _ wake: LuaFunction) -> Int {
    lastResult += 1
    let (number, operation, inbox, reference) = (
      lastResult, result.operation, loop.inbox, reference
    )
    let task = Task(executorPreference: operationExecutor) {
      let outcome: Result<any Sendable, any Error>
      do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
      // Nobody waits for what was cancelled.
      if !Task.isCancelled { inbox.post { reference.host?.arrived(number, outcome) } }
    }
    pendingResults[number] = PendingCall(operation: task, wake: wake, finish: result.finish)
    // The loop goes on as long as somebody waits.
    loop.retain()
    return number
  }

  /// Nobody waits for it any longer; nil where that was so before.
  private func drop(_ number: Int) -> Task<Void, Never>? {
    guard let call = pendingResults.removeValue(forKey: number) else { return nil }
    loop.release()
    return call.operation
  }

  /// The host ends.
  func cancelResults() {
    for number in pendingResults.keys { drop(number)?.cancel() }
  }

  private func arrived(_ number: Int, _ outcome: Result<any Sendable, any Error>) {
    guard !isClosed, let call = pendingResults[number] else { return }
    _ = drop(number)
    do {
      try state.withStack { L throws(LuaError) in
        try state.push(call.wake.pin, to: L)
        let height = lua_gettop(L)
        lua_pushboolean(L, 1)
        var count: CInt = 1
        do {
          count += try objects.push(result: call.finish(try outcome.get()), to: L)
        } catch {
          lua_settop(L, height)
          lua_pushboolean(L, 0)
          state.pushError(error, to: L)
          count = 2
        }
        try state.check(clua_tracedcall(L, count, 0), L)
      }
    } catch {
      report(error, .task, name: "task", site: "")
    }
    recorder?.drain()
  }
}
