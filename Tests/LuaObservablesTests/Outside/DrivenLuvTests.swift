import Foundation
import LibC
import Lua
import LuaObservables
import Observables
import Testing

/// Q1 in a host whose loop runs inside another event loop: luv's loop runs there, too.
struct DrivenLuvTests {
  /// The requests to the driver, in order of their times.
  private final class Queue: @unchecked Sendable {
    private let condition = NSCondition()
    private var works: [(time: Date, work: @Sendable () -> Void)] = []

    func add(_ seconds: Double, _ work: @escaping @Sendable () -> Void) {
      condition.withLock {
        works.append((Date(timeIntervalSinceNow: seconds), work))
        condition.signal()
      }
    }

    /// Waits for the next request and runs it.
    func step() {
      let work = condition.withLock { () -> @Sendable () -> Void in
        while true {
          let next = works.indices.min { works[$0].time < works[$1].time }
          if let next, works[next].time <= Date() { return works.remove(at: next).work }
          if let next {
            _ = condition.wait(until: works[next].time)
          } else {
            condition.wait()
          }
        }
      }
      work()
    }
  }

  @Test func `timers, processes and their pipes call back in turns`() throws {
    let queue = Queue()
    let loop = Loop(driver: LoopDriver { seconds, work in queue.add(seconds, work) })
    let host = try LuaHost(loop: loop)
    var errors: [String] = []
    host.onError = { errors.append($0.description) }
    try host.run(
      """
      local obs, uv = require "obs", require "luv"
      state = { log = "" }
      obs.observe(state, "log", function(s) seen = s.log end)
      local pipe, process = uv.new_pipe(), nil
      process = uv.spawn("echo", { args = { "out" }, stdio = { nil, pipe } }, function()
        process:close()
        state.log = state.log .. "exit "
      end)
      pipe:read_start(function(_, text)
        if not text then return pipe:close() end
        state.log = state.log .. "output "
      end)
      local timer = uv.new_timer()
      timer:start(20, 0, function()
        timer:close()
        state.log = state.log .. "timer "
      end)
      """)
    while loop.isAlive { queue.step() }
    let words = (host["seen"] as String? ?? "").split(separator: " ").sorted()
    #expect(words == ["exit", "output", "timer"])
    #expect(errors == [])
    #expect(throws: LuaError.self) { try host.run("require('luv').run()") }
    host.close()
  }

  @Test func `its libraries stay after the host has closed, as signals may arrive`() throws {
    let host = try LuaHost(loop: Loop())
    try host.run("require 'obs' require 'luv'")
    host.close()
    #expect(dlopen("libuv.so.1", RTLD_LAZY | RTLD_NOLOAD) != nil)
  }
}
