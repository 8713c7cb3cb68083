import Observables

/// Any thread may use it: the values are only accessed in `observation.locked`.
final class Sensor: ObservableModel, @unchecked Sendable {
  static let properties = ModelProperties(for: Sensor.self) {
    Property("celsius", get: { $0.celsius }, set: { $0.celsius = $1 })
  }
  let observation = ModelObservation(.threadSafe)
  private var stored = 0.0
  var celsius: Double {
    get { observation.locked { stored } }
    set {
      let old = observation.locked {
        defer { stored = newValue }
        return stored
      }
      observation.didSet(0, of: self, from: old, to: newValue)
    }
  }
}

/// Belongs to the main actor, and so do its watchers on `Loop.main`.
final class Panel: ObservableModel {
  static let properties = ModelProperties(for: Panel.self) {
    Property("text", get: { $0.text }, set: { $0.text = $1 })
  }
  let observation = ModelObservation()
  var text = "" { didSet { observation.didSet(0, from: oldValue, to: text) } }
}

let sensor = Sensor()

// A loop in a separate thread: its watchers are called there.
let (alarms, alarm) = AsyncStream.makeStream(of: Double.self)
let guardian = LoopThread { loop in
  try! sensor.observe("celsius", in: loop) { sensor in
    if sensor.celsius > 30 { alarm.yield(sensor.celsius) }
  }
}

// The loop of the main queue: its watchers are registered and called on the main actor.
let panel = Panel()
try panel.observe("text", in: .main) { print("panel: \($0.text)") }
try sensor.observe("celsius", in: .main) { panel.text = "\($0.celsius) °C" }

// Two writes in one turn: one call, which reads the latest value.
sensor.celsius = 20
sensor.celsius = 21
await MainActor.run {}

// A write on another thread wakes both loops, and each loop calls its own watchers.
await Task.detached { sensor.celsius = 31 }.value
for await celsius in alarms {
  print("alarm: \(celsius) °C")
  break
}

// A task on any thread registers by a message to the loop. Any thread may stop the watcher.
let (readings, reading) = AsyncStream.makeStream(of: Double.self)
let watcher = await Task.detached {
  sensor.observe("celsius", on: guardian.inbox, initial: true) { reading.yield($0.celsius) }
}.value
for await celsius in readings {
  print("reading: \(celsius)")
  break
}
watcher.stop()
guardian.stop()
