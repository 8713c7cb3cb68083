import Lua
import LuaObservables
import Observables
import Testing

/// T8: models that several threads use, in scripts.
struct ThreadSafeModelScriptTests {
  private final class Sensor: ObservableModel, @unchecked Sendable {
    // All access to `stored` is inside of `observation.locked`.
    static let properties = ModelProperties(for: Sensor.self) {
      Property("value", get: { $0.value }, set: { $0.value = $1 })
      Property("next", get: { $0.next }, set: { $0.next = $1 })
    }
    let observation = ModelObservation(.threadSafe)
    private var stored = (value: 0, next: Sensor?.none)
    var value: Int {
      get { observation.locked { stored.value } }
      set {
        let old = observation.locked {
          defer { stored.value = newValue }
          return stored.value
        }
        observation.didSet(0, of: self, from: old, to: newValue)
      }
    }
    var next: Sensor? {
      get { observation.locked { stored.next } }
      set {
        let old = observation.locked {
          defer { stored.next = newValue }
          return stored.next
        }
        observation.didSet(1, of: self, from: old, to: newValue)
      }
    }
  }

  @Test func `a script observes writes on other threads, along paths through its tables`() throws {
    let test = try TestHost()
    let sensor = Sensor()
    try test.host.set("sensor", to: sensor)
    try test.host.run(
      """
      local obs = require "obs"
      log = {}
      room = { sensor = sensor }
      obs.observe(room, "sensor.next.value", function(room)
        log[#log + 1] = room.sensor.next and room.sensor.next.value or "none"
      end)
      obs.computed(room, "double", { "sensor.value" }, \
      function(room) return room.sensor.value * 2 end)
      obs.observe(room, "double", function(room) log[#log + 1] = "double " .. room.double end)
      """)
    let next = Sensor()
    onOtherThread { sensor.next = next }
    test.loop.step()
    onOtherThread {
      next.value = 3
      next.value = 4
      sensor.value = 5
    }
    test.loop.step()
    try test.host.run("sensor.next.value = 6; sensor.next = nil")
    #expect(try test.host.run("return table.concat(log, ' ')") == ["0 4 double 10 none"])
    #expect(test.reports.isEmpty)
  }

  // L6
  @Test func `its watchers live as long as another thread holds it, and go with it`() throws {
    let test = try TestHost()
    weak var weakSensor: Sensor?
    let holder = Holder()
    do {
      let sensor = Sensor()
      weakSensor = sensor
      holder.hold(sensor)
      try test.host.set("sensor", to: sensor)
      try test.host.run(
        """
        local obs = require "obs"
        calls = 0
        local sensor = sensor
        obs.observe(sensor, "value", function() calls = calls + sensor.value end)
        _G.sensor = nil
        for i = 1, 4 do collectgarbage() end
        """)
    }
    onOtherThread { holder.withSensor { $0?.value = 1 } }
    while test.loop.step() {}
    #expect(test.host["calls"] == 1)
    onOtherThread { holder.hold(nil) }
    for _ in 0..<4 {
      try test.host.run("for i = 1, 4 do collectgarbage() end")
      while test.loop.step() {}
    }
    #expect(weakSensor == nil)
    #expect(test.loop.statistics.watchers == 0)
  }

  private final class Holder: @unchecked Sendable {
    // One thread at a time uses it.
    private var sensor: Sensor?
    func hold(_ sensor: Sensor?) { self.sensor = sensor }
    func withSensor(_ body: (Sensor?) -> Void) { body(sensor) }
  }
}
