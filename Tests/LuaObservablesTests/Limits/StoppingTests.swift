import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// S1: scripts that take too long are stopped, wherever they are.
@Suite(.disabled(if: ContainedHost.delaysSignals))
struct StoppingTests {
  // Each script would run forever. If it is stopped in a callback, the error is reported.
  private static let endless = [
    "while true do end",
    "while true do pcall(function() while true do end end) end",
    "local function f() return pcall(f) or f() end while true do f() end",
    "while true do xpcall(function() while true do end end, function() while true do end end) end",
    "xpcall(error, function() while true do end end)",
    "coroutine.wrap(function() while true do end end)()",
    "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
    """
    local function nest(n)
      if n == 0 then while true do end end
      coroutine.wrap(nest)(n - 1)
    end
    nest(100)
    """,
    "while true do coroutine.wrap(function() end)() end",
    "local x <close> = setmetatable({}, { __close = function() while true do end end })",
    """
    local x <close> = setmetatable({}, { __close = function() while true do end end })
    while true do end
    """,
    """
    coroutine.wrap(function()
      local x <close> = setmetatable({}, { __close = function() while true do end end })
      while true do end
    end)()
    """,
    """
    local thread = coroutine.create(function()
      local x <close> = setmetatable({}, { __close = function() while true do end end })
      coroutine.yield()
    end)
    coroutine.resume(thread)
    coroutine.close(thread)
    """,
    """
    local thread = coroutine.create(function()
      local x <close> = setmetatable({}, { __close = function() while true do end end })
      while true do end
    end)
    while true do
      pcall(coroutine.resume, thread)
      pcall(coroutine.close, thread)
    end
    """,
    "local t = setmetatable({}, { __index = function(_, k) return k end }) while t[1] do end",
    "local t = setmetatable({}, { __index = function() while true do end end }) local _ = t.x",
    "tostring(setmetatable({}, { __tostring = function() while true do end end }))",
    "for _ in function() return 1 end do end",
    "load('while true do end')()",
    "goto loop ::loop:: goto loop",
    "local s = '' while true do s = (s .. 'x'):sub(-10) end",
    "require 'obs'.task(function() while true do end end) while true do end",
  ]

  @Test(arguments: endless)
  func `an endless script ends at the limit, and the host still works`(script: String) throws {
    let test = try ContainedHost()
    let error = test.failure(script)
    #expect(error?.code == .timeLimit, "\(String(describing: error))")
    #expect(error?.message.contains(ContainedHost.overtime) == true)
    #expect(try test.host.run("return 1 + 1") == [2])
  }

  @Test func `an error with an endless message ends a script, too`() throws {
    let test = try ContainedHost()
    let endless = "setmetatable({}, { __tostring = function() while true do end end })"
    #expect(test.failure("error(\(endless))")?.code == .runtime)
    #expect(try test.host.run("return 1 + 1") == [2])
  }

  // `%` is replaced by the endless loop, which is not in the main chunk.
  private static let callbacks = [
    "obs.observe(t, 'v', function() % end) t.v = 2",
    "obs.observe(t, 'v', function() % end, { immediate = true }) t.v = 2",
    "obs.observe(t, 'v', print, { equals = function() % end }) t.v = 2",
    "obs.observe(t, 'v', print, { equals = function() % end, immediate = true }) t.v = 2",
    "obs.computed(t, 'w', { 'v' }, function() % end) obs.observe(t, 'w', print) t.v = 2",
    "obs.computed(t, 'w', function(t) % end) obs.observe(t, 'w', print) t.v = 2",
    "obs.lazy(t, 'w', { get = function() % end }) return t.w",
    "obs.on_observed(t, function() % end) obs.observe(t, 'v', print)",
    "obs.after(0, function() % end)",
    "obs.every(1, function() % end)",
    "obs.next_turn(function() % end)",
    "obs.task(function() % end)",
    "obs.task(function() obs.sleep(1) % end)",
    "obs.batch(function() % end)",
    "obs.scope(function() % end)",
    "obs.on_error(function() % end) obs.after(0, error)",
    """
    local inner = { v = 1 }
    obs.observe(inner, 'v', print, { on_end = function() % end })
    inner = nil
    """,
    """
    obs.computed(t, 'w', function(t)
      local x <close> = setmetatable({}, { __close = function() % end })
      %
    end)
    obs.observe(t, 'w', print)
    t.v = 2
    """,
    "obs.on_exit(function() % end)",
  ]

  @Test(arguments: callbacks)
  func `an endless callback is stopped and reported once, and the next turn works`(
    body: String
  ) throws {
    let test = try ContainedHost()
    let script = body.replacing(
      "%", with: "while true do pcall(function() while true do end end) end")
    var codes: [LuaError.Code] = []
    do throws(LuaError) {
      try test.host.run("local obs = require 'obs' local t = { v = 1 } keep = t \(script)")
    } catch { codes.append(error.code) }
    try test.host.state.collectGarbage()
    test.loop.advance(by: 1)
    test.host.runExitHooks()
    #expect(Set(codes + test.codes).subtracting([.runtime]) == [.timeLimit])
    #expect(test.codes.filter { $0 == .timeLimit }.count <= 1)
    try test.host.run(
      "t, heard = {}, 0 require 'obs'.observe(t, 'z', function() heard = heard + 1 end)")
    try test.host.run("t.z = 1")
    #expect(test.host["heard"] == 1)
  }

  @Test func `the message says where, and the traceback shows the calls`() throws {
    let test = try ContainedHost()
    let error = test.failure("local function spin()\n  while true do end\nend\nspin()")
    #expect(error?.message == "script:2: \(ContainedHost.overtime)")
    #expect(error?.traceback?.contains("in local 'spin'") == true)
  }

  @Test func `the message says where, also if the engine notices it`() throws {
    let test = try ContainedHost { $0.turnTime = .milliseconds(20) }
    _ = test.failure("while true do end")
    let error = test.failure(
      """
      local obs, t = require 'obs', {}
      for i = 1, 200000 do t[i] = { v = i } end
      while true do
        obs.observe(t, '*.v', print):stop()
      end
      """)
    #expect(error?.code == .timeLimit)
    #expect(error?.message.hasPrefix("script:1:") == false)
  }

  @Test func `errors of stopped callbacks have their traceback`() throws {
    let test = try ContainedHost()
    let spin = "local function spin()\n while true do end\nend\n"
    try test.host.run("obs = require 'obs' t = { v = 1 }")
    for script in [
      "obs.observe(t, 'v', function() spin() end) t.v = (t.v or 0) + 1",
      "obs.next_turn(function() spin() end)",
      "obs.task(function() obs.sleep(1) spin() end)",
    ] {
      try test.host.run(spin + script)
      test.loop.advance(by: 2)
      let error = try #require(test.reports.last?.error)
      #expect(error.code == .timeLimit && error.message.hasPrefix("script:2:"))
      #expect(error.traceback?.contains("'spin'") == true, "\(script)")
    }
    #expect(test.codes == [.timeLimit, .timeLimit, .timeLimit])
  }

  @Test func `the limit applies to each turn separately`() throws {
    let test = try ContainedHost { $0.turnTime = .milliseconds(200) }
    let busy = "local start = os.clock() while os.clock() - start < 0.03 do end"
    for _ in 1...20 { try test.host.run(busy) }
    try test.host.run("obs = require 'obs' t = { v = 1 }")
    try test.host.run("for i = 1, 20 do obs.observe(t, 'v', function() \(busy) end) end t.v = 2")
    // Some of the calls fit into the turn; the later ones are dropped. `os.clock` is the CPU time
    // of the process, which includes other tests.
    #expect(test.codes == [.timeLimit])
  }

  @Test func `Swift code between calls does not take time of scripts`() throws {
    let test = try ContainedHost()
    var rounds = 0
    try test.host.run("obs = require 'obs' t = { v = 1 } obs.observe(t, 'v', function() end)")
    let table = try test.host.state.globals.get("t", as: LuaTable.self)
    let watcher = try test.host.observe(table, "v") { _ in
      let end = ContinuousClock.now + .milliseconds(2 * ContainedHost.turnTime)
      while ContinuousClock.now < end { rounds += 1 }
    }
    try test.host.run("t.v = 2")
    #expect(test.codes == [] && rounds > 0 && watcher.isActive)
  }

  @Test func `other hosts on the loop are not affected`() throws {
    let test = try ContainedHost()
    let other = try LuaHost(loop: test.loop)
    try other.run(
      "obs = require 'obs' t = { v = 0 } obs.observe(t, 'v', function() heard = t.v end)")
    try test.host.run("obs = require 'obs' obs.after(1, function() while true do end end)")
    try other.run("obs.after(1, function() t.v = 5 end)")
    test.loop.advance(by: 2)
    #expect(test.codes == [.timeLimit])
    #expect(other["heard"] == 5)
  }

  @Test func `a host called by a script of another host is stopped alone`() throws {
    let inner = try ContainedHost()
    let outer = try ContainedHost { $0.turnTime = .seconds(100) }
    try outer.host.set("call") { () throws -> Void in try inner.host.run("while true do end") }
    try outer.host.run("ok, message = pcall(call)")
    #expect(outer.host["ok"] == false)
    #expect(try inner.host.run("return 1") == [1])
  }

  // A stop waits for the piece of 10,000 values that is being appended.
  @Test func `an append of many values is stopped between its pieces`() throws {
    let test = try ContainedHost { $0.turnTime = .seconds(60) }
    try test.host.set("stop") { [unowned host = test.host] () -> Void in host.interrupt() }
    let error = test.failure(
      """
      local obs, values = require 'obs', {}
      for i = 1, 25000 do values[i] = i end
      array = obs.array()
      obs.observe(array, '*', stop, { immediate = true })
      array:append(table.unpack(values))
      """)
    #expect(error?.code == .interrupted)
    #expect(try test.host.run("return #array, array[10000]") == [.integer(10000), .integer(10000)])
  }

  @Test func `interrupt stops a running script from another thread`() throws {
    let test = try ContainedHost { $0.turnTime = nil }
    let interrupter = test.host.state.interrupter
    let (started, done) = (Latch(), Latch())
    try test.host.set("started") { () -> Void in started.open() }
    Thread.detachNewThread {
      started.wait()
      while !done.isOpen { interrupter.interrupt() }
    }
    let error = test.failure("started() while true do end")
    done.open()
    #expect(error?.code == .interrupted)
    #expect(error?.message == "script:1: interrupted by the program")
    #expect(try test.host.run("return 1") == [1])
  }

  @Test func `a stopped host can be paused, and continues when the program resumes it`() throws {
    let test = try ContainedHost { $0.whenStopped = .pause }
    try test.host.run(
      """
      obs = require 'obs'
      t = { v = 0 }
      heard = {}
      obs.observe(t, 'v', function(t) heard[#heard + 1] = t.v end)
      obs.every(1, function() heard[#heard + 1] = 'tick' end)
      obs.after(0.5, function() while true do end end)
      """)
    test.loop.advance(by: 3.1)
    #expect(test.codes == [.timeLimit] && test.host.isPaused)
    try test.host.run("t.v = 7")
    #expect(try test.host.run("return #heard") == [0])
    test.host.resume()
    test.loop.advance(by: 0.1)
    #expect(try test.host.run("return table.concat(heard, ' ')") == ["7 tick"])
    test.loop.advance(by: 1)
    #expect(try test.host.run("return table.concat(heard, ' ')") == ["7 tick tick"])
  }

  @Test func `a stopped host can be closed`() throws {
    let test = try ContainedHost { $0.whenStopped = .close }
    #expect(test.failure("while true do end")?.code == .timeLimit)
    #expect(test.host.isClosed && test.host.state.memoryInUse == 0)
    #expect(test.failure("return 1")?.code == .closed)
  }

  @Test func `closing does not wait for scripts`() throws {
    let test = try ContainedHost()
    try test.host.run(
      """
      local obs = require 'obs'
      local x = coroutine.wrap(function()
        local y <close> = setmetatable({}, { __close = function() while true do end end })
        coroutine.yield()
      end)
      x()
      keep = x
      obs.task(function()
        local y <close> = setmetatable({}, { __close = function() while true do end end })
        obs.sleep(10)
      end)
      """)
    test.host.close()
    #expect(test.host.isClosed)
  }

  /// C10: comparing lists takes time of the scripts.
  @Test func `comparing edits in the flush is stopped and reported`() throws {
    let test = try ContainedHost { $0.turnTime = .milliseconds(5 * ContainedHost.turnTime) }
    try test.host.run(
      """
      obs, calls, watchers = require 'obs', 0, {}
      list = obs.array {}
      for i = 1, 4096 do list:append(i) end
      """)
    try test.host.run(
      """
      for i = 1, 200 do
        watchers[i] = obs.observe_edits(list, function() calls = calls + 1 end)
        watchers[i]:pause()
      end
      """)
    for _ in 0..<100 { try test.host.run("for _ = 1, 10 do list:move(1, 4096) end") }
    #expect(test.codes.isEmpty)
    try test.host.run("for _, watcher in ipairs(watchers) do watcher:resume() end")
    #expect(test.codes == [.timeLimit])
    #expect(try test.host.run("return calls < 200")[0] == true)
  }
}
