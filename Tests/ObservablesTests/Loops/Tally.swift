import Observables

/// A model that several threads use.
final class Tally: ObservableModel, @unchecked Sendable {
  // Stored values are only accessed inside `observation.locked`.
  static let properties = ModelProperties(for: Tally.self) {
    Property("count", get: { $0.count }, set: { $0.count = $1 })
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("next", get: { $0.next }, set: { $0.next = $1 })
    Property("doubled", lazy: { $0.$doubled }, from: ["count"]) { $0.count * 2 }
  }
  let observation = ModelObservation(.threadSafe)
  private var stored = (count: 0, name: "", next: Tally?.none)
  private let probe: SharedProbe?
  @Lazy var doubled: Int

  init(probe: SharedProbe? = nil) {
    self.probe = probe
    probe?.add(1)
  }

  deinit { probe?.add(-1) }

  var count: Int {
    get {
      observation.access(0, of: self)
      return observation.locked { stored.count }
    }
    set {
      let old = observation.locked {
        defer { stored.count = newValue }
        return stored.count
      }
      observation.didSet(0, of: self, from: old, to: newValue)
    }
  }
  var name: String {
    get { observation.locked { stored.name } }
    set {
      let old = observation.locked {
        defer { stored.name = newValue }
        return stored.name
      }
      observation.didSet(1, of: self, from: old, to: newValue)
    }
  }
  var next: Tally? {
    get { observation.locked { stored.next } }
    set {
      let old = observation.locked {
        defer { stored.next = newValue }
        return stored.next
      }
      observation.didSet(2, of: self, from: old, to: newValue)
    }
  }

  func increment() {
    let old = observation.locked {
      defer { stored.count += 1 }
      return stored.count
    }
    observation.didSet(0, of: self, from: old, to: old + 1)
  }
}

/// Counts live objects, on any thread.
final class SharedProbe: Sendable {
  private let count = Shared(0)
  var alive: Int { count.withLock { $0 } }
  func add(_ number: Int) { count.withLock { $0 += number } }
}
