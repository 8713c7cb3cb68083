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
