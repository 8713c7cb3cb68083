import Lua
import LuaObservables
import Observables

/// The scripts of a server, on a separate thread with a loop.
///
/// Any task may call them: all code of the actor runs on the thread.
actor Rules {
  private let thread = LoopThread()
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  private var host: LuaHost?
  private var price: LuaFunction!

  /// Runs the script.
  init(_ script: String) async throws {
    let host = try LuaHost(libraries: [.base, .string, .table, .math])
    host.onError = { report in print("rules:", report.error.message) }
    price = try host.run(script, name: "=rules", as: LuaFunction.self)
    self.host = host
  }

  /// Calls the script in a turn of the loop.
  func price(of item: String, count: Int) throws -> Double {
    try price.call(item, count, as: Double.self)
  }

  /// Closes the host, and ends the loop after this turn.
  func stop() {
    host?.close()
    thread.stop()
  }

  // Releases the host on the thread, also if `stop` was not called.
  isolated deinit {}
}

let rules = try await Rules(
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
do {
  _ = try await Rules("return prices +")
} catch let error as LuaError {
  print("rules (\(error.code)):", error.message)
}

// A request that comes too late gets an error, too.
await rules.stop()
do {
  _ = try await rules.price(of: "cup", count: 1)
} catch let error as LuaError {
  print("stopped (\(error.code)):", error.message)
}
