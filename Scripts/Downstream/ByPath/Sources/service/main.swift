import Lua
import LuaObservables
import Observables

/// The scripts of a server, on a loop in a separate thread.
///
/// Any thread may call them.
final class Rules: Sendable {
  // Belongs to the loop's thread: only messages use it.
  private final class Confined {
    var host: LuaHost?
    var price: LuaFunction?
    var failure: (any Error)?
  }
  nonisolated(unsafe) private let confined: Confined
  private let thread: LoopThread

  /// Starts the thread, and returns when the script has run.
  init(_ script: String) throws {
    nonisolated(unsafe) let confined = Confined()
    self.confined = confined
    thread = LoopThread { loop in
      // With `do throws`, the type of the error is known in a closure, too.
      do throws(LuaError) {
        let host = try LuaHost(loop: loop, libraries: [.base, .string, .table, .math])
        host.onError = { report in print("rules:", report.error.message) }
        confined.price = try host.run(script, name: "=rules", as: LuaFunction.self)
        confined.host = host
      } catch {
        print("rules (\(error.code)):", error.message)
        confined.failure = error
      }
    }
    if let failure = confined.failure { throw failure }
  }

  /// Calls the script in a turn of the loop.
  func price(of item: String, count: Int) async throws -> Double {
    try await withCheckedThrowingContinuation { continuation in
      nonisolated(unsafe) let confined = confined
      thread.inbox.post {
        continuation.resume(
          with: Result {
            guard let price = confined.price else { throw CancellationError() }
            return try price.call(item, count, as: Double.self)
          })
      }
    }
  }

  /// Closes the host on the loop's thread, and waits for the thread.
  func stop() {
    nonisolated(unsafe) let confined = confined
    thread.inbox.post {
      confined.host?.close()
      confined.host = nil
    }
    thread.stop()
  }
}

let rules = try Rules(
  """
  local prices = { tea = 4, cup = 7.5 }
  return function(item, count)
    local price = prices[item] or error("there is no " .. item, 0)
    return price * count * (count >= 10 and 0.9 or 1)
  end
  """)

// The requests of a server: tasks on any thread.
async let cups = rules.price(of: "cup", count: 2)
async let tea = rules.price(of: "tea", count: 10)
print("total:", try await cups + tea)
do {
  _ = try await rules.price(of: "milk", count: 1)
} catch let error as LuaError {
  print("refused (\(error.code)):", error.message)
}
rules.stop()
_ = try? Rules("return prices +")
