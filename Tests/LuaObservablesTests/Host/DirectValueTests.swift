import Lua
import LuaObservables
import Observables
import Testing

private final class Sensor: ScriptModel {
  static let properties = ModelProperties(for: Sensor.self) {
    Property("count", get: { $0.count }, set: { $0.count = $1 })
    Property("level", get: { $0.level }, set: { $0.level = $1 })
    Property("isOn", get: { $0.isOn }, set: { $0.isOn = $1 })
    Property("label", get: { $0.label }, set: { $0.label = $1 })
    Property("serial", get: { $0.count })
  }
  static let methods = ModelMethods(for: Sensor.self) {
    Method("integer") { (_, value: Int) in value }
    Method("number") { (_, value: Double) in value }
    Method("boolean") { (_, value: Bool) in value }
    Method("text") { (_, value: String) in value }
    Method("sensor") { (_, value: Sensor) in value }
    Method("model") { (_, value: any ObservableModel) in value }
    Method("maybe") { (_, value: Int?) in value }
    Method("nothing") { (_) in }
    Method("several") { (sensor, value: Int) in (value, "text", sensor) }
  }
  let observation = ModelObservation()
  var count: Int? { didSet { observation.didSet(0, from: oldValue, to: count) } }
  var level: Double? { didSet { observation.didSet(1, from: oldValue, to: level) } }
  var isOn: Bool? { didSet { observation.didSet(2, from: oldValue, to: isOn) } }
  var label: String? { didSet { observation.didSet(3, from: oldValue, to: label) } }
}

/// B1, B2: values of types that Lua has, too.
///
/// They cross the border without a conversion.
struct DirectValueTests {
  private let test: TestHost
  private let sensor = Sensor()

  init() throws {
    test = try TestHost()
    test.host["sensor"] = sensor
  }

  @Test func `optional properties take a value of their type, and nil`() throws {
    try test.host.run(
      """
      for _ = 1, 2 do
        assert(sensor.count == nil and sensor.level == nil)
        assert(sensor.isOn == nil and sensor.label == nil)
        sensor.count, sensor.level, sensor.isOn, sensor.label = 3, 4, false, "ä"
        assert(math.type(sensor.count) == "integer" and sensor.count == 3)
        assert(math.type(sensor.level) == "float" and sensor.level == 4)
        assert(sensor.isOn == false and sensor.label == "ä")
        sensor.count, sensor.level = 5.0, 0.5
        assert(math.type(sensor.count) == "integer" and sensor.count == 5)
        sensor.label = ("x"):rep(1000)
        assert(sensor.label == ("x"):rep(1000) and sensor.serial == 5)
        sensor.count, sensor.level, sensor.isOn, sensor.label = nil, nil, nil, nil
      end
      """)
  }

  @Test func `a write of the same value calls no watcher, and a getter depends on its reads`()
    throws
  {
    try test.host.run(
      """
      local obs = require "obs"
      local calls, t = 0, {}
      obs.observe(sensor, "count", function() calls = calls + 1 end, { immediate = true })
      obs.computed(t, "text", function()
        return tostring(sensor.count) .. tostring(sensor.label)
      end)
      assert(t.text == "nilnil")
      sensor.count = 1
      sensor.count = 1
      sensor.label = "x"
      assert(calls == 1 and t.text == "1x")
      sensor.count = nil
      assert(calls == 2 and t.text == "nilx")
      """)
  }

  @Test(arguments: [
    ("sensor.count = 1.5", "takes Int: number has no integer representation"),
    ("sensor.count = '1'", "takes Int, not string"),
    ("sensor.level = '1'", "takes Double, not string"),
    ("sensor.isOn = 0", "takes Bool, not number"), ("sensor.label = 1", "takes String, not number"),
    ("sensor.label = '\\xff'", "takes String"), ("sensor.count = {}", "takes Int, not table"),
    ("sensor.label = sensor", "takes String, not Sensor"),
    ("sensor.serial = 1", "'serial' of Sensor is read-only"),
    ("sensor:integer(1.5)", "bad argument #1 to 'integer'"),
    ("sensor:integer()", "bad argument #1 to 'integer' (number expected, got no value)"),
    ("sensor:number('1')", "bad argument #1 to 'number' (number expected, got string)"),
    ("sensor:boolean(nil)", "bad argument #1 to 'boolean' (boolean expected, got nil)"),
    ("sensor:text(1)", "bad argument #1 to 'text' (string expected, got number)"),
    ("sensor:text('\\xff')", "bad argument #1 to 'text'"),
    (
      "sensor:sensor(sensor.integer)", "bad argument #1 to 'sensor' (Sensor expected, got function)"
    ),
  ])
  func `a wrong value is an error that names the right type`(script: String, text: String) {
    let error = #expect(throws: LuaError.self) { try test.host.run(script) }
    #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
  }

  @Test func `methods take and return values of each type`() throws {
    try test.host.run(
      """
      assert(math.type(sensor:integer(2.0)) == "integer" and sensor:integer(-7) == -7)
      assert(math.type(sensor:number(2)) == "float" and sensor:number(0.1) == 0.1)
      assert(sensor:boolean(true) == true and sensor:boolean(false) == false)
      assert(sensor:text("") == "" and sensor:text("ä\\0x") == "ä\\0x")
      assert(sensor:text(("ab"):rep(500)) == ("ab"):rep(500))
      assert(sensor:sensor(sensor) == sensor and sensor:model(sensor) == sensor)
      assert(sensor:maybe() == nil and sensor:maybe(4) == 4)
      assert(select("#", sensor:maybe()) == 1 and select("#", sensor:nothing()) == 0)
      local a, b, c = sensor:several(1)
      assert(a == 1 and b == "text" and c == sensor and select("#", sensor:several(1)) == 3)
      """)
  }
}
