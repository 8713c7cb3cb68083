import Lua
import LuaObservables
import Observables
import TestSupport
import Testing

/// The kinds of scripts that load modules, each by another function `require`.
enum RequireStyle: CaseIterable {
  /// With the library `package`.
  case library
  /// A host with safe libraries.
  case safe
  case sandbox
}

/// Scripts with modules whose texts a test changes.
final class ReloadedScripts {
  let test: TestHost
  let scripts: any ScriptEnvironment
  private final class Texts { var all: [String: String] = [:] }
  private let texts = Texts()

  init(_ style: RequireStyle) throws {
    test = try TestHost { loop in
      style == .library ? try LuaHost(loop: loop) : try LuaHost(loop: loop, libraries: .safe)
    }
    test.host.modules { [texts] name in texts.all[name].map { .text($0) } }
    scripts = style == .sandbox ? try test.host.sandbox(named: "plugin") : test.host
    try scripts.run("log = {} function note(...) log[#log + 1] = table.concat({ ... }, ' ') end")
  }

  func set(_ name: String, _ text: String) {
    texts.all[name] = "local obs = require 'obs'\n" + text
  }

  /// Changes a module, and loads it again; returns the error.
  func reload(_ name: String, _ text: String) -> String? {
    set(name, text)
    do throws(LuaError) { try scripts.reload(name) } catch { return error.message }
    return nil
  }

  func run(_ code: String) throws { try scripts.run("local obs = require 'obs' " + code) }

  /// What was noted since the last call.
  func log() throws -> [String] {
    let text = try scripts.run(
      "local text = table.concat(log, '\\n') for i = #log, 1, -1 do log[i] = nil end return text"
    )[0].text
    return text.split(separator: "\n").map(String.init)
  }

  func advance(_ seconds: Double = 0) { test.loop.advance(by: seconds) }

  var reports: [String] { test.reports.map(\.error.message) }
}

struct ReloadTests {
  // H2, H4
  @Test(arguments: RequireStyle.allCases) func `old registrations end, and new ones take over`(
    style: RequireStyle
  ) throws {
    let scripts = try ReloadedScripts(style)
    func text(_ version: String) -> String {
      """
      local state = obs.state("s", { n = 0 })
      obs.observe(state, "n", function() note("watcher \(version)") end)
      obs.every(10, function() note("timer \(version)") end)
      obs.next_turn(function() note("next \(version)") end)
      obs.task(function() while true do obs.sleep(10) note("task \(version)") end end)
      obs.bind(obs.state "copy", state, "n")
      obs.on_observed(state, function() note("hook \(version)") end)
      """
    }
    scripts.set("m", text("1"))
    try scripts.run("require 'm' state = obs.state 's'")
    scripts.advance(10)
    #expect(try scripts.log().sorted() == ["next 1", "task 1", "timer 1"])
    #expect(scripts.reload("m", text("2")) == nil)
    try scripts.run("state.n = 1 obs.observe(state, 'other', function() end)")
    scripts.advance(10)
    #expect(
      try scripts.log().sorted() == ["hook 2", "next 2", "task 2", "timer 2", "watcher 2"])
    #expect(scripts.reload("m", "") == nil)
    try scripts.run("state.n = 2 obs.observe(state, 'another', function() end)")
    scripts.advance(100)
    #expect(try scripts.log() == [])
    #expect(try scripts.scripts.run("return obs.state 'copy'.n".withObs)[0] == .integer(1))
    #expect(scripts.reports == [])
  }

  // H2
  @Test(arguments: RequireStyle.allCases) func `what callbacks register ends, too`(
    style: RequireStyle
  ) throws {
    let scripts = try ReloadedScripts(style)
    scripts.set(
      "m",
      """
      local state = obs.state("s", { n = 0, k = 0 })
      obs.observe(state, "n", function()
        obs.observe(state, "k", function() note "inner watcher" end)
        obs.after(1, function() obs.every(1, function() note "inner timer" end) end)
        obs.task(function() obs.next_change(state, "k") obs.sleep(5) note "inner task" end)
      end)
      """)
    try scripts.run("require 'm' state = obs.state 's' state.n = 1")
    scripts.advance(2)
    #expect(try scripts.log() == ["inner timer"])
    try scripts.run("state.k = 1")
    scripts.advance(0)
    _ = try scripts.log()
    #expect(scripts.reload("m", "") == nil)
    try scripts.run("state.k, state.n = 2, 2")
    scripts.advance(20)
    #expect(try scripts.log() == [])
    #expect(try scripts.scripts.run("return obs.stats().watchers".withObs)[0] == .integer(0))
  }

  // H2
  @Test func `functions of other code stay, whoever calls the module`() throws {
    let scripts = try ReloadedScripts(.library)
    scripts.set("m", "return { watch = function(t, f) return obs.observe(t, 'n', f) end }")
    try scripts.run("t = { n = 0 } require 'm'.watch(t, function() note 'outside' end)")
    #expect(scripts.reload("m", "return { watch = function() end }") == nil)
    try scripts.run("t.n = 1")
    #expect(try scripts.log() == ["outside"])
  }

  // H2
  @Test(arguments: RequireStyle.allCases) func `a pending call goes to its heir, or is dropped`(
    style: RequireStyle
  ) throws {
    let scripts = try ReloadedScripts(style)
    func text(_ version: Int, _ name: String) -> String {
      """
      local state = obs.state("s", { n = 0 })
      obs.record(true)
      watcher = obs.observe(state, "n", function() note("\(version)") end, { name = "\(name)" })
      """
    }
    scripts.set("m", text(1, "w"))
    try scripts.run("require 'm'")
    scripts.set("m", text(2, "w"))
    try scripts.run("obs.state 's'.n = 1 assert(obs.reload 'm')")
    #expect(try scripts.log() == ["2"])
    scripts.set("m", text(3, "other"))
    try scripts.run(
      """
      obs.state 's'.n = 2
      local old = watcher
      assert(obs.reload 'm')
      note(select(2, obs.whynot(old)))
      """)
    #expect(try scripts.log() == ["w: it was stopped at the reload of 'm', with a pending call"])
  }

  // H2
  @Test func `hooks for errors, events and the end belong to the module that has set them`() throws
  {
    let scripts = try ReloadedScripts(.library)
    let text = """
      obs.on_error(function(e) note("handled") end)
      obs.on_exit(function() note "exit" end)
      obs.log(function() logged = (logged or 0) + 1 end)
      """
    scripts.set("m", text)
    try scripts.run("require 'm' obs.after(1, function() error 'oh' end)")
    scripts.advance(1)
    #expect(try scripts.log() == ["handled"])
    #expect(scripts.reload("m", "error 'no'")?.hasSuffix("no") == true)
    try scripts.run("obs.after(1, function() error 'oh' end)")
    scripts.advance(1)
    #expect(try scripts.log() == ["handled"])
    #expect(scripts.reload("m", "") == nil)
    try scripts.run(
      "logged = 0 obs.after(1, function() error 'oh' end) obs.observe({}, 'k', print)")
    scripts.advance(1)
    scripts.test.host.runExitHooks()
    #expect(try scripts.log() == [])
    #expect(try scripts.scripts.run("return logged")[0] == .integer(0))
    #expect(scripts.reports.count == 1)
  }

  // H1
  @Test(
    arguments: RequireStyle.allCases,
    [
      ("x = =", "unexpected symbol"), ("error 'at load'", "at load"),
      ("error({})", "table"), ("", "returned a table before, and returns nothing now"),
      ("return 1", "returned a table before, and returns a number now"),
      ("local M = {} obs.observe(M, 'n', print) return M", "observes its own table"),
      (
        "local M = { t = {} } obs.observe(M.t, 'n', print) return M", "observes its own table 't'"
      ),
      ("local M = {} obs.computed(M, 'n', print) return M", "declares 'n' on its own table"),
    ])
  func `a module that fails changes nothing`(
    style: RequireStyle, failing: (text: String, message: String)
  ) throws {
    let scripts = try ReloadedScripts(style)
    let text = """
      local state = obs.state("s", { n = 1, list = { 1, 2 } })
      Point = obs.model("Point", { x = 1, double = obs.computed({ "x" }, function(self)
        return 2 * self.x
      end), name = function() return "old" end })
      kept = "old"
      obs.computed(state, "twice", { "n" }, function(self) return 2 * self.n end)
      obs.observe(state, "twice", function(state) note("twice", state.twice) end)
      obs.every(1, function() note "timer" end)
      obs.on_observed(state, function() note("old hook") end)
      return { version = 1, t = {}, f = function() return "old" end }
      """
    scripts.set("m", text)
    try scripts.run("module = require 'm' state = obs.state 's' p = Point { x = 3 } p2 = p.double")
    let changes = """
      local state = obs.state("s", { n = 5, extra = 1 })
      obs.state("fresh", {})
      state.n, state.added, state.list = 7, true, {}
      kept, other = "new", "new"
      obs.model("Point", { x = 9, y = 1, double = obs.computed({ "x" }, function(self)
        return -self.x
      end), name = function() return "new" end })
      obs.computed(state, "twice", { "n" }, function(self) return -self.n end)
      obs.computed(state, "thrice", { "n" }, function(self) return 3 * self.n end)
      obs.observe(state, "n", function() note "new watcher" end)
      obs.on_observed(state, function() note("new hook") end)
      obs.every(1, function() note "new timer" end)
      obs.task(function() obs.sleep(1) note "new task" end)
      """
    let message = scripts.reload("m", changes + "\n" + failing.text)
    #expect(message?.contains(failing.message) == true, "\(message ?? "no error")")
    _ = try scripts.log()
    scripts.advance(1)
    #expect(try scripts.log() == ["timer"])
    try scripts.run(
      """
      assert(state.n == 1 and state.extra == nil and state.added == nil and #state.list == 2)
      assert(kept == "old" and other == nil and module == require "m" and module.f() == "old")
      assert(p.double == 6 and p:name() == "old" and Point {}.x == 1 and Point {}.double == 2)
      assert(not pcall(Point, { y = 1 }))
      assert(state.twice == 2 and state.thrice == nil)
      state.n = 10
      """)
    #expect(try scripts.log() == ["twice 20"])
    try scripts.run("obs.observe(state, 'k', function() end):stop()")
    #expect(try scripts.log() == ["old hook", "old hook"])
    #expect(try scripts.scripts.run("return obs.stats().watchers".withObs)[0] == .integer(1))
    #expect(scripts.reports == [])
    #expect(scripts.reload("m", text) == nil)
    scripts.advance(1)
    #expect(try scripts.log() == ["timer"])
  }

  // H3
  @Test(arguments: RequireStyle.allCases) func `tables keep their identity`(style: RequireStyle)
    throws
  {
    let scripts = try ReloadedScripts(style)
    scripts.set(
      "m",
      """
      local M = { limit = 1, prices = { tea = 1, cake = 2 }, levels = { 1, 2, 3 } }
      M.Enemy = { hp = 1 }
      M.Enemy.__index = M.Enemy
      function M.Enemy.cry() return "old" end
      function M.get() return M end
      function M.gone() end
      return M
      """)
    try scripts.run(
      """
      m = require 'm'
      prices, Enemy, levels = m.prices, m.Enemy, m.levels
      enemy = setmetatable({}, Enemy)
      m.window = "kept" m.prices.milk = 3
      """)
    let error = scripts.reload(
      "m",
      """
      local M = { limit = 2, prices = { tea = 5, bread = 4 }, levels = { 4 } }
      M.Enemy = { hp = 7 }
      M.Enemy.__index = M.Enemy
      function M.Enemy.cry() return "new", M end
      function M.get() return M end
      local function helper() return M end
      M.through = function() return helper() end
      M.call = setmetatable({}, { __call = function() return M end })
      return M
      """)
    #expect(error == nil)
    try scripts.run(
      """
      assert(m == require 'm' and m.get() == m and m.through() == m and m.limit == 2)
      assert(m.gone == nil and m.window == "kept")
      assert(m.prices == prices and prices.tea == 5 and prices.milk == 3 and prices.bread == 4)
      assert(m.levels == levels and #levels == 1 and levels[1] == 4)
      assert(m.Enemy == Enemy and Enemy.__index == Enemy and enemy.hp == 7)
      local cry, module = enemy.cry()
      assert(cry == "new" and module == m)
      """)
    #expect(scripts.reports == [])
  }

  // H3
  @Test func `callbacks refer to the module's table, too`() throws {
    let scripts = try ReloadedScripts(.library)
    func text(_ key: String) -> String {
      """
      local M = { n = 0 }
      local state = obs.state("s", { n = 0 })
      local function bump() M.n = M.n + 1 M.\(key) = (M.\(key) or 0) + 1 end
      obs.observe(state, "n", function() bump() end)
      obs.after(1, function() bump() end)
      obs.next_turn(bump)
      obs.task(function() obs.sleep(1) bump() end)
      obs.computed(state, "c", { "n" }, function() bump() end)
      obs.on_exit(bump)
      obs.model("X", { y = obs.computed({ "x" }, function() bump() end), x = 1, z = bump })
      return M
      """
    }
    scripts.set("m", text("a"))
    try scripts.run("m = require 'm'")
    #expect(scripts.reload("m", text("b")) == nil)
    try scripts.run("obs.state 's'.n = 1 local _ = obs.state 's'.c")
    scripts.advance(2)
    scripts.test.host.runExitHooks()
    try scripts.run("assert(m.n == 6 and m.b == 6 and m.a == nil, m.n)")
  }

  // H3
  @Test(arguments: RequireStyle.allCases) func `models change for their instances`(
    style: RequireStyle
  ) throws {
    let scripts = try ReloadedScripts(style)
    scripts.set(
      "m",
      """
      local Item = obs.model("Item", { price = 1, count = 2,
        total = obs.computed({ "price", "count" }, function(self)
          return self.price * self.count
        end), name = function() return "old" end })
      local Tax = obs.model("Taxed", Item, { rate = 1 })
      function Tax:name2() return "old child" end
      return { Item = Item, Tax = Tax }
      """)
    try scripts.run(
      """
      m = require 'm' Item, Tax = m.Item, m.Tax
      function Item:added() return "by others" end
      item, unread, child = Item { price = 5 }, Item {}, Tax { price = 2 }
      obs.observe(item, "total", function(item) note("total", item.total) end)
      obs.observe(child, "total", function(child) note("child", child.total) end)
      """)
    let text = """
      local Item = obs.model("Item", { price = 3, count = 2, colour = "red",
        total = obs.computed({ "price", "count" }, function(self)
          return self.price * self.count + 1
        end), name = function() return "new" end })
      Item.__tostring = function() return "an item" end
      local Tax = obs.model("Taxed", Item, { rate = 2 })
      function Tax:name2() return "new child" end
      return { Item = Item, Tax = Tax }
      """
    #expect(scripts.reload("m", text) == nil)
    scripts.advance()
    #expect(try scripts.log() == ["total 11", "child 5"])
    try scripts.run(
      """
      assert(m.Item == Item and m.Tax == Tax and item:added() == "by others")
      assert(item.price == 5 and item:name() == "new" and tostring(item) == "an item")
      assert(unread.price == 1 and unread.total == 3)
      assert(Item {}.price == 3 and Item {}.colour == "red" and Item {}.total == 7)
      assert(child:name() == "new" and child:name2() == "new child" and Tax {}.rate == 2)
      item.price = 6
      """)
    #expect(try scripts.log() == ["total 13"])
    #expect(scripts.reports == [])
  }

  // H4
  @Test(arguments: RequireStyle.allCases) func `watchers of others hear a new getter once`(
    style: RequireStyle
  ) throws {
    let scripts = try ReloadedScripts(style)
    func text(_ factor: Int) -> String {
      """
      local state = obs.state("s", { n = 2 })
      obs.computed(state, "value", { "n" }, function(self) return self.n * \(factor) end)
      """
    }
    scripts.set("m", text(2))
    scripts.set(
      "other",
      "require 'm' obs.observe(obs.state 's', 'value', function(s) note(tostring(s.value)) end)")
    try scripts.run("require 'other'")
    #expect(scripts.reload("m", text(3)) == nil)
    #expect(try scripts.log() == ["6"])
    #expect(scripts.reload("m", text(3)) == nil)
    #expect(try scripts.log() == [])
    #expect(scripts.reload("m", "") == nil)
    #expect(try scripts.log() == ["nil"])
    #expect(try scripts.scripts.run("return obs.state 's'.value".withObs)[0] == .nil)
  }

  @Test func `the old code has the last word`() throws {
    let scripts = try ReloadedScripts(.library)
    scripts.set(
      "m",
      """
      local M = { name = "first" }
      obs.on_reload(function(old) note("bye", old.name, tostring(old == M)) error "oh" end)
      return M
      """)
    try scripts.run("require 'm'")
    #expect(scripts.reload("m", "error 'no'") != nil)
    #expect(try scripts.log() == [])
    #expect(scripts.reload("m", "return { name = 'second' }") == nil)
    #expect(try scripts.log() == ["bye first true"])
    #expect(scripts.reports.count == 1)
    #expect(scripts.reload("m", "return { name = 'third' }") == nil)
    #expect(try scripts.log() == [])
    // Other code is never loaded again.
    try scripts.run("obs.on_reload(function() note 'never' end)")
  }

  @Test(arguments: [
    ("obs.reload()", "bad argument #1 to 'reload' (name expected, got no value)"),
    ("obs.reload('')", "bad argument #1 to 'reload' (name expected, got an empty one)"),
    (
      "error(select(2, obs.transaction({ {} }, function() obs.reload 'm' end)), 0)",
      "inside a transaction"
    ),
    (
      "local t = {} obs.computed(t, 'k', function() obs.reload 'm' end) obs.force(t)",
      "inside a getter"
    ),
    ("error(select(2, obs.reload 'mm'), 0)", "was not required as Lua code (did you mean 'm'?)"),
    ("error(select(2, obs.reload 'string'), 0)", "the module 'string' was not required"),
    ("obs.state()", "bad argument #1 to 'state' (name expected, got no value)"),
    ("obs.state('s', 1)", "bad argument #2 to 'state' (table expected, got number)"),
    ("obs.on_reload(1)", "bad argument #1 to 'on_reload' (function expected, got number)"),
  ])
  func `misuse is an error`(code: String, message: String) throws {
    let scripts = try ReloadedScripts(.library)
    scripts.set("m", "")
    try scripts.run("require 'm'")
    let text = scripts.test.message("local obs = require 'obs' " + code)
    let all = ([text] + scripts.reports).joined(separator: "\n")
    #expect(all.contains(message), "\(all)")
  }

  @Test func `circles, and a reload by the module itself`() throws {
    let scripts = try ReloadedScripts(.library)
    scripts.set("a", "local A = {} package.loaded.a = A A.b = require 'b' return A")
    scripts.set("b", "return { a = require 'a' }")
    try scripts.run("a = require 'a'")
    #expect(scripts.reload("a", "local A = { v = 2 } A.b = require 'b' return A") == nil)
    try scripts.run("assert(a.v == 2 and a.b.a == a)")
    scripts.set("m", "note(tostring(select(2, obs.reload 'm')))")
    try scripts.run("require 'm'")
    #expect(try scripts.log() == ["the module 'm' is being loaded"])
    #expect(scripts.reload("m", "note(tostring(select(2, obs.reload 'm')))") == nil)
    #expect(
      try scripts.log() == ["the module 'm' cannot be loaded again inside another reload"])

    for (kind, start) in [
      ("watcher", "obs.observe(obs.state('t', { n = 0 }), 'n', reload) obs.state 't'.n = N"),
      ("timer", "obs.after(1, reload)"), ("task", "obs.task(function() obs.sleep(1) reload() end)"),
    ] {
      let scripts = try ReloadedScripts(.library)
      scripts.set(
        "m",
        """
        local function reload()
          set_text()
          assert(obs.reload 'm')
          note "goes on"
          note((select(2, pcall(obs.after, 1, function() note "no" end))))
          assert(not pcall(obs.task, function() note "no" end))
          assert(not pcall(obs.on_exit, function() note "no" end))
          assert(not pcall(obs.computed, obs.state "t", "c", function() end))
          if coroutine.isyieldable() then obs.sleep(1) note "no" end
        end
        N = (N or 0) + 1
        \(start)
        """)
      try scripts.test.host.set(
        "set_text", to: scripts.test.host.state.function("set_text") { scripts.set("m", "") })
      try scripts.run("require 'm'")
      scripts.advance(10)
      let log = try scripts.log()
      #expect(log.count == 2 && log[0] == "goes on" && log[1].contains("replaced"), "\(log)")
      #expect(scripts.reports == [], "\(kind)")
    }
  }

  // H2
  @Test func `a value can take the place of a lazy property`() throws {
    let scripts = try ReloadedScripts(.library)
    scripts.set(
      "m",
      """
      local M = {}
      obs.lazy(M, "x", { get = function() return 1 end, readonly = true })
      obs.computed(M, "y", function() return 1 end)
      return M
      """)
    try scripts.run("m = require 'm' assert(m.x == 1 and m.y == 1)")
    #expect(scripts.reload("m", "return { x = 5, y = 6 }") == nil)
    try scripts.run("assert(m.x == 5 and m.y == 6)")
  }

  // H3
  @Test(arguments: RequireStyle.allCases) func `tables of other code stay as they are`(
    style: RequireStyle
  ) throws {
    let scripts = try ReloadedScripts(style)
    scripts.set("cfg", "return { v = 0, f = function() end }")
    scripts.set(
      "m",
      """
      local cls = require "cfg"
      return setmetatable(
        { str = string, cfg = cls, data = {}, state = obs.state("one", { k = 1 }) }, cls)
      """)
    try scripts.run("m, cfg = require 'm', require 'cfg' one = obs.state 'one'")
    let error = scripts.reload(
      "m",
      """
      local two = obs.state("two", { k = 2 })
      obs.observe(two, "k", function() end)
      local t = {}
      return setmetatable({ str = { mine = print }, cfg = { v = 2 }, data = two, state = two,
        late = require "cfg", a = t, b = t }, { __index = { inherited = 1 } })
      """)
    #expect(error == nil)
    try scripts.run(
      """
      assert(string.upper and string.mine == nil and cfg.v == 0 and cfg.f and cfg.__index == nil)
      assert(m.data == obs.state "two" and m.state == m.data and m.late == cfg)
      assert(one.k == 1 and m.inherited == 1)
      """)
    #expect(scripts.reload("m", "return { a = { v = 1 }, b = { v = 2 } }") == nil)
    try scripts.run("assert(m.a ~= m.b and m.a.v == 1 and m.b.v == 2)")
  }

  // H3
  @Test(arguments: RequireStyle.allCases)
  func `whatever the chunk makes refers to tables that stay`(
    style: RequireStyle
  ) throws {
    let scripts = try ReloadedScripts(style)
    let text = """
      local M = { count = 0 }
      local handlers = {}
      handlers.hit = function() M.count = M.count + 1 end
      function M.fire(n) handlers[n]() end
      M.list = { { up = M } }
      M.sub = { up = M, f = function() return M end }
      obs.state("registry", {}).module = M
      Class = { __index = {} }
      M.Class = Class
      local instance = setmetatable({}, Class)
      function M.instance() return instance end
      Game = M
      return M
      """
    scripts.set("m", "return { Class = {} }")
    try scripts.run("m = require 'm' Class0 = m.Class")
    #expect(scripts.reload("m", text) == nil)
    try scripts.run(
      """
      m.fire "hit" m.fire "hit"
      assert(m.count == 2 and Game == m and obs.state "registry".module == m)
      assert(m.list[1].up == m and m.sub.up == m and m.sub.f() == m)
      assert(m.Class == Class0 and Class == Class0 and getmetatable(m.instance()) == Class0)
      """)
  }

  // H1, H3
  @Test(
    arguments: RequireStyle.allCases,
    [
      ("return { f = 1 }", "return require 'other'"),
      ("return require 'other'", "return { f = 1 }"),
      ("return { f = 1 }", "return string"), ("return string", "return { f = 1 }"),
      ("return { f = 1 }", "return _G"), ("return _G", "return { f = 1 }"),
      ("return { f = 1 }", "return obs.state 's'"), ("return obs.state 's'", "return { f = 1 }"),
      ("return require 'other'", "return require 'another'"),
    ] as [(String, String)])
  func `the table of other code neither replaces a module's table nor is replaced by it`(
    style: RequireStyle, change: (before: String, after: String)
  ) throws {
    let scripts = try ReloadedScripts(style)
    scripts.set("other", "return { g = function() return 1 end }")
    scripts.set("another", "return { g = function() return 2 end }")
    scripts.set("m", change.before)
    try scripts.run(
      """
      obs.state('s', { n = 1 })
      other, another, m = require 'other', require 'another', require 'm'
      """)
    let message = """
      the module 'm' returned another table before, and one of the two belongs to another module, \
      to a library, or to obs.state
      """
    #expect(scripts.reload("m", change.after) == message)
    try scripts.run(
      """
      assert(rawget(other, 'g')() == 1 and rawget(another, 'g')() == 2)
      assert(rawget(obs.state 's', 'n') == 1 and rawget(string, 'gsub') and rawget(_G, 'print'))
      assert(rawequal(require 'm', m))
      """)
    // The same table again is no change.
    #expect(scripts.reload("m", "return m") == nil)
  }

  // H3
  @Test(
    arguments: RequireStyle.allCases,
    [
      // What the search finds has the module's table itself.
      ("GM = M", "GM", true), ("GT = { x = { m = M } }", "GT.x.m", true),
      ("function GF() M.v = 3 return M end", "GF()", true),
      ("GT = { f = function() return M end }", "GT.f()", true),
      ("function M.f() return M end function GF() return M.f() end", "GF()", true),
      ("local function h() return M end GF = h", "GF()", true),
      ("obs.state('zz').f = function() return M end", "obs.state'zz'.f()", true),
      ("obs.state('zz').t = { M }", "obs.state'zz'.t[1]", true),
      ("obs.state('new', { t = { M } })", "obs.state'new'.t[1]", true),
      ("GT = setmetatable({}, { __index = M })", "getmetatable(GT).__index", true),
      ("GT = setmetatable({}, { __call = function() return M end })", "GT()", true),
      // Other tables stand for it.
      ("W.f = function() return M end", "W.f()", false), ("W.t = { M }", "W.t[1]", false),
      ("other.add(function() return M end)", "other.list[1]()", false),
      ("GC = coroutine.wrap(function() while true do coroutine.yield(M) end end)", "GC()", false),
      ("GC = wrap(function(m) while true do coroutine.yield(m) end end, M)", "GC()", false),
    ] as [(String, String, Bool)])
  func `wherever the chunk leaves its table, it leads to the one that stays`(
    style: RequireStyle, change: (code: String, value: String, isFound: Bool)
  ) throws {
    let scripts = try ReloadedScripts(style)
    try scripts.run(
      """
      W, other = {}, { list = {} }
      function other.add(f) other.list[1] = f end
      function wrap(f, ...) local w = coroutine.wrap(f) w(...) return w end
      obs.state "zz"
      """)
    scripts.set("m", "return { v = 1, sub = { n = 1 } }")
    try scripts.run("m = require 'm' sub = m.sub")
    let text = "local M = { v = 2, sub = { n = 2 } } \(change.code) return M"
    #expect(scripts.reload("m", text) == nil)
    try scripts.run(
      """
      local found = \(change.value)
      assert(found == m and not (found ~= m) and found.sub == sub and sub.n == 2)
      found.w, m.x = 5, 6
      assert(m.w == 5 and found.x == 6)
      local keys = 0
      for _ in pairs(found) do keys = keys + 1 end
      assert(keys >= 4, keys)
      assert(rawequal(found, m) == \(change.isFound))
      """)
  }

  // H3
  @Test(arguments: Size.seeds(40, light: 10)) func `random chunks leave no second module`(seed: Int)
    throws
  {
    let scripts = try ReloadedScripts(.library)
    // Each place keeps a way to the module's table, and what an earlier chunk has left there.
    try scripts.run(
      """
      random, version, ways = {}, 0, {}
      math.randomseed(\(seed))
      keeper = { list = {} }
      local places = {
        function(M, n) _G["G" .. n] = M ways[#ways + 1] = function() return _G["G" .. n] end end,
        function(M, n)
          _G["F" .. n] = function() return M end
          ways[#ways + 1] = function() return _G["F" .. n]() end
        end,
        function(M, n)
          local t = { below = { M } }
          _G["T" .. n] = t
          ways[#ways + 1] = function() return _G["T" .. n].below[1] end
        end,
        function(M, n)
          obs.state("s" .. n).f = function() return M.self() end
          ways[#ways + 1] = function() return obs.state("s" .. n).f() end
        end,
        function(M, n)
          package.loaded["p" .. n] = { m = M }
          ways[#ways + 1] = function() return package.loaded["p" .. n].m end
        end,
        function(M, n)
          local thread = coroutine.wrap(function() while true do coroutine.yield(M) end end)
          keeper.list[n] = thread
          ways[#ways + 1] = thread
        end,
        function(M, n)
          keeper[n] = setmetatable({}, { __index = M, __call = function() return M end })
          ways[#ways + 1] = function() return keeper[n]() end
        end,
      }
      function chunk(M)
        version = version + 1
        M.version, M.fresh = version, { n = version }
        for _ = 1, math.random(1, 4) do places[math.random(#places)](M, math.random(3)) end
      end
      """)
    scripts.set("m", "local M = {} function M.self() return M end chunk(M) return M")
    try scripts.run("m = require 'm' fresh = m.fresh")
    for _ in 1...6 {
      let message = scripts.reload(
        "m", "local M = {} function M.self() return M end chunk(M) return M")
      #expect(message == nil)
      try scripts.run(
        """
        for i, way in ipairs(ways) do
          local found = way()
          assert(found == m and found.version == version and found.fresh == fresh, i)
          found.written = i
          assert(m.written == i and m.fresh.n == version)
        end
        """)
    }
    #expect(scripts.reports == [])
  }

  // H3
  @Test func `objects whose metatable was not found keep their methods`() throws {
    let scripts = try ReloadedScripts(.library)
    func text(_ version: Int) -> String {
      """
      local Enemy = { hp = \(version) }
      Enemy.__index = Enemy
      Enemy.__tostring = function() return "enemy \(version)" end
      function Enemy.cry() return \(version) end
      if add then add(setmetatable({}, Enemy)) end
      return Enemy
      """
    }
    scripts.set("m", text(1))
    try scripts.run("m = require 'm' list = {} function add(e) list[#list + 1] = e end")
    for version in 2...4 {
      #expect(scripts.reload("m", text(version)) == nil)
      try scripts.run(
        """
        for _, enemy in ipairs(list) do
          assert(enemy.cry() == \(version) and enemy.hp == \(version))
        end
        assert(#list == \(version - 1) and tostring(list[#list]) == "enemy \(version)")
        """)
    }
  }

  // H1
  @Test func `modules of other searchers are loaded by them again`() throws {
    let scripts = try ReloadedScripts(.library)
    try scripts.run(
      """
      text, loads = "v 1", 0
      table.insert(package.searchers, 2, function(name)
        if name ~= "virtual" then return "no text" end
        if text == "?" then error("cannot compile virtual:3", 0) end
        return function(...)
          local first, second, count = ..., select(2, ...), select("#", ...)
          assert(first == "virtual" and second.place == 1 and count == 2)
          loads = loads + 1
          return { text = text }
        end, { place = 1 }
      end)
      package.preload.pre = function(...) return { text = text, arguments = { ... } } end
      virtual, pre = require "virtual", require "pre"
      text = "v 2"
      assert(obs.reload "virtual" and obs.reload "pre")
      assert(virtual.text == "v 2" and pre.text == "v 2" and loads == 2)
      assert(virtual == require "virtual" and pre.arguments[2] == ":preload:")
      text = "?"
      local ok, message = obs.reload "virtual"
      assert(ok == nil and message == "cannot compile virtual:3", message)
      assert(virtual.text == "v 2")
      table.remove(package.searchers, 2)
      ok, message = obs.reload "virtual"
      assert(ok == nil and message:find "module 'virtual' not found", message)
      """)
  }

  // H1
  @Test(arguments: RequireStyle.allCases) func `a failing chunk leaves nothing half done`(
    style: RequireStyle
  ) throws {
    let scripts = try ReloadedScripts(style)
    scripts.set("a", "")
    scripts.set("b", "return { v = 1 }")
    scripts.set(
      "c",
      """
      LIB = { v = 1 }
      return { st = obs.state('c', { n = 1 }), lib = function() return LIB.v end }
      """
    )
    try scripts.run("require 'a' b = require 'b' obs.state('s', { n = 1 })")
    #expect(scripts.reload("a", "require 'c' error 'typo'")?.hasSuffix("typo") == true)
    #expect(scripts.reload("c", "")?.contains("was not required") == true)
    scripts.set(
      "c",
      """
      LIB = { v = 1 }
      return { st = obs.state('c', { n = 1 }), lib = function() return LIB.v end }
      """)
    #expect(scripts.reload("a", "return { c = require 'c' }") == nil)
    try scripts.run("assert(require 'c'.lib() == 1 and require 'c'.st == obs.state 'c')")
    scripts.set("b", "return { v = 2 }")
    let nested = "note(select(2, obs.reload 'b')) error 'no'"
    #expect(scripts.reload("a", "return {} ") == nil)
    #expect(scripts.reload("a", nested)?.hasSuffix("no") == true)
    #expect(try scripts.log() == ["the module 'b' cannot be loaded again inside another reload"])
    try scripts.run("assert(b.v == 1)")

    scripts.set(
      "l",
      """
      local s = obs.state "s"
      made = 0
      obs.lazy(s, "assigned", function() return "loaded" end)
      obs.lazy(s, "object", { loader = function() made = made + 1 return {} end })
      """)
    try scripts.run(
      "require 'l' s = obs.state 's' s.assigned = 'by hand' object = s.object t = { n = 5 }")
    let failing = """
      local s = obs.state "s"
      for _ = 1, 2 do obs.computed(s, "x", { "n" }, function() return "failed" end) end
      obs.computed(t, "n", function() return 1 end)
      obs.lazy(s, "assigned", function() return "new" end)
      obs.lazy(s, "object", { loader = function() return "new" end })
      error "no"
      """
    #expect(scripts.reload("l", failing) != nil)
    try scripts.run(
      """
      assert(s.x == nil and t.n == 5 and s.assigned == 'by hand' and s.object == object)
      """
    )
    // Observed or not, the globals are the same again.
    for isObserved in [false, true] {
      let watch = isObserved && style != .sandbox ? "obs.observe(_G, '*', function() end)" : ""
      try scripts.run("\(watch) one, two, three, many = 1, 2.0, nil, {}")
      let changes = """
        one, two, three, many[1] = nil, 2, 3, 1
        for i = 1, 1000 do _G["g" .. i], _G[i] = i, i end
        error "no"
        """
      #expect(scripts.reload("a", changes)?.hasSuffix("no") == true)
      try scripts.run(
        """
        assert(one == 1 and two == 2 and three == nil and many[1] == 1)
        for i = 1, 1000 do assert(_G["g" .. i] == nil and _G[i] == nil) end
        """)
    }
    if style != .sandbox {
      try scripts.run("setmetatable(_G, { __newindex = error })")
      #expect(
        scripts.reload("a", "rawset(_G, 'zz', 1) b = nil error 'no'")?.hasSuffix("no") == true)
      try scripts.run("setmetatable(_G, nil) assert(rawget(_G, 'zz') == nil and b.v == 1)")
    }
    #expect(scripts.reports == [])
  }

  // H4, S5
  @Test(arguments: ["error 'no'", "", "require 'missing'"])
  func `what another sandbox does during a reload is not part of it`(end: String) throws {
    let scripts = try ReloadedScripts(.sandbox)
    let other = try scripts.test.host.sandbox(named: "other")
    try scripts.test.host.run("shared = { v = 1 }")
    try other.run(
      """
      obs = require 'obs'
      own, hooked = {}, ''
      obs.observe(shared, 'v', function()
        obs.state('s', {}).n = 1
        M = obs.model('M', { a = 1 })
        obs.lazy(own, 'x', { create = function() return 1 end })
        watcher = obs.observe(own, 'y', function() called = true end)
        obs.on_observed(shared, function(_, key) hooked = hooked .. 'other ' end)
      end, { immediate = true })
      """)
    let hook = "obs.on_observed(shared, function() note 'hook' end)"
    scripts.set("m", hook)
    try scripts.run("require 'm'")
    let isWrong = scripts.reload("m", "shared.v = 2 \(end)") != nil
    #expect(isWrong == !end.isEmpty)
    // Nothing of the other sandbox ends with this loading, either.
    _ = scripts.reload("m", "")
    try other.run(
      """
      assert(obs.state('s', { n = 2 }).n == 1 and own.x == 1 and watcher.active)
      own.y = 1
      local t = {}
      obs.apply(t, { { path = { 'm' }, kind = 'set', new = { a = 2 }, model = 'M' } })
      assert(getmetatable(t.m) == M)
      obs.observe(shared, 'w', print)
      """)
    #expect(other["called"] == true)
    #expect(other["hooked"] == "other ")
    #expect(try scripts.log().isEmpty)
    #expect(scripts.reports.isEmpty)
  }

  // H1, S1: what cannot be stopped is bounded.
  @Test(arguments: [nil, Duration.seconds(60)])
  func `a large module is loaded again unless time is limited`(time: Duration?) throws {
    let test = try TestHost { loop in
      var limits = ScriptLimits()
      limits.turnTime = time
      return try LuaHost(loop: loop, libraries: .safe, limits: limits)
    }
    var text = ""
    test.host.modules { _ in .text(text) }
    func set(_ version: Int, _ count: Int) {
      text = """
        made, M = \(version), { f = function() return \(version) end, list = {} }
        for i = 1, \(count) do M.list[i] = { made } end
        return M
        """
    }
    set(1, 100)
    try test.host.run("obs = require 'obs' m = require 'm' list = m.list[1]")
    set(2, 4000)
    try test.host.run("assert(obs.reload 'm') assert(m.f() == 2 and list[1] == 2 and M == m)")
    set(3, 8000)
    try test.host.run("ok, message = obs.reload 'm' version, count = m.f(), #m.list")
    #expect(test.host["version"] == (time == nil ? 3 : 2))
    #expect(test.host["made"] == (time == nil ? 3 : 2))
    #expect(test.host["count"] == (time == nil ? 8000 : 4000))
    let message: String? = test.host["message"]
    #expect(
      message
        == (time == nil
          ? nil
          : "the module 'm' is too large to be loaded again: its old and its new tables may have "
            + "20000 entries"))
  }

  // H2, H5
  @Test func `no registration survives its code`() throws {
    let scripts = try ReloadedScripts(.library)
    scripts.set(
      "m",
      """
      obs.task(function()
        local c <close> = setmetatable({}, { __close = function()
          pcall(obs.every, 1, function() note "zombie" end)
        end })
        obs.sleep(100)
      end)
      local s = obs.state("s", { n = 0 })
      obs.after(1, function()
        s.n = 1
        note(tostring(pcall(obs.every, 1, function() note "zombie" end)))
      end)
      """)
    scripts.set(
      "other", "obs.observe(obs.state 's', 'n', function() reload() end, { immediate = true })")
    try scripts.run("require 'm' require 'other' function reload() assert(obs.reload 'm') end")
    scripts.set("m", "")
    scripts.advance(5)
    #expect(try scripts.log() == ["false"])
    scripts.set("m", "obs.every(1, function() note 'v' end)")
    try scripts.run("package.loaded.m = nil require 'm'")
    #expect(scripts.reload("m", "") == nil)
    scripts.advance(5)
    #expect(try scripts.log() == [])
    // Watchers of other code have no part in it.
    try scripts.run(
      """
      reload = function() end
      s = obs.state 's' s.k = 0
      obs.observe(s, 'k', function() note 'k' end, { name = 'w' })
      """
    )
    #expect(
      scripts.reload(
        "m", "local s = obs.state 's' obs.observe(s, 'n', print, { name = 'w' }) s.n = 9 error 'x'")
        != nil)
    scripts.advance()
    #expect(try scripts.log() == [])
    #expect(scripts.reports == [])
  }

  @Test func `modules that return a function, true or nothing`() throws {
    let scripts = try ReloadedScripts(.library)
    for (first, second) in [("return print", "return type"), ("return true", ""), ("", "return 1")]
    {
      scripts.set("m", first)
      try scripts.run("package.loaded.m = nil require 'm'")
      #expect(scripts.reload("m", second) == nil)
    }
    try scripts.run("assert(require 'm' == 1)")
  }

  // H5
  @Test func `many reloads leave as much as one`() throws {
    let scripts = try ReloadedScripts(.library)
    let text = """
      local state = obs.state("s", { n = 0 })
      local M = {}
      local Point = obs.model("Point", { x = 0, y = obs.computed({ "x" }, function() end) })
      obs.observe(state, "n", function() end, { name = "w" })
      obs.every(1, function() end)
      obs.task(function() obs.sleep(100) end)
      obs.computed(state, "c", { "n" }, function(self) return self.n end)
      obs.history(state)
      obs.on_exit(function() end)
      obs.on_error(function() end)
      obs.on_reload(function() end)
      function M.f() return M, Point end
      return M
      """
    scripts.set("m", text)
    try scripts.run("require 'm'")
    func use() throws -> Int {
      for _ in 1...2 { try scripts.test.host.state.collectGarbage() }
      return scripts.test.host.state.memoryInUse
    }
    for _ in 1...100 { #expect(scripts.reload("m", text) == nil) }
    let (before, count) = (try use(), scripts.test.loop.statistics.watchers)
    for _ in 1...Size.of(10_000, light: 1000) { _ = scripts.reload("m", text) }
    let after = try use()
    #expect(scripts.test.loop.statistics.watchers == count)
    #expect(after - before < 20_000, "\(before) \(after)")
    #expect(scripts.reports == [])
  }
}

extension String {
  /// The code with the module in front of it.
  fileprivate var withObs: String { "local obs = require 'obs' " + self }
}
