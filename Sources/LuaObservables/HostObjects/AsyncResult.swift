internal import Lua
internal import Observables

/// A result that is available later, for which a task of a script waits.
///
/// A method or function that returns one runs on the loop's thread first, where it may read its
/// model; the values that it passes to the operation are `Sendable`, so that the operation can run
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
/// A script calls it inside a task, as `obs.sleep`: `local text = library:load(3)`. Elsewhere that
/// is an error. The result, or what was thrown, arrives in a turn of the loop. The operation is
/// cancelled when the task of the script is, or when the host closes; no script waits for it then.
///
/// Without it, a method or function whose closure is `async` runs on the loop's thread as a whole,
/// each part between two `await`s in a turn of its own.
public struct AsyncResult<Value> {
  let operation: @Sendable () async throws -> any Sendable
  let finish: (any Sendable) throws -> Any?

  /// A result that is the value of `operation`.
  ///
  /// The operation runs in the actor that its closure names, or in none, and never on the loop's
  /// thread.
  public init(_ operation: @escaping @Sendable () async throws -> Value) where Value: Sendable {
    self.operation = { try await operation() }
    finish = { $0 }
  }

  /// A result that `then` makes of the output of `operation`, on the loop's thread again: it may
  /// use the model.
  public init<Output: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Output,
    then: @escaping (Output) throws -> Value
  ) {
    self.operation = { try await operation() }
    // The output of the operation has no other type.
    finish = { try then($0 as! Output) }
  }
}

/// A result for which a task of a script waits.
protocol PendingResult {
  /// Whether the operation runs on the loop's thread.
  var isOnLoop: Bool { get }
  var operation: @Sendable () async throws -> any Sendable { get }
  var finish: (any Sendable) throws -> Any? { get }
}

extension AsyncResult: PendingResult {
  var isOnLoop: Bool { false }
}

/// The result of an `async` method or function: it runs on the loop's thread, but for what it calls
/// elsewhere.
struct ClosureResult: PendingResult {
  let isOnLoop = true
  let operation: @Sendable () async throws -> any Sendable
  let finish: (any Sendable) throws -> Any?

  init(_ body: @escaping () async throws -> Any) {
    // Both are used on the loop's thread only, or where the closure itself belongs.
    nonisolated(unsafe) let body = body
    nonisolated(unsafe) var value: Any?
    operation = { value = try await body() }
    finish = { _ in value }
  }
}
