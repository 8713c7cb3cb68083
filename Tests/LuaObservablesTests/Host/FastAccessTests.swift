import Lua
import LuaObservables
import Observables
import Testing

private class Machine: ScriptModel {
  class var properties: ModelProperties { machineProperties }
  fileprivate static let machineProperties = ModelProperties(for: Machine.self) {
    Property("integer", get: { $0.integer }, set: { $0.integer = $1 })
    Property("number", get: { $0.number }, set: { $0.number = $1 })
    Property("boolean", get: { $0.boolean }, set: { $0.boolean = $1 })
    Property("text", get: { $0.text }, set: { $0.text = $1 })
    Property("next", get: { $0.next }, set: { $0.next = $1 })
    Property("always", get: { $0.always }, set: { $0.always = $1 })
    Property("optional", get: { $0.optional }, set: { $0.optional = $1 })
    Property("fixed", get: { _ in 7 })
    Property("guarded", get: { $0.integer }, set: { $0.integer = $1 }).readOnlyByName
    Property(Machine.longName, get: { $0.integer }, set: { $0.integer = $1 })
  }
  class var methods: ModelMethods { machineMethods }
  fileprivate static let machineMethods = ModelMethods(for: Machine.self) {
    Method("add") { (machine, number: Int) in machine.integer += number }
  }
  static let longName = String(repeating: "long", count: 20)

  let observation = ModelObservation()
  var integer = 1 { didSet { observation.didSet(0, from: oldValue, to: integer) } }
  var number = 0.5 { didSet { observation.didSet(1, from: oldValue, to: number) } }
  var boolean = true { didSet { observation.didSet(2, from: oldValue, to: boolean) } }
  var text = "text" { didSet { observation.didSet(3, from: oldValue, to: text) } }
  var next: Machine? { didSet { observation.didSet(4, from: oldValue, to: next) } }
  lazy var always: Machine = Machine() {
    didSet { observation.didSet(5, from: oldValue, to: always) }
  }
  var optional: Int? { didSet { observation.didSet(6, from: oldValue, to: optional) } }
}

private final class Robot: Machine {
  override class var properties: ModelProperties { robotProperties }
  private static let robotProperties = ModelProperties(
    for: Robot.self, inheriting: machineProperties
  ) {
    Property("arms", get: { $0.arms }, set: { $0.arms = $1 })
  }
  override class var methods: ModelMethods { robotMethods }
  private static let robotMethods = ModelMethods(for: Robot.self, inheriting: machineMethods) {
    Method("add") { (robot, number: Int) in robot.arms += number }
  }
  var arms = 2 { didSet { observation.didSet(10, from: oldValue, to: arms) } }
}

/// B1, B2: properties that C finds by the addresses of their names.
struct FastAccessTests {
  private let test: TestHost
  private let machine = Machine()
  private let robot = Robot()

  init() throws {
    test = try TestHost()
    test.host["machine"] = machine
    test.host["robot"] = robot
  }

  @Test func `all types are read and written, also in a parent class`() throws {
    try test.host.run(
      """
      for _, object in ipairs {machine, robot} do
        assert(object.integer == 1 and math.type(object.integer) == "integer")
        assert(object.number == 0.5 and object.boolean == true and object.text == "text")
        assert(object.next == nil and object.optional == nil and object.fixed == 7)
        object.integer, object.number, object.boolean = 2, 3, false
        object.text, object.next, object.optional = "other", object, 5
        assert(object.integer == 2 and math.type(object.number) == "float")
        assert(object.boolean == false and object.text == "other")
        assert(object.next == object and object.optional == 5)
        object.next = nil
        assert(object.next == nil)
        object.always = robot
        assert(object.always == robot)
        object.integer = 3.0
        assert(object.integer == 3)
      end
      robot.arms = robot.arms + 1
      machine.next = robot
      robot.always = machine
      """)
    #expect(robot.arms == 3 && machine.next === robot && robot.always === machine)
    // Objects that hold each other would leak.
    (machine.next, machine.always) = (nil, Machine())
  }

  @Test func `texts may be of any length`() throws {
    for count in [0, 1, 15, 16, 255, 256, 257, 10_000] {
      let text = String(repeating: "ä", count: count)
      machine.text = text
      try test.host.run("copy = machine.text; machine.text = ''; machine.text = copy .. 'x\\0y'")
      #expect(test.host["copy"] == .string(LuaString(text)))
      #expect(machine.text == text + "x\0y")
    }
  }

  @Test func `a name that is too long to be interned is found, too`() throws {
    try test.host.run("machine['\(Machine.longName)'] = 9 long = machine['\(Machine.longName)']")
    #expect(machine.integer == 9 && test.host["long"] == 9)
  }

  @Test func `a method is one function, also after a tracked read`()
    throws
  {
    try test.host.run(
      """
      local obs = require "obs"
      local t, calls = {}, 0
      obs.computed(t, "sum", function()
        calls = calls + 1
        local add = machine.add
        return machine.integer + machine.optional
      end)
      machine.optional = 1
      for i = 1, 50 do
        machine:add(1)
        assert(machine.add == machine.add and t.sum == machine.integer + 1)
      end
      assert(calls == 50)
      machine.optional = 2
      assert(t.sum == machine.integer + 2)
      robot:add(1)
      """)
    #expect(machine.integer == 51 && robot.arms == 3 && robot.integer == 1)
  }

  @Test(arguments: [
    ("machine.integer = 1.5", "takes Int"), ("machine.integer = '1'", "takes Int, not string"),
    ("machine.number = '1'", "takes Double, not string"),
    ("machine.boolean = 1", "takes Bool, not number"),
    ("machine.text = 1", "takes String, not number"), ("machine.text = '\\xff'", "takes String"),
    ("machine.next = 1", "takes Machine, not number"),
    ("machine.always = nil", "takes Machine, not nil"),
    ("robot.always = setmetatable({}, {})", "takes Machine, not table"),
    ("machine.fixed = 1", "'fixed' of Machine is read-only"),
    ("machine.guarded = 1", "'guarded' of Machine is read-only"),
    ("machine.integre = 1", "did you mean 'integer'?"),
    ("machine.arms = 1", "Machine has no property 'arms'"),
    ("machine.add = 1", "'add' is a method of Machine"),
    ("return machine[1]", "by name, not by number"), ("return machine[machine]", "by name"),
    ("debug.getmetatable(machine).__index(1, 'integer')", "a host object was expected"),
    ("debug.getmetatable(machine).__index(io.stdout, 'integer')", "a host object was expected"),
    ("debug.getmetatable(machine).__newindex({}, 'integer', 1)", "a host object was expected"),
    ("debug.getmetatable(machine).__index()", "a host object was expected"),
  ])
  func `an error has the place of the access`(script: String, text: String) {
    let error = #expect(throws: LuaError.self) { try test.host.run("\n" + script) }
    #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    #expect(machine.integer == 1)
  }

  // B3
  @Test func `misuse of handles through the library debug ends in errors`() throws {
    try test.host.run(
      """
      local obs = require "obs"
      local of_machine = debug.getmetatable(machine)
      local path, watcher = obs.path("integer"), obs.observe(machine, "integer", print)
      local _, box = debug.getupvalue(of_machine.__index, 1)
      assert(not of_machine.__gc and not debug.getmetatable(box).__gc)
      for _, value in ipairs {io.stdout, watcher, path, box} do
        local own = debug.getmetatable(value)
        debug.setmetatable(value, of_machine)
        assert(not pcall(function() return value.integer end))
        assert(not pcall(function() value.integer = 1 end))
        assert(not pcall(function() machine.next = value end))
        assert(not pcall(tostring, value))
        debug.setmetatable(value, own)
      end
      debug.setmetatable(machine, debug.getmetatable(watcher))
      assert(not pcall(function() machine:stop() end))
      debug.setmetatable(machine, of_machine)
      """)
  }

  // T9, B3
  @Test func `a setter may call scripts, also in a coroutine`() throws {
    try test.host.set("note") { [unowned test] (value: Int) in
      test.host["noted"] = .integer(Int64(value))
    }
    try test.host.run(
      """
      local obs = require "obs"
      obs.observe(machine, "integer", function(m) note(m.integer) end, {immediate = true})
      coroutine.wrap(function() machine.integer = 8 end)()
      assert(noted == 8)
      """)
    #expect(test.reports.isEmpty)
  }
}
