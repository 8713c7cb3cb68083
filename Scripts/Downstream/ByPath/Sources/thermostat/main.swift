import LuaObservables
import Observables

final class Thermostat: ObservableModel {
  static let properties = ModelProperties(for: Thermostat.self) {
    Property("current", get: { $0.current })
    Property("target", get: { $0.target }, set: { $0.target = $1 })
  }
  let observation = ModelObservation()
  var current = 17.0 { didSet { observation.didSet(0, from: oldValue, to: current) } }
  var target = 20.0 { didSet { observation.didSet(1, from: oldValue, to: target) } }
}

let loop = Loop()
let host = try LuaHost(loop: loop)
let thermostat = Thermostat()
try host.set("thermostat", to: thermostat)

try host.run(
  """
  local obs = require "obs"

  obs.observe(thermostat, "target", function(thermostat)
    print("script: target " .. thermostat.target)
  end)

  thermostat.target = 21
  thermostat.target = 22.5
  """)

try thermostat.observe("target") { print("app: target \($0.target)") }
try host.run("thermostat.target = 19.5", name: "=evening")
loop.turn { thermostat.target = 21 }

extension Thermostat: ScriptModel {
  static let methods = ModelMethods(for: Thermostat.self) {
    Method("raise") { (thermostat, degrees: Double) in thermostat.target += degrees }
    Method("limits") { _ in (5.0, 30.0) }
  }
}

try host.set("log") { (text: String) in print("log:", text) }

try host.run(
  """
  thermostat:raise(1.5)
  local low, high = thermostat:limits()
  log("between " .. low .. " and " .. high)
  """)

for text in ["thermostat.targt = 3", "thermostat.target = 'warm'", "thermostat.current = 30"] {
  do {
    try host.run(text, name: "=script")
  } catch {
    print(error.message)
  }
}

host.onError = { report in print("reported:", report.error.message) }

try host.run(
  """
  local obs = require "obs"

  local room = { name = "kitchen", thermostat = thermostat }
  obs.observe(room, "thermostat.current", function(room)
    print(room.name .. ": " .. room.thermostat.current)
  end)

  obs.after(0.2, function() error("the battery is low") end)
  obs.task(function()
    obs.sleep(0.3)
    print("script: good night")
  end)
  """, name: "=rooms")

loop.after(0.1) { thermostat.current = 18.0 }
loop.run()
host.close()
