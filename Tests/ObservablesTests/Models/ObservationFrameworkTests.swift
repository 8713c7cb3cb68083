import Observables
import Observation
import Synchronization
import Testing

/// A model that the toolchain's Observation can track, too.
private final class Thermostat: ObservableModel, Observation.Observable {
  static let properties = ModelProperties(for: Thermostat.self) {
    Property("current", get: { $0.current }, set: { $0.current = $1 })
    Property("settings", get: { $0.settings }, set: { $0.settings = $1 })
    Property("text", tracked: { $0.$text }) { "\($0.current) of \($0.settings.target)" }
  }
  let observation = ModelObservation()
  private let registrar = ObservationRegistrar()
  private var storedCurrent = 20.0
  var current: Double {
    get {
      registrar.access(self, keyPath: \.current)
      observation.access(0, of: self)
      return storedCurrent
    }
    set {
      let old = storedCurrent
      registrar.withMutation(of: self, keyPath: \.current) { storedCurrent = newValue }
      observation.didSet(0, from: old, to: newValue)
    }
  }
  var settings = Settings() {
    didSet { observation.didSet(1, from: oldValue, to: settings) }
  }
  @Lazy var text = ""
}

/// A class of that framework, which is not a model.
@Observable private final class Settings {
  var target = 21.0
}

/// Our observation and the toolchain's, of the same properties.
struct ObservationFrameworkTests {
  private let loop = Loop(clock: .virtual)
  private let thermostat = Thermostat()

  /// Counts changes of the values that `read` reads, at most one per call of this function.
  private func track(_ read: @escaping () -> Void) -> Box {
    let box = Box()
    withObservationTracking(read) { box.count.add(1, ordering: .relaxed) }
    return box
  }
  private final class Box: Sendable {
    let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
  }

  @Test func `both frameworks report a write, each in its way`() throws {
    var values: [Double] = []
    try thermostat.observe("current", in: loop) { values.append($0.current) }
    let tracked = track { _ = thermostat.current }
    loop.turn {
      thermostat.current = 21
      #expect(tracked.value == 1)
      thermostat.current = 22
    }
    // Theirs reports once; ours stays, and is called once per turn.
    #expect(tracked.value == 1 && values == [22])
    let again = track { _ = thermostat.current }
    loop.turn { thermostat.current = 23 }
    #expect(again.value == 1 && values == [22, 23])
  }

  @Test func `either observation survives the end and the callbacks of the other`() throws {
    var calls = 0
    let watcher = try thermostat.observe("current", in: loop) { thermostat in
      calls += 1
      // Nothing tracks this read.
      _ = thermostat.current
    }
    let tracked = track { _ = thermostat.current }
    watcher.stop()
    loop.turn { thermostat.current = 1 }
    #expect(tracked.value == 1 && calls == 0)
    try thermostat.observe("current", in: loop) { _ in calls += 1 }
    loop.turn { thermostat.current = 2 }
    #expect(calls == 1)
    #expect(loop.statistics.watchers == 1)
  }

  // Z10
  @Test func `Observation tracks a computed property by the properties that it reads`()
    throws
  {
    var texts: [String] = []
    try thermostat.observe("text", in: loop) { texts.append($0.text) }
    loop.turn { thermostat.current = 21 }
    #expect(texts == ["21.0 of 21.0"])
    // A read of the computed property inside Observation's tracking also reads its sources.
    thermostat.$text.invalidate()
    let tracked = track { _ = thermostat.text }
    loop.turn { thermostat.current = 22 }
    #expect(tracked.value == 1 && texts.last == "22.0 of 21.0")
  }

  // P7
  @Test func `a class of that framework is a value at the end of a path`() throws {
    var calls = 0
    try thermostat.observe("settings", in: loop) { _ in calls += 1 }
    let tracked = track { [settings = thermostat.settings] in _ = settings.target }
    loop.turn { thermostat.settings.target = 5 }
    #expect(calls == 0 && tracked.value == 1)
    loop.turn { thermostat.settings = Settings() }
    #expect(calls == 1)
    loop.turn { thermostat.settings = thermostat.settings }
    #expect(calls == 1)
  }
}
