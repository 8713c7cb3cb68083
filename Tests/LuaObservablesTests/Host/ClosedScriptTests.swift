import Lua
import LuaObservables
import Observables
import Testing

/// S7: once a host or a sandbox is closed, nothing of its scripts runs any more.
struct ClosedScriptTests {
  /// Places in which `%` closes the running script and then tries to continue.
  static let places = [
    "%", "pcall(function() % end) %", "xpcall(function() % end, function() % end) %",
    "coroutine.wrap(function() % end)() %",
    "local x <close> = setmetatable({}, { __close = function() % end })",
    "setmetatable({}, { __index = function() % end }).x = nil %",
    "table.sort({ 3, 2, 1 }, function() % return false end) %",
    "('abc'):gsub('.', function() % end) %",
    "obs.observe(t, 'x', function() % end) t.x = 2",
    "obs.observe(t, 'x', function() % end, { immediate = true }) t.x = 2 %",
    "obs.observe(t, 'x', touch, { equals = function() % return false end }) t.x = 2",
    "obs.observe_edits(t, function() % end) t.x = 2",
    "obs.on_observed(t, function() % end) obs.observe(t, 'x', touch) %",
    "obs.computed(t, 'y', { 'x' }, function(t) % return t.x end) touch(t.y) %",
    "obs.computed(t, 'y', function(t) % return t.x end) obs.observe(t, 'y', touch) t.x = 2",
    "obs.after(0, function() % end)", "obs.next_turn(function() % end)",
    "obs.task(function() obs.sleep(0) % obs.sleep(0) % end)",
    "obs.batch(function() % end) %", "obs.scope(function() % end) %",
    "obs.transaction({ t }, function() t.x = 2 % end) %",
    "obs.on_error(function() % end) obs.next_turn(function() error 'no' end)",
  ]

  enum Kind: CaseIterable { case host, safeHost, sandbox }

  private final class Scripts {
    let loop = Loop(clock: .virtual)
    var host: LuaHost!
    var sandbox: LuaSandbox?
    let creature = Creature(name: "Ada")
    var touches = 0

    init(_ kind: Kind) throws {
      host = try LuaHost(loop: loop, libraries: kind == .host ? .all : .safe)
      if kind == .sandbox { sandbox = try host.sandbox(named: "closed") }
      try host.set("creature", to: creature)
      try host.set("touch") { [unowned self] (_: LuaValue) in touches += 1 }
      try host.set("shut") { [unowned self] () in shut() }
      try host.set("drop") { [unowned self] () in (host, sandbox) = (nil, nil) }
    }

    func shut() {
      if let sandbox { sandbox.close() } else { host.close() }
    }

    /// Runs a script, and everything that it leaves to the loop.
    func run(_ script: String) throws {
      let script = "obs, t = require 'obs', { x = 1 }\n" + script
      let scripts: any ScriptEnvironment = sandbox ?? host
      do throws(LuaError) { try scripts.run(script) } catch { #expect(error.code == .closed) }
      loop.run()
    }
  }

  @Test(arguments: places, Kind.allCases)
  func `a script that closes itself does not continue`(place: String, kind: Kind) throws {
    let scripts = try Scripts(kind)
    var reports: [LuaReport] = []
    scripts.host.onError = { reports.append($0) }
    let rest = "shut() touch() creature.name = 'Bea'"
    try scripts.run(place.replacing("%", with: rest))
    #expect(scripts.touches == 0 && scripts.creature.name == "Ada")
    #expect(scripts.sandbox?.isClosed ?? scripts.host.isClosed)
    #expect(reports.allSatisfy { $0.error.message.contains("no") }, "\(reports)")
    if scripts.sandbox == nil {
      #expect(scripts.host.state.memoryInUse == 0)
    } else {
      #expect(try scripts.host.run("return 1") == [1])
    }
  }

  @Test func `a library function that calls several functions does not call the second one`() throws
  {
    for kind in Kind.allCases {
      let scripts = try Scripts(kind)
      try scripts.host.set("both") { [unowned scripts] (_: String) in
        scripts.touches += 1
        scripts.shut()
      }
      try scripts.run("('abc'):gsub('.', both)")
      #expect(scripts.touches == 1)
    }
  }

  @Test(arguments: places, [Kind.host, .safeHost])
  func `a host may be dropped in any call of its scripts`(place: String, kind: Kind) throws {
    for isClosed in [false, true] {
      let scripts = try Scripts(kind)
      weak let host = scripts.host
      scripts.host.onError = { _ in }
      try scripts.run(place.replacing("%", with: isClosed ? "shut() drop()" : "drop()"))
      // The host that its script has not dropped is still there.
      #expect((host == nil) == (scripts.host == nil))
      #expect(scripts.host != nil || scripts.loop.statistics.watchers == 0)
    }
  }

  @Test func `a host may be dropped in a call that a write of the program causes`() throws {
    for options in ["", ", { immediate = true }", ", { equals = function() drop() end }"] {
      let scripts = try Scripts(.host)
      weak let host = scripts.host
      try scripts.run("obs.observe(creature, 'name', function() drop() end\(options))")
      scripts.creature.name = "Bea"
      scripts.loop.run()
      #expect(host == nil)
    }
  }

  @Test func `a host may be dropped in a call of a function or table that Swift holds`() throws {
    let calls: [(LuaFunction, LuaTable, LuaState) throws -> Void] = [
      { f, _, _ in try f.call() },
      { f, _, _ in _ = try f.task() },
      { _, holder, _ in _ = try holder["x"] },
      { _, holder, _ in try holder.set("x", to: 1) },
      { _, _, state in try state.collectGarbage() },
    ]
    for (call, isTurn) in calls.flatMap({ [($0, false), ($0, true)] }) {
      let scripts = try Scripts(.host)
      weak let host = scripts.host
      try scripts.run(
        """
        f = drop
        holder = setmetatable({}, { __index = drop, __newindex = drop })
        setmetatable({}, { __gc = drop })
        """)
      let f: LuaFunction = try #require(scripts.host["f"])
      let holder: LuaTable = try #require(scripts.host["holder"])
      let state = scripts.host.state
      if isTurn {
        try scripts.loop.turn { try call(f, holder, state) }
      } else {
        try call(f, holder, state)
      }
      scripts.loop.run()
      #expect(host == nil)
    }
  }

  @Test func `code of a sandbox that another script closes does not continue`() throws {
    let scripts = try Scripts(.sandbox)
    let other = try scripts.host.sandbox(named: "other")
    try scripts.host.run("shared = { v = 1 }")
    try other.run(
      """
      require 'obs'.observe(shared, 'v', function() shut() ran = true end, { immediate = true })
      """)
    try scripts.run("shared.v = 2 touch()")
    #expect(scripts.touches == 0)
    #expect(other["ran"] == true)
  }

  @Test func `functions and tables of a closed sandbox throw`() throws {
    let scripts = try Scripts(.sandbox)
    let sandbox = try #require(scripts.sandbox)
    try scripts.run(
      """
      function f() touch() end
      plain = { x = 1 }
      holder = setmetatable({}, { __index = touch, __newindex = touch, __len = touch })
      """)
    let f: LuaFunction = try #require(sandbox["f"])
    let holder: LuaTable = try #require(sandbox["holder"])
    let plain: LuaTable = try #require(sandbox["plain"])
    try f.call()
    let inner = try holder.get("x", as: LuaValue.self)
    #expect(inner == .nil && scripts.touches == 2)
    sandbox.close()
    let calls: [() throws -> Void] = [
      { _ = try f.call() as [LuaValue] },
      { _ = try f.call(1, as: Int.self) },
      { _ = try f.call(arguments: []) },
      { _ = try f.task() },
      { _ = try holder["x"] },
      { try holder.set("x", to: 1) },
      { _ = try holder.length },
    ]
    for call in calls {
      #expect(#expect(throws: LuaError.self) { try call() }?.code == .closed)
    }
    #expect(scripts.touches == 2)
    // Reading a table without metamethods runs nothing.
    #expect(try plain.get("x", as: Int.self) == 1)
  }

  // S5
  @Test func `the 'require' of a closed sandbox does not load modules of the host`() throws {
    let host = try LuaHost(loop: Loop(clock: .virtual), libraries: .safe)
    host.modules { _ in .text("return { secret = secret }") }
    try host.run("secret, shared = 1, {}")
    let (closed, other) = (try host.sandbox(named: "closed"), try host.sandbox(named: "other"))
    try closed.run("shared.require = require")
    closed.close()
    let error = #expect(throws: LuaError.self) { try other.run("shared.require 'm'") }
    #expect(error?.message.contains("closed") == true)
  }

  @Test func `a task that closes its sandbox does not count as a task of the host`() throws {
    var limits = ScriptLimits()
    limits.tasks = 1
    let host = try LuaHost(loop: Loop(clock: .virtual), libraries: .safe, limits: limits)
    let sandbox = try host.sandbox(named: "closed")
    try sandbox.set("shut") { () in sandbox.close() }
    #expect(throws: LuaError.self) { try sandbox.run("require 'obs'.task(function() shut() end)") }
    try host.run(
      "function add() require 'obs'.task(function() require 'obs'.sleep(1) end) end add()")
    #expect(throws: LuaError.self) { try host.run("add()") }
  }

  @Test func `a task of a closed sandbox ends, and so does the operation that it waits for`()
    async throws
  {
    let scripts = try Scripts(.sandbox)
    let sandbox = try #require(scripts.sandbox)
    try sandbox.set("wait") { () async throws in try await Task.sleep(for: .seconds(1000)) }
    try scripts.run("function f() obs.task(wait) obs.sleep(1000) end")
    let f: LuaFunction = try #require(sandbox["f"])
    let task = try f.task()
    #expect(scripts.loop.isAlive)
    sandbox.close()
    let error = await #expect(throws: LuaError.self) { try await task.results }
    #expect(error?.code == .closed)
    // Nothing keeps the loop running.
    scripts.loop.run()
    #expect(!scripts.loop.isAlive)
  }
}
