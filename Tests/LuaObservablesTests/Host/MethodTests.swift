import Lua
import LuaObservables
import Observables
import Testing

/// A type that no value converts to, with an error other than a type mismatch.
private struct Odd: LuaDecodable {
  init(luaValue: LuaValue) throws(LuaError) { throw LuaError(.runtime, "odd") }
}

private class Thermostat: ScriptModel {
  class var properties: ModelProperties { thermostatProperties }
  private static let thermostatProperties = ModelProperties(for: Thermostat.self) {
    Property("target", get: { $0.target }, set: { $0.target = $1 })
    Property("room", get: { $0.room })
  }
  class var methods: ModelMethods { thermostatMethods }
  fileprivate static let thermostatMethods = ModelMethods(for: Thermostat.self) {
    Method("raise") { (thermostat, degrees: Double) in thermostat.target += degrees }
    Method("report") { thermostat in "\(thermostat.room): \(thermostat.target)" }
    Method("sum") { (_, numbers: [Int], start: Int?) in numbers.reduce(start ?? 0, +) }
    Method("repeated") { (_, text: String, count: Int, isLoud: Bool) in
      String(repeating: isLoud ? text.uppercased() : text, count: count)
    }
    Method("warmer") { (thermostat, other: Thermostat?) -> Thermostat? in
      guard let other else { return nil }
      return other.target > thermostat.target ? other : thermostat
    }
    Method("names") { thermostat in [thermostat.room: thermostat.target] }
    Method("check") { (thermostat, limit: Double) in
      if thermostat.target > limit { throw TooWarm(by: thermostat.target - limit) }
    }
    Method("each") { (thermostat, callback: LuaFunction) in
      for degrees in 1...3 { _ = try callback.call(Double(degrees)) }
    }
    Method("any") { (_, value: LuaValue) in value }
    Method("odd") { (_, _: Odd) in }
    Method("notify") { thermostat in thermostat.onNotify?() }
  }
  struct TooWarm: Error, Equatable { let by: Double }

  let observation = ModelObservation()
  var target = 20.0 { didSet { observation.didSet(0, from: oldValue, to: target) } }
  let room: String
  var onNotify: (() -> Void)?
  init(room: String) { self.room = room }
}

private final class Boiler: Thermostat {
  override class var methods: ModelMethods { boilerMethods }
  private static let boilerMethods = ModelMethods(
    for: Boiler.self, inheriting: Thermostat.thermostatMethods
  ) {
    Method("report") { boiler in "boiler in \(boiler.room)" }
    Method("ignite") { boiler in boiler.target = 60 }
  }
}

/// B2: methods of Swift models, called by scripts.
struct MethodTests {
  private let test: TestHost
  private let kitchen = Thermostat(room: "kitchen")
  private let boiler = Boiler(room: "cellar")

  init() throws {
    test = try TestHost()
    try test.host.set("kitchen", to: kitchen)
    try test.host.set("boiler", to: boiler)
  }

  @Test func `a script calls methods with arguments of many types, and gets their results`() throws
  {
    try test.host.run(
      """
      assert(kitchen:report() == "kitchen: 20.0")
      assert(kitchen:raise(2) == nil and select("#", kitchen:raise(0.5)) == 0)
      assert(kitchen.target == 22.5)
      assert(kitchen:sum({1, 2, 3}) == 6 and kitchen:sum({1}, 10) == 11)
      assert(kitchen:repeated("a", 2, true, "surplus") == "AA")
      assert(kitchen:warmer(boiler) == kitchen and kitchen:warmer(nil) == nil)
      assert(kitchen:warmer() == nil)
      assert(kitchen:names().kitchen == 22.5)
      assert(math.type(kitchen:any(1)) == "integer" and math.type(kitchen:any(1.0)) == "float")
      local t = {}
      assert(kitchen:any(t) == t and kitchen:any(kitchen) == kitchen)
      local sum = 0
      kitchen:each(function(n) sum = sum + n end)
      assert(sum == 6)
      assert(kitchen.report == kitchen.report, "one function for all")
      assert(kitchen.report(kitchen) == "kitchen: 22.5")
      """)
    #expect(kitchen.target == 22.5)
  }

  @Test func `an optional call gives nil, whether the object exists or not`() throws {
    var calls = 0
    try test.host.run("assert(kitchen:notify() == nil)")
    kitchen.onNotify = { calls += 1 }
    try test.host.run("assert(kitchen:notify() == nil)")
    #expect(calls == 1)
  }

  @Test func `a class inherits methods, and may replace them`() throws {
    try test.host.run(
      """
      boiler:ignite()
      boiler:raise(1)
      assert(boiler.target == 61 and boiler:report() == "boiler in cellar")
      assert(kitchen.report(boiler) == "cellar: 61.0", "the one of the parent")
      """)
  }

  @Test(arguments: [
    ("kitchen:raise()", "bad argument #1 to 'raise'", "no value"),
    ("kitchen:raise('x')", "bad argument #1 to 'raise'", "number expected, got string"),
    ("kitchen:repeated('a', 1.5, true)", "bad argument #2 to 'repeated'", "integer"),
    ("kitchen:sum({1, 'x'})", "bad argument #1 to 'sum'", "string"),
    ("kitchen:warmer({})", "bad argument #1 to 'warmer'", "Thermostat or nil expected, got table"),
    ("kitchen:raise(kitchen)", "bad argument #1 to 'raise'", "Double expected, got Thermostat"),
    ("kitchen.raise(1)", "calling 'raise' on bad self", "Thermostat expected, got number"),
    ("boiler.ignite(kitchen)", "calling 'ignite' on bad self", "Boiler expected, got Thermostat"),
    ("kitchen.raise()", "calling 'raise' on bad self", "write object:raise(…)"),
    ("kitchen:rasie(1)", "Thermostat has no property 'rasie'", "did you mean 'raise'?"),
    ("kitchen:ignite()", "Thermostat has no property 'ignite'", "ignite"),
    ("kitchen.raise = 1", "'raise' is a method of Thermostat", "cannot be assigned"),
    ("kitchen.rasie = 1", "no property 'rasie'", "did you mean 'raise'?"),
    ("require('obs').observe(kitchen, 'report', print)", "no property 'report'", "report"),
  ])
  func `a wrong call is an error that names the expected arguments`(
    script: String, one: String, two: String
  ) {
    let text = test.message(script)
    #expect(text.contains(one) && text.contains(two), "\(script): \(text)")
    #expect(kitchen.target == 20)
  }

  // B3
  @Test func `an error of a method is raised in the script, with the Swift error kept`() throws {
    try test.host.run(
      """
      local ok, err = pcall(kitchen.check, kitchen, 10)
      assert(not ok and tostring(err):find("TooWarm"), tostring(err))
      """)
    let error = #expect(throws: LuaError.self) { try test.host.run("kitchen:check(15)") }
    #expect(error?.underlying as? Thermostat.TooWarm == Thermostat.TooWarm(by: 5))
    // An unknown name raises one, too. An error of a conversion is passed on unchanged.
    for script in ["kitchen:rasie(1)", "kitchen.rasie = 1"] {
      let unknown = #expect(throws: LuaError.self) { try test.host.run(script) }
      #expect((unknown?.underlying as? ModelError)?.suggestion == "raise")
    }
    #expect(test.message("kitchen:odd(1)") == "script:1: bad argument #1 to 'odd' (odd)")
  }

  // T1
  @Test func `a change in a method is an ordinary change`() throws {
    try test.host.run(
      """
      calls = 0
      require("obs").observe(kitchen, "target", function() calls = calls + 1 end)
      kitchen:raise(1)
      kitchen:raise(1)
      """)
    test.loop.run()
    #expect(test.host["calls"] == 1)
  }

  // Z10
  @Test func `a computed property may call methods`() throws {
    try test.host.run(
      """
      local obs = require "obs"
      t = {}
      obs.computed(t, "text", function() return kitchen.target .. kitchen:report() end)
      assert(t.text == "20.0kitchen: 20.0")
      kitchen:raise(1)
      assert(t.text == "21.0kitchen: 21.0")
      """)
  }
}
