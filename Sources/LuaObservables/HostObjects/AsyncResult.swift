internal import Lua
internal import Observables

/// A result that is available later; a script's task waits for it.
///
/// A method or function that returns one first runs on the loop's thread, where it can read its
/// model. The values that it passes to the operation are `Sendable`, so the operation can run
/// anywhere.
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
/// A script calls it inside a task, like `obs.sleep`: `local text = library:load(3)`. Anywhere
/// else, the call is an error. The result or error arrives in a turn of the loop. If the script's
/// task is cancelled, or the host closes, the operation is cancelled and no script waits for it.
///
/// In contrast, a method or function with an `async` closure runs entirely on the loop's thread;
/// each part between two `await`s is a turn.
public struct AsyncResult<Value> {
  let operation: @Sendable () async throws -> any Sendable
  let finish: (any Sendable) throws -> Any?

  /// Makes a result from the value of `operation`.
  ///
  /// The operation runs in the actor that its closure names, or in none, and never on the loop's
  /// thread.
  public init(_ operation: @escaping @Sendable () async throws -> Value) where Value: Sendable {
    self.operation = { try await operation() }
    finish = { $0 }
  }

  /// Makes a result by calling `then` with the output of `operation`, back on the loop's thread,
  /// where it can use the model.
  public init<Output: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Output,
    then: @escaping (Output) throws -> Value
  ) {
    self.operation = { try await operation() }
    // The operation's output always has this type.
    finish = { try then($0 as! Output) }
  }
}

/// A result for which a script's task waits.
protocol PendingResult {
  /// Whether the operation runs on the loop's thread.
  var isOnLoop: Bool { get }
  var operation: @Sendable () async throws -> any Sendable { get }
  var finish: (any Sendable) throws -> Any? { get }
}

extension AsyncResult: PendingResult {
  var isOnLoop: Bool { false }
}

/// The result of an `async` method or function, which runs on the loop's thread, except for calls
/// to other actors.
struct ClosureResult: PendingResult {
  let isOnLoop = true
  let operation: @Sendable () async throws -> any Sendable
  let finish: (any Sendable) throws -> Any?

  init(_ body: @escaping () async throws -> Any) {
    // Both are used only on the loop's thread, or in the closure's actor.
    nonisolated(unsafe) let body = body
    nonisolated(unsafe) var value: Any?
    operation = { value = try await body() }
    finish = { _ in value }
  }
}
