import Lua
import LuaObservables
import Observables
import Testing

/// S3, S4: memory and quotas are errors of the script, and the host goes on.
struct QuotaTests {
  private let prologue = "local obs = require 'obs' local t = { v = 1 } local function nop() end "

  private func failure(
    _ script: String, _ change: (inout ScriptLimits) -> Void
  ) throws -> LuaError? {
    let test = try ContainedHost {
      $0.turnTime = nil
      change(&$0)
    }
    let error = test.failure(prologue + script)
    #expect(try test.host.run("return 1 + 1") == [2])
    return error
  }

  @Test(arguments: [
    ("for i = 1, 100 do obs.observe(t, 'v', nop) end", "too many watchers: a script may have 10"),
    ("for i = 1, 100 do obs.after(1, nop) end", "too many timers: a script may have 10"),
    ("for i = 1, 100 do obs.every(1, nop) end", "too many timers: a script may have 10"),
    ("for i = 1, 100 do obs.next_turn(nop) end", "too many timers: a script may have 10"),
    (
      "for i = 1, 100 do keep = { obs.task(function() obs.next_change(t, 'v') end), keep } end",
      "too many tasks: a script may have 5"
    ),
    (
      "obs.observe(t, ('a.'):rep(20) .. 'b', nop)",
      "the key path has too many components: it may have 10"
    ),
    ("obs.get(t, ('a.'):rep(20) .. 'b')", "the key path has too many components: it may have 10"),
    (
      "obs.path(('a'):byte(1), ('a b c d e f g h i j'):byte(1, -1))",
      "the key path has too many components: it may have 10"
    ),
    ("obs.get(t, ('a'):rep(1 << 20))", "the key path is too long: it may have 2560 bytes"),
    ("obs.get(t, ('a.'):rep(1 << 20))", "the key path is too long: it may have 2560 bytes"),
    ("obs.path('a', ('b'):rep(1 << 20))", "the key path is too long: it may have 2560 bytes"),
    ("assert(load(('x = 1 '):rep(1000)))", "the chunk is larger than 1000 bytes"),
    (
      "local n = 0 assert(load(function() n = n + 1 return n < 500 and 'x = 1 ' or nil end))",
      "the chunk is larger than 1000 bytes"
    ),
  ])
  func `a quota is a clear error`(script: String, text: String) throws {
    let error = try failure(script) {
      ($0.watchers, $0.timers, $0.tasks, $0.pathComponents, $0.chunkSize) = (10, 10, 5, 10, 1000)
    }
    #expect(error?.message.contains(text) == true, "\(String(describing: error))")
  }

  @Test func `a chunk of the program is limited, too`() throws {
    let error = try failure(String(repeating: "x = 1 ", count: 1000)) { $0.chunkSize = 1000 }
    #expect(error?.code == .quota)
    #expect(error?.message == "the chunk has \(prologue.utf8.count + 6000) bytes: it may have 1000")
  }

  @Test func `ended objects do not count`() throws {
    let error = try failure(
      """
      for i = 1, 100 do
        obs.observe(t, 'v', nop):stop()
        obs.after(1, nop):stop()
        obs.next_turn(nop):stop()
        obs.task(nop)
        obs.task(function() obs.sleep(1) end):cancel()
        obs.observe({ v = 1 }, 'v', nop)
        if i % 10 == 0 then collect() end
      end
      """.replacing("collect()", with: "obs.describe(t)")
    ) { ($0.watchers, $0.timers, $0.tasks) = (200, 3, 2) }
    #expect(error == nil)
  }

  @Test func `calls between script and host have a depth`() throws {
    let test = try ContainedHost { $0.callDepth = 10 }
    try test.host.run("depth = 0 function down() depth = depth + 1 call(down) end")
    try test.host.set("call") { (function: LuaFunction) throws -> Void in try function.call() }
    let error = test.failure("down()")
    #expect(error?.code == .quota)
    #expect(error?.message.contains("nested too deeply: 10 are allowed") == true)
    #expect(test.host["depth"] == 10)
  }

  @Test func `scripts lower limits, and cannot raise them`() throws {
    let test = try ContainedHost { $0.watchers = 10 }
    try test.host.run(
      """
      obs = require 'obs'
      assert(obs.limits().watchers == 10)
      assert(obs.limits({ watchers = 1000000 }).watchers == 10)
      assert(obs.limits({ watchers = 3 }).watchers == 3)
      assert(obs.limits({ watchers = 10 }).watchers == 3)
      assert(obs.limits({ immediate_depth = 1000000 }).immediate_depth == 100)
      """)
    #expect(
      test.failure("obs.limits { watcher = 3 }")?.message.contains("did you mean 'watchers'?")
        == true)
  }
}
