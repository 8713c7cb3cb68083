import Lua
import LuaObservables
import Observables
import Testing

/// The interface between a program and its scripts is the same for a host and for a sandbox.
struct ScriptEnvironmentTests {
  private struct Point: Codable, Equatable {
    var x = 0
    var y = 0
  }
  private struct Failure: Error {}

  private let test: ContainedHost
  private let sandbox: LuaSandbox
  private let creature = Creature(name: "Ada")

  init() throws {
    test = try ContainedHost()
    sandbox = try test.host.sandbox(named: "plugin")
  }

  /// The host and the sandbox, each with the way its scripts name it.
  private var environments: [(name: String, scripts: any ScriptEnvironment)] {
    [("host", test.host), ("sandbox", sandbox)]
  }

  @Test func `each has typed globals, objects, functions and results`() throws {
    for (name, scripts) in environments {
      scripts["rounds"] = 3
      scripts["creature"] = creature
      let functions = ScriptFunctions {
        Function("double") { (number: Int) in 2 * number }
        Constant("name", name)
      }
      try scripts.set("Tools", to: functions)
      try scripts.set("add", function: { (a: Int, b: Int) in a + b })
      #expect(try scripts.run("return add(Tools.double(rounds), 1)", as: Int.self) == 7)
      #expect(try scripts.run("return Tools.name", as: String.self) == name)
      #expect(try scripts.run("return { x = rounds, y = 4 }", as: Point.self) == Point(x: 3, y: 4))
      #expect(try scripts.run("return creature", as: Creature.self) === creature)
      let rounds: Int? = scripts["rounds"]
      let object: Creature? = scripts["creature"]
      #expect(rounds == 3 && object === creature)
      #expect(scripts.object(try scripts.value(for: creature), as: Creature.self) === creature)
      scripts["creature"] = Creature?.none
      #expect(scripts["creature"] == LuaValue.nil)
    }
    try sandbox.set("own", to: 1)
    #expect(test.host["own"] == LuaValue.nil && test.host["rounds"] == 3)
  }

  @Test func `each has tables that are observed, bound, read and undone`() throws {
    for (name, scripts) in environments {
      try scripts.run("t, list = { n = 1, deep = { x = 1 } }, {}")
      guard case .table(let table) = scripts["t"], case .table(let list) = scripts["list"] else {
        Issue.record("\(name) has no tables")
        continue
      }
      var events: [String] = []
      try scripts.observe(table, "deep.x") { events.append("x \(try $0.get("n", as: Int.self))") }
      try scripts.observeImmediately(table, "n") { events.append("\($1.key.text) \($1.new.text)") }
      try scripts.observeEdits(list) { events.append("\($1.count) edits") }
      let binding = try scripts.bind(table, ["name"], to: creature)
      try scripts.run("t.deep.x = 2 t.n = 2 list[1] = 1")
      #expect(events == ["n 2", "x 2", "1 edits"], "\(name)")
      #expect(try scripts.value(of: table, at: "deep.x") == 2)
      test.loop.turn { creature.name = name }
      #expect(try scripts.run("return t.name", as: String.self) == name)
      #expect(throws: Failure.self) {
        try scripts.transaction(on: [table]) {
          try scripts.run("t.deep.x = 3")
          throw Failure()
        }
      }
      #expect(try scripts.run("return t.deep.x", as: Int.self) == 2)
      binding.stop()
    }
  }

  // S5
  @Test func `a binding of a sandbox ends with it, and a closed one does nothing`() throws {
    try sandbox.run("t = {}")
    guard case .table(let table) = sandbox["t"] else { return }
    let binding = try sandbox.bind(table, ["name"], to: creature)
    #expect(binding.isActive)
    sandbox.close()
    #expect(!binding.isActive)
    #expect(sandbox["t"] == LuaValue.nil)
    for attempt in [
      { try sandbox.set("x", to: 1) }, { try sandbox.run("x = 1") },
      { _ = try sandbox.observe(table, "x") { _ in } },
      { _ = try sandbox.value(of: table, at: "x") },
      { try sandbox.transaction(on: [table]) {} },
    ] as [() throws -> Void] {
      let error = #expect(throws: LuaError.self) { try attempt() }
      #expect(error?.code == .closed)
    }
  }

  // S5
  @Test(.disabled(if: ContainedHost.delaysSignals))
  func `code of scripts that runs for a sandbox takes its time`() throws {
    try sandbox.run("t = setmetatable({}, { __index = function() while true do end end })")
    guard case .table(let table) = sandbox["t"] else { return }
    let error = #expect(throws: LuaError.self) { try sandbox.value(of: table, at: "x.y") }
    #expect(error?.code == .timeLimit)
  }

  @Test func `each may be interrupted by functions that it calls`() throws {
    for (_, scripts) in environments {
      let interrupter = scripts.interrupter
      try scripts.set("stop", function: { interrupter.interrupt() })
      let error = #expect(throws: LuaError.self) { try scripts.run("stop() while true do end") }
      #expect(error?.code == .interrupted)
    }
  }
}
