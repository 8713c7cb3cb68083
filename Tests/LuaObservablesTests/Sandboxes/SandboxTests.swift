import Lua
import LuaObservables
import Observables
import Testing

/// S5: several scripts in one state, each with its own globals, time and quotas.
struct SandboxTests {
  private let test: ContainedHost
  private let a: LuaSandbox
  private let b: LuaSandbox

  init() throws {
    test = try ContainedHost()
    (a, b) = try test.sandboxes()
  }

  @Test func `each script has its own globals, and finds the host's`() throws {
    test.host["shared"] = 1
    try a.run("x = 1 shared = 2 print = nil")
    try b.run("assert(x == nil and shared == 1 and print) _G.y = 3 assert(y == 3)")
    #expect(a["x"] == 1 && b["x"] == .nil && test.host["x"] == .nil)
    #expect(test.host["shared"] == 1)
  }

  @Test func `load uses the globals of the script that calls it`() throws {
    try a.run("load('loaded = 1')() assert(loaded == 1)")
    #expect(b["loaded"] == .nil && test.host["loaded"] == .nil)
    try a.run("local env = {} load('y = 1', 'chunk', 't', env)() assert(env.y == 1 and not y)")
  }

  @Test(arguments: [
    "string.format = nil", "rawset(string, 'x', 1)", "table.insert(string, 1)",
    "setmetatable(string, {})", "obs.observe = nil", "rawset(obs, 'observe', nil)",
    "obs.computed(string, 'x', {}, print)", "obs.lazy(obs, 'x', { get = print })",
    "obs.set(math, 'pi', 3)", "obs.clear(table)", "obs.assign(os, {})",
    "getmetatable('').__index = {}", "getmetatable(string).__index = {}",
    "getmetatable(obs.array {}).__index = {}", "getmetatable(obs.task(function() end)).x = 1",
    "obs.task(function() end).__index.await = nil",
    "getmetatable(obs.observe({}, 'x', print)).x = 1", "getmetatable(_G).__index.x = 1",
    "table.sort(string)", "table.move({ 1 }, 1, 1, 1, string)", "obs.none.x = 1",
    "setmetatable({}, { __gc = print })", "collectgarbage()", "string.dump(print)",
    "require 'io'", "require 'debug'.sethook()", "debug.getregistry()", "os.execute()",
    "obs.break_on_change({}, 'x')",
    "obs.observe({}, 'x', print):break_on_call()", "io.write('x')", "package.loaded.x = 1",
    "loadfile('x')", "dofile('x')", "os.exit()",
    "obs.model('M', { __gc = print }) {}", "local M = obs.model('M', {}) M.__gc = print M {}",
    "local M = obs.model('M', {}) rawset(M, '__gc', print) M {}",
    "local M = obs.model('M', {}) getmetatable(M {}).__gc = print M {}",
    "getmetatable(obs.history({})).__index = {}", "getmetatable(obs.history({})).x = 1",
    "obs.history({}).__index.undo = nil",
  ])
  func `shared objects cannot be changed, and nothing reaches outside`(script: String) throws {
    #expect(throws: LuaError.self) { try a.run("obs = require 'obs' \(script)") }
    try b.run(
      """
      local obs = require 'obs'
      assert(string.format('%d', 1) == '1' and string.x == nil and obs.observe and #table == 0)
      assert(math.pi > 3.1 and ('x'):rep(2) == 'xx' and os.time())
      local t, heard = { v = 1 }, 0
      obs.observe(t, 'v', function() heard = heard + 1 end)
      t.v = 2
      obs.flush()
      assert(heard == 1)
      """)
  }

  @Test func `the functions kept from the libraries work`() throws {
    try a.run(
      """
      assert(os.clock() and os.date('*t').year and os.difftime(2, 1) == 1 and os.time())
      assert(debug.traceback('x'):find 'stack traceback' and not debug.sethook)
      assert(collectgarbage 'count' > 0 and not os.execute and not string.dump)
      assert(not load('\\27Lua') and load('return 1')() == 1 and utf8.len 'ä' == 1)
      local names = {}
      for name in pairs(os) do names[#names + 1] = name end
      table.sort(names)
      assert(table.concat(names, ' ') == 'clock date difftime time')
      """)
  }

  @Test(.disabled(if: ContainedHost.delaysSignals))
  func `a callback runs at the expense of the sandbox that registered it`() throws {
    test.host["t"] = try test.host.run("return { v = 1 }")[0]
    try a.run(
      """
      obs = require 'obs'
      obs.observe(t, 'v', function() while true do end end, { immediate = true })
      obs.observe(t, 'v', function() while true do end end)
      """)
    try b.run("obs = require 'obs' obs.observe(t, 'v', function() heard = t.v end)")
    try b.run("t.v = 2 after = true")
    #expect(b["heard"] == 2 && b["after"] == true)
    // The second watcher waits for the next turn, as no time for calls by others is left.
    #expect(test.codes == [.timeLimit])
    test.loop.step()
    #expect(test.codes == [.timeLimit, .timeLimit])
    try b.run("t.v = 3")
    #expect(b["heard"] == 3)
  }

  @Test(.disabled(if: ContainedHost.delaysSignals))
  func `a task runs at the expense of its sandbox, whoever wakes it`() throws {
    try a.run("obs = require 'obs' obs.task(function() obs.sleep(1) while true do end end)")
    try b.run("obs = require 'obs' obs.after(1, function() fine = true end)")
    test.loop.advance(by: 2)
    #expect(test.codes == [.timeLimit] && b["fine"] == true)
  }

  @Test func `errors go to the sandbox that has a handler`() throws {
    var seen: [String] = []
    a.onError = { seen.append("a: \($0.error.message)") }
    try a.run("obs = require 'obs' obs.after(1, function() error('one', 0) end)")
    try b.run(
      """
      obs = require 'obs'
      obs.on_error(function(message) caught = message end)
      obs.after(1, function() error('two', 0) end)
      """)
    try test.host.run("obs = require 'obs' obs.after(1, function() error('three', 0) end)")
    test.loop.advance(by: 2)
    #expect(seen == ["a: one"])
    #expect(b["caught"] == "two")
    // The host still sees errors that a script catches.
    #expect(test.reports.map(\.error.message) == ["two", "three"])
    #expect(test.reports.map(\.isHandled) == [true, false])
  }

  @Test func `each sandbox has its own quotas`() throws {
    var limits = ScriptLimits.untrusted
    limits.watchers = 1
    let small = try test.host.sandbox(named: "small", limits: limits)
    let script = "kept = { { v = 1 }, kept } require 'obs'.observe(kept[1], 'v', print)"
    try small.run(script)
    #expect(throws: LuaError.self) { try small.run(script) }
    try a.run(script)
    try small.run("assert(require 'obs'.limits().watchers == 1)")
    #expect(throws: LuaError.self) { try a.run("require 'obs'.limits { retrigger_turns = 1 }") }
  }

  @Test func `a closed sandbox has nothing to do at the end`() throws {
    let script = "require 'obs'.on_exit(function() shared.n = shared.n + 1 end)"
    test.host["shared"] = try test.host.run("return { n = 0 }")[0]
    try a.run(script)
    try b.run(script)
    a.close()
    test.host.runExitHooks()
    #expect(try test.host.run("return shared.n") == [1])
  }

  @Test func `each sandbox has its own limits for chunk sizes and call depths`() throws {
    var limits = ScriptLimits.untrusted
    (limits.chunkSize, limits.callDepth) = (100, 4)
    let small = try test.host.sandbox(named: "small", limits: limits)
    try test.host.set("call") { (function: LuaFunction) throws -> Void in try function.call() }
    let load = "assert(load('return 1' .. (' '):rep(100)))"
    let nest = "local n = 0 local function f() n = n + 1 if n < 9 then call(f) end end f()"
    #expect(throws: LuaError.self) { try small.run(load) }
    #expect(throws: LuaError.self) { try small.run(nest) }
    try a.run(load)
    try a.run(nest)
    try a.run("require 'obs'.limits { chunk_size = 50, call_depth = 3 }")
    #expect(throws: LuaError.self) { try a.run(load) }
    try b.run(load)
    try b.run(nest)
  }

  @Test func `a file is a chunk, too`() throws {
    var limits = ScriptLimits.untrusted
    limits.chunkSize = 100
    let small = try test.host.sandbox(named: "small", limits: limits)
    let error = #expect(throws: LuaError.self) { try small.run(file: #filePath) }
    #expect(error?.code == .quota)
    test.host.modules { _ in .file(#filePath) }
    #expect(throws: LuaError.self) { try small.run("require 'x'") }
  }

  @Test func `closing a sandbox ends its watchers and timers`() throws {
    test.host["t"] = try test.host.run("return { v = 1 }")[0]
    let script = """
      obs = require 'obs'
      count = 0
      obs.observe(t, 'v', function() count = count + 1 end)
      obs.every(1, function() count = count + 1 end)
      """
    try a.run(script)
    try b.run(script)
    a.close()
    try test.host.run("t.v = 2")
    test.loop.advance(by: 1)
    #expect(b["count"] == 2 && a.isClosed)
    #expect(throws: LuaError.self) { try a.run("return 1") }
  }

  // S7
  @Test func `an interruption stops the running script but not its caller`() throws {
    let test = try ContainedHost { $0.turnTime = .seconds(100) }
    let sandbox = try test.host.sandbox(named: "a")
    try sandbox.set("interrupt") { [unowned host = test.host] () -> Void in host.interrupt() }
    try sandbox.run("function stop() interrupt() end")
    let stop: LuaFunction = try #require(sandbox["stop"])
    try test.host.set("call") { () throws -> Void in _ = try stop.call() }
    // The clock ticks while the loop runs.
    try test.host.run("ok = pcall(call) for _ = 1, 2e7 do end isDone = true")
    #expect(test.host["ok"] == false && test.host["isDone"] == true)
    #expect(test.codes.isEmpty)
  }

  @Test func `modules offered by the host are loaded once in each sandbox`() throws {
    test.host.modules { name in
      switch name {
      case "counter": .text("local n = 0 return function() n = n + 1 return n end")
      case "answer": .value(42)
      case "circle": .text("return require 'circle'")
      default: nil
      }
    }
    try a.run("local c = require 'counter' c() assert(c() == 2 and require 'counter' == c)")
    try b.run("assert(require 'counter'() == 1 and require 'answer' == 42)")
    try test.host.run("assert(require 'counter'() == 1)")
    func message(_ script: String) -> String {
      do throws(LuaError) {
        try a.run(script)
        return ""
      } catch { return error.message }
    }
    #expect(
      message("require 'nothing'")
        == "script:1: module 'nothing' not found: the host program offers no module of that name")
    #expect(
      message("require 'circle'").contains(
        "module 'circle' is required while it is being loaded"))
  }
}
