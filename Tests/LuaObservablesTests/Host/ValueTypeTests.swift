import Lua
import LuaObservables
import Observables
import Testing

private enum Mode: String, CaseIterable { case off, heat, cool }
private enum Level: Int { case low = 1, high }

private final class Machine: ScriptModel {
  static let properties = ModelProperties(for: Machine.self) {
    Property("mode", get: { $0.mode }, set: { $0.mode = $1 })
    Property("level", get: { $0.level }, set: { $0.level = $1 })
    Property("tags", get: { $0.tags }, set: { $0.tags = $1 })
    Property("sizes", get: { $0.sizes }, set: { $0.sizes = $1 })
    Property("parts", get: { $0.parts })
    Property("modes", get: { $0.modes })
    Property("note", get: { $0.note }, set: { $0.note = $1 })
  }
  static let methods = ModelMethods(for: Machine.self) {
    Method("switched") { (machine, mode: Mode, level: Level?) -> Mode in
      machine.level = level
      return mode == .heat ? .cool : .heat
    }
  }
  let observation = ModelObservation()
  var mode = Mode.off { didSet { observation.didSet(0, from: oldValue, to: mode) } }
  var level: Level? { didSet { observation.didSet(1, from: oldValue, to: level) } }
  var tags: [String] = [] { didSet { observation.didSet(2, from: oldValue, to: tags) } }
  var sizes: [String: Double]? { didSet { observation.didSet(3, from: oldValue, to: sizes) } }
  var parts: [Machine] = []
  var modes: [Mode: Machine] = [:]
  var note: Int? { didSet { observation.didSet(6, from: oldValue, to: note) } }
}

/// B2: values of Swift types that Lua does not have.
struct ValueTypeTests {
  private let test: TestHost
  private let machine = Machine()

  init() throws {
    test = try TestHost()
    try test.host.set("machine", to: machine)
  }

  @Test func `an enumeration is its raw value`() throws {
    try test.host.run(
      """
      assert(machine.mode == "off" and machine.level == nil)
      machine.mode, machine.level = "heat", 2
      assert(machine.mode == "heat" and machine.level == 2)
      assert(machine:switched("heat") == "cool" and machine.level == nil)
      assert(machine:switched("off", 1) == "heat" and machine.level == 1)
      """)
    #expect(machine.mode == .heat && machine.level == .low)
    try test.host.run("machine.level = nil")
    #expect(machine.level == nil)
  }

  @Test(arguments: [
    (
      "machine.mode = 'haet'", "property 'mode' of Machine takes Mode (off, heat, cool), not 'haet'"
    ),
    ("machine.mode = 1", "takes Mode (off, heat, cool), not 1"),
    ("machine.level = 3", "property 'level' of Machine takes Level, not 3"),
    ("machine:switched('x')", "bad argument #1 to 'switched' (Mode (off, heat, cool) expected"),
    (
      "machine:switched('off', 7)",
      "bad argument #2 to 'switched' (Level or nil expected, got 7"
    ),
    (
      "machine.tags = {1}",
      "property 'tags' of Machine takes Array<String>: element 1: string expected"
    ),
    ("machine.tags = 'x'", "property 'tags' of Machine takes Array<String>, not string"),
    ("machine.sizes = {a = 'b'}", "property 'sizes' of Machine takes Dictionary<String, Double>"),
    ("machine.note = {}", "property 'note' of Machine takes Int"),
  ])
  func `a wrong value is an error that names the right ones`(script: String, text: String) {
    let message = test.message(script)
    #expect(message.contains(text), "\(message)")
    #expect(machine.mode == .off && machine.tags == [] && machine.level == nil)
  }

  @Test func `lists and dictionaries are new tables, and tables become lists`() throws {
    machine.parts = [Machine(), Machine()]
    machine.modes = [.cool: machine.parts[1]]
    try test.host.run(
      """
      machine.tags = {"a", "b"}
      machine.sizes = {width = 2, height = 0.5}
      assert(#machine.tags == 2 and machine.tags[2] == "b" and machine.sizes.height == 0.5)
      assert(#machine.parts == 2 and machine.parts[1].mode == "off")
      assert(machine.modes.cool == machine.parts[2])
      machine.parts[1].mode = "heat"
      machine.sizes = nil
      """)
    #expect(machine.tags == ["a", "b"] && machine.sizes == nil && machine.parts[0].mode == .heat)
  }

  // T5
  @Test func `a watcher is called when such a property changes`() throws {
    try test.host.run(
      """
      local obs = require "obs"
      log = ""
      obs.observe(machine, "mode", function(m) log = log .. m.mode .. ";" end)
      obs.observe(machine, "tags", function(m) log = log .. table.concat(m.tags, ",") .. ";" end)
      machine.mode, machine.tags = "cool", {"x", "y"}
      """)
    test.loop.run()
    try test.host.run("machine.mode, machine.tags = 'cool', {'x', 'y'}")
    test.loop.run()
    #expect(test.host["log"] == "cool;x,y;")
  }
}
