import Dispatch
import Foundation

/// Runs `body` on a new thread.
///
/// A loop that waits there does not block a thread of the pool, which tasks need.
func onOwnThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
  }
}

/// Runs `body` on another thread, while this one waits.
func onOtherThread<Result>(_ body: @escaping @Sendable () -> Result) -> Result {
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var result: Result?
  Thread.detachNewThread {
    result = body()
    done.signal()
  }
  done.wait()
  return result!
}
