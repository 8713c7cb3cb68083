import Lua
import LuaObservables
import Observables

final class Ship: ObservableModel {
  static let properties = ModelProperties(for: Ship.self) {
    Property("x", get: { $0.x }, set: { $0.x = $1 })
    Property("speed", get: { $0.speed }, set: { $0.speed = $1 })
  }
  let observation = ModelObservation()
  var x = 0.0 { didSet { observation.didSet(0, from: oldValue, to: x) } }
  var speed = 1.0 { didSet { observation.didSet(1, from: oldValue, to: speed) } }
}

let loop = Loop()
let host = try LuaHost(loop: loop)
let ship = Ship()
host["ship"] = ship
try host.run(
  """
  local obs = require "obs"

  obs.observe(ship, "x", function(ship)
    if ship.x >= 3 then ship.speed = -1 end
  end)
  function draw(ship, frame)
    return ("frame %d: %s*"):format(frame, (" "):rep(math.tointeger(ship.x)))
  end
  """)
let draw = try host.run("return draw", as: LuaFunction.self)
try ship.observe("speed", in: loop) { print("speed \($0.speed)") }

for frame in 1...6 {
  // The game moves on, and the watchers of both sides are called once, at the end of the turn.
  loop.turn { ship.x += ship.speed }
  // Runs due messages, timers and tasks of scripts, and does not wait.
  host.step()
  print(try draw.call(ship, frame, as: String.self))
}
host.close()
