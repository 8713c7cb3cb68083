import Lua
import LuaObservables
import Observables
import Testing

/// Waiting functions of scripts, awaited by the program.
@Suite(.timeLimit(.minutes(30))) @MainActor struct TaskCallTests {
  private let host: LuaHost
  private let log = Log()

  private final class Log {
    var reports: [String] = []
  }

  init() throws {
    host = try LuaHost(loop: .main)
    host.onError = { [log] in log.reports.append($0.error.message) }
    try host.run(
      """
      local obs = require "obs"
      function slow(a, b) obs.sleep(0.001) obs.next_turn(function() end) return a + b, "done" end
      function quick(...) return ... end
      function fails(text) obs.sleep(0.001) error(text, 0) end
      local guarding = { __close = function() ended = true end }
      function waits()
        local guard <close> = setmetatable({}, guarding)
        obs.sleep(1e6)
      end
      """)
  }

  private func function(_ name: String) throws -> LuaFunction {
    try #require(host[name] as LuaFunction?)
  }

  @Test func `a task returns its results when it is done`() async throws {
    let slow = try await function("slow").task(1, 2).results
    #expect(slow == [3, "done"])
    let quick = try await function("quick").task().results
    #expect(quick == [])
    let creature = Creature(name: "Ada")
    let results = try await function("quick").task(creature, 1).results
    #expect(results.count == 2 && host.object(results[0], as: Creature.self) === creature)
    #expect(log.reports == [])
  }

  @Test func `an error of a task is thrown to the program, and not reported`() async throws {
    do {
      _ = try await function("fails").task("not today").results
      Issue.record("nothing was thrown")
    } catch let error as LuaError { #expect(error.message == "not today") }
    #expect(log.reports == [])
  }

  @Test func `cancelling the program's task cancels the script's task`() async throws {
    let waits = try function("waits")
    let running = try waits.task()
    let task = Task { try await running.results }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await #expect(throws: CancellationError.self) { try await running.results }
    #expect(host["ended"] == true)
    #expect(log.reports == [])
  }

  @Test func `a host that closes ends the wait`() async throws {
    let waits = try function("waits")
    let task = try waits.task()
    host.close()
    let error = await #expect(throws: LuaError.self) { try await task.results }
    #expect(error?.code == .closed)
  }
}
