import Lua
import LuaObservables
import Observables
import Testing

/// S5, W2: a script can stop and explain only watchers that its sandbox has registered.
struct SandboxOwnershipTests {
  private let test: ContainedHost
  private let a: LuaSandbox
  private let b: LuaSandbox
  private let paper = Paper()

  init() throws {
    test = try ContainedHost()
    try test.host.set("paper", to: paper)
    try test.host.run("obs = require 'obs' shared = { v = 1, sub = { x = 1 } } heard = 0")
    (a, b) = try test.sandboxes(running: "obs = require 'obs' heard = 0")
  }

  private func observe() throws {
    let script = """
      function hear() heard = heard + 1 end
      observer = {}
      obs.observe(shared, 'v', hear, { name = 'secret', observer = observer })
      obs.observe(paper, 'title', hear, { name = 'secret' })
      """
    try test.host.run(script)
    try b.run(script)
    #expect(test.host["heard"] == 0 && b["heard"] == 0)
  }

  private func heard() throws -> [Int] {
    try test.host.run("shared.v = shared.v + 1 paper.title = paper.title .. '.'")
    return [try #require(Int(test.host["heard"].text)), try #require(Int(b["heard"].text))]
  }

  @Test(arguments: [
    "obs.stop(shared)", "obs.stop(shared, 'v')", "obs.stop(shared, { 'v', 'w' })",
    "obs.stop(shared, { path = 'v' })", "obs.stop(paper)", "obs.stop(paper, 'title')",
  ])
  func `obs.stop ends only its own watchers`(script: String) throws {
    try observe()
    #expect(try a.run("return \(script)") == [0])
    #expect(try heard() == [2, 2])
    try a.run("obs.observe(shared, 'v', print) obs.observe(paper, 'title', print)")
    #expect(try a.run("return \(script)") == [1])
    #expect(try heard() == [4, 4])
  }

  @Test func `a callback or an observer of others ends nothing`() throws {
    try observe()
    try b.run("shared.callback, shared.observer = hear, observer")
    #expect(
      try a.run(
        """
        return obs.stop(shared, { callback = shared.callback })
          + obs.stop(shared, { observer = shared.observer })
        """) == [0])
    #expect(try heard() == [2, 2])
  }

  @Test func `scripts of the host stop all`() throws {
    try observe()
    #expect(try test.host.run("return obs.stop(shared) + obs.stop(paper)") == [4])
    #expect(try heard() == [0, 0])
  }

  @Test func `watchers of others have neither name nor place`() throws {
    try observe()
    try paper.observe("title", in: test.loop, options: WatcherOptions(name: "secret")) { _ in }
    try b.run(
      """
      obs.computed(shared, 'double', { 'v' }, function(s) return s.v * 2 end)
      private = { shared = shared }
      obs.computed(private, 'hidden', { 'shared.v' }, function(s) return s.shared.v end)
      obs.observe(private, 'hidden', print, { name = 'secret' })
      """)
    try a.run("obs.observe(shared, 'v', print, { name = 'mine' })")
    let text = try a.run("return obs.describe(shared)")[0].text
    for line in [
      "  double (lazy, invalid), declared by another script",
      "    a property of another script depends on it", "    another script",
      "    mine on 'v', registered at script:1",
    ] {
      #expect(text.split(separator: "\n").contains { $0.hasPrefix(line) }, "\(text)")
    }
    #expect(!text.contains("secret") && !text.contains("hidden"))
    let paper = try a.run("return obs.describe(paper)")[0].text
    #expect(!paper.contains("secret") && paper.contains("the program"), "\(paper)")
    for format in ["dot", "json", "mermaid"] {
      let graph = try a.run("return obs.graph(shared, '\(format)')")[0].text
      #expect(graph.contains("another script") && graph.contains("mine"), "\(graph)")
      #expect(!graph.contains("secret") && !graph.contains("hidden"), "\(graph)")
    }
    #expect(try b.run("return obs.graph(shared, 'dot')")[0].text.contains("hidden"))
    #expect(try test.host.run("return obs.describe(shared)")[0].text.contains("secret"))
  }

  @Test func `a handle of others can be used, but not explained`() throws {
    try b.run("shared.w = obs.observe(shared, 'v', function() heard = heard + 1 end)")
    try a.run("shared.w:pause()")
    #expect(try heard()[1] == 0)
    try a.run("shared.w:resume()")
    #expect(b["heard"] == 1)
    try a.run(
      """
      local ok, message = pcall(obs.why, shared.w)
      assert(not ok and message:find 'belongs to another script', message)
      assert(not pcall(obs.whynot, shared.w))
      shared.w:stop()
      """)
    #expect(try heard()[1] == 1)
  }

  @Test func `each sandbox has a separate hook, and so has the program`() throws {
    var hooked: [String] = []
    paper.onObserved(in: test.loop) { key, isObserved in hooked.append("\(key) \(isObserved)") }
    let script = """
      hooks = ''
      function hook(_, key, is) hooks = hooks .. key .. ' ' .. tostring(is) .. '; ' end
      for _, object in ipairs { shared, paper } do obs.on_observed(object, hook) end
      """
    try a.run(script)
    try b.run(script)
    try a.run("obs.on_observed(shared, nil) obs.on_observed(paper, nil)")
    try a.run("obs.observe(shared, 'v', print) obs.observe(paper, 'title', print)")
    #expect(b["hooks"].text == "v true; title true; ")
    #expect(a["hooks"].text == "")
    #expect(hooked == ["title true"])
    a.close()
    #expect(b["hooks"].text == "v true; title true; v false; title false; ")
    b.close()
    try test.host.run("obs.observe(shared, 'v', print)")
    #expect(test.reports.isEmpty)
  }

  @Test func `a scope excludes objects that callbacks of others make inside of it`() throws {
    try b.run(
      """
      obs.observe(shared, 'v', function()
        obs.scope(function() made = obs.observe(shared, 'other', print) end)
        timer = obs.every(1, print)
        task = obs.task(function() obs.sleep(100) end)
      end, { immediate = true })
      """)
    try a.run(
      """
      local scope = obs.scope(function()
        own = obs.after(1, print)
        shared.v = 2
      end)
      assert(#scope.members == 1)
      scope:stop()
      assert(not own.active)
      """)
    try b.run("assert(made.active and timer.active and not task.done)")
  }

  @Test func `stopped scopes of two sandboxes share no members`() throws {
    let stopped = "scope = obs.scope(function() end) scope:stop()"
    try a.run(stopped + " scope.members[1] = function() called = true end")
    try b.run(stopped + " assert(#scope.members == 0) scope:stop()")
    try a.run("assert(not called)")
  }

  @Test func `a callback of others ends no transaction`() throws {
    try a.run(
      """
      local function abort() aborted = pcall(obs.abort, 'no') end
      obs.observe(shared, 'v', abort, { immediate = true })
      """)
    #expect(
      try b.run("return obs.transaction({ shared }, function() shared.v = 7 return 'kept' end)")
        == [true, "kept"])
    #expect(try b.run("return shared.v") == [7])
    #expect(a["aborted"] == false)
  }

  @Test func `a property is declared again, or forgotten, only by its own sandbox`() throws {
    try b.run("obs.computed(shared, 'double', { 'v' }, function(s) return s.v * 2 end)")
    for script in [
      "obs.computed(shared, 'double', { 'v' }, print)", "obs.lazy(shared, 'double', print)",
      "obs.forget(shared, 'double')", "obs.forget(shared)", "obs.copy_of(shared, 'double', 'sub')",
      "obs.backed(shared, 'double', { double = 1 })",
    ] {
      let error = #expect(throws: LuaError.self) { try a.run(script) }
      #expect(
        error?.message.contains("another script has declared the property") == true, "\(script)")
    }
    #expect(try a.run("return shared.double") == [2])
    try b.run("obs.forget(shared, 'double')")
    try a.run("obs.computed(shared, 'double', { 'v' }, function() return 3 end)")
    try test.host.run("obs.forget(shared)")
  }

  @Test func `a table that others observe is not made opaque`() throws {
    try b.run("obs.observe(shared, '**', function() heard = heard + 1 end)")
    #expect(throws: LuaError.self) { try a.run("obs.opaque(shared.sub)") }
    try a.run("shared.sub.x = 2")
    #expect(b["heard"] == 1)
    try a.run("obs.opaque {}")
  }

  @Test func `a callback does not see the coroutine that has caused the call`() throws {
    try b.run(
      """
      obs.observe(shared, 'v', function()
        thread, is_main = coroutine.running()
        coroutine.wrap(function() inner, is_inner_main = coroutine.running() end)()
      end, { immediate = true })
      """)
    try a.run(
      """
      task = obs.task(function()
        own = coroutine.running()
        shared.v = 2
        assert(coroutine.running() == own and not select(2, coroutine.running()))
        shared.own = own
        obs.sleep(1)
        done = true
      end)
      """)
    try b.run(
      """
      assert(is_main and thread ~= shared.own)
      assert(inner ~= thread and not is_inner_main)
      """)
  }

  @Test func `a cancelled task closes its variables at its own expense`() throws {
    try observe()
    try a.run(
      """
      shared.task = obs.task(function()
        local _ <close> = setmetatable({}, { __close = function() obs.stop(shared) end })
        obs.sleep(10)
      end)
      """)
    try b.run("shared.task:cancel()")
    #expect(try heard() == [2, 2])
  }

  @Test func `a task of a closed sandbox does not continue`() throws {
    try a.run(
      """
      obs.task(function()
        obs.await(function(done) shared.done = done end)
        shared.v = 0
      end)
      """)
    a.close()
    try test.host.run("shared.done()")
    test.loop.advance(by: 1)
    #expect(try test.host.run("return shared.v") == [1])
  }

  // A class can be changed by whoever has it.
  @Test func `data that names a model leads only to a model of the same sandbox`() throws {
    let define = """
      obs = require 'obs'
      Account = obs.model('Account', { pin = 0, owner = function() return NAME end })
      """
    try test.host.run("NAME = 'host' \(define)")
    try a.run("obs = require 'obs'")
    let named = "{ { path = { 'x' }, kind = 'set', new = { pin = 1 }, model = 'Account' } }"
    // Before a model is defined, and after another sandbox has defined it.
    for _ in 1...2 {
      let error = #expect(throws: LuaError.self) { try a.run("obs.apply({}, \(named))") }
      #expect(error?.message.contains("there is no model 'Account' here") == true)
      try b.run("NAME = 'b' \(define)")
    }
    try a.run("NAME = 'a' \(define)")
    for (scripts, name) in [(test.host, "host"), (a, "a"), (b, "b")]
      as [(any ScriptEnvironment, LuaValue)]
    {
      #expect(
        try scripts.run(
          """
          local applied, merged, list = {}, {}, \(named)
          obs.apply(applied, list)
          obs.merge(merged, applied)
          local copy = {}
          obs.apply(copy, obs.diff({}, applied))
          for _, t in ipairs { applied, copy } do
            assert(getmetatable(t.x) == Account and t.x:owner() == NAME)
          end
          return applied.x:owner()
          """) == [name])
    }
  }

  @Test func `a sandbox cannot make an object of a class by the class's name`() throws {
    try a.set("item", to: NamedItem())
    let make = """
      obs = require 'obs'
      obs.apply({}, { { path = { 'x' }, kind = 'set', new = { n = 1 }, model = 'NamedItem' } })
      """
    for sandbox in [a, b] {
      let error = #expect(throws: LuaError.self) { try sandbox.run(make) }
      #expect(error?.message.contains("there is no model 'NamedItem' here") == true)
    }
    try test.host.run(make)
  }
}

/// A model that can be made from data.
private final class NamedItem: ObservableModel, Decodable {
  static let properties = ModelProperties(for: NamedItem.self) {
    Property("n", get: { $0.n }, set: { $0.n = $1 })
  }
  let observation = ModelObservation()
  var n = 0 { didSet { observation.didSet(0, from: oldValue, to: n) } }

  init() {}
  private enum CodingKeys: CodingKey { case n }
  init(from decoder: any Decoder) throws {
    n = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .n)
  }
}
