import Observables
import Testing

/// Properties that are the entries of a store (Z6).
@Suite struct DictionaryModelTests {
  /// A store that logs its uses.
  private final class Disk {
    var values: [String: Int]
    var log: [String] = []
    var isBroken = false

    init(_ values: [String: Int] = [:]) { self.values = values }

    func model() -> DictionaryModel<Int> {
      DictionaryModel(
        load: { name in
          self.log.append("load \(name)")
          if self.isBroken { throw Failure() }
          return self.values[name]
        },
        store: { name, value in
          self.log.append("store \(name)")
          self.values[name] = value
        })
    }
  }

  private struct Failure: Error, Equatable {}

  @Test func `a property is loaded when it is read for the first time`() {
    let disk = Disk(["zoom": 2])
    let settings = disk.model()
    #expect(disk.log == [] && !settings.isValid("zoom") && settings.peek("zoom") == nil)
    #expect(settings.zoom == 2 && settings["zoom"] == 2)
    #expect(disk.log == ["load zoom"] && settings.validNames == ["zoom"])
    // Z1: nil can be valid.
    #expect(settings.theme == nil && settings.theme == nil)
    #expect(disk.log == ["load zoom", "load theme"] && settings.isValid("theme"))
  }

  @Test func `assignments are written through, and not loaded again`() {
    let disk = Disk()
    let settings = disk.model()
    settings.zoom = 3
    #expect(disk.values == ["zoom": 3] && settings.zoom == 3)
    settings.zoom = nil
    #expect(disk.values == [:] && settings.zoom == nil)
    #expect(disk.log == ["store zoom", "store zoom"])
  }

  @Test func `after an invalidation the store is asked again`() {
    let disk = Disk(["zoom": 2, "size": 1])
    let settings = disk.model()
    #expect(settings.zoom == 2 && settings.size == 1)
    disk.values = ["zoom": 5, "size": 6]
    settings.invalidate("zoom")
    #expect(settings.zoom == 5 && settings.size == 1)
    settings.invalidate()
    #expect(settings.invalidNames == ["size", "zoom"] && settings.size == 6)
  }

  @Test func `watchers are called when a property has another value`() throws {
    let (loop, disk) = (Loop(), Disk(["zoom": 2]))
    let settings = disk.model()
    var calls: [Int?] = []
    try loop.turn {
      try settings.observe("zoom") { calls.append($0.zoom) }
      #expect(disk.log == ["load zoom"])
    }
    loop.turn { settings.zoom = 3 }
    loop.turn { settings.zoom = 3 }
    loop.turn { settings.size = 3 }
    #expect(calls == [3])
    // Z4: an invalidation is no change by itself.
    loop.turn { settings.invalidate("zoom") }
    #expect(calls == [3])
    disk.values["zoom"] = 4
    loop.turn {
      settings.invalidate("zoom")
      settings.invalidate("zoom")
    }
    #expect(calls == [3, 4] && disk.log.filter { $0 == "load zoom" }.count == 3)
    #expect(settings.observedKeys == ["zoom"])
  }

  @Test func `immediate watchers receive name and values`() throws {
    let (loop, disk) = (Loop(), Disk(["zoom": 2]))
    let settings = disk.model()
    var log: [String] = []
    try loop.turn {
      try settings.observeImmediately("zoom") { _, change in
        log.append("\(change.key) \(change.old ?? "nil") \(change.new ?? "nil")")
      }
    }
    loop.turn { settings.zoom = 3 }
    loop.turn { settings.other = 1 }
    #expect(log == ["zoom 2 3"])
  }

  @Test func `'*' reports every property`() throws {
    let (loop, settings) = (Loop(), Disk(["zoom": 2]).model())
    var calls = 0
    try loop.turn { try settings.observe("*") { _ in calls += 1 } }
    loop.turn { settings.zoom = 3 }
    loop.turn { settings.zoom = 3 }
    loop.turn { settings.other = 1 }
    #expect(calls == 2)
  }

  @Test func `changes of an observable dictionary are reported`() throws {
    let loop = Loop()
    let store = ObservableDictionary(["zoom": 2])
    let settings = DictionaryModel(store)
    var calls: [Int?] = []
    try loop.turn {
      #expect(settings.zoom == 2 && settings.isValid("zoom"))
      store["zoom"] = 3
      #expect(!settings.isValid("zoom") && settings.zoom == 3)
      try settings.observe("zoom") { calls.append($0.zoom) }
    }
    loop.turn { store["zoom"] = 4 }
    loop.turn { settings.zoom = 5 }
    #expect(calls == [4, 5] && store["zoom"] == 5)
    loop.turn { store.removeAll() }
    #expect(calls == [4, 5, nil])
  }

  @Test func `without a loop an observable dictionary is asked each time`() {
    let store = ObservableDictionary(["zoom": 2])
    let settings = DictionaryModel(store)
    #expect(settings.zoom == 2)
    store["zoom"] = 3
    #expect(settings.zoom == 3)
  }

  @Test func `paths continue through the values`() throws {
    let loop = Loop()
    let people = DictionaryModel<Person>(load: { Person($0) }, store: { _, _ in })
    var calls: [String?] = []
    try loop.turn { try people.observe("ada.name") { calls.append($0.ada?.name) } }
    loop.turn { people.ada?.name = "Grace" }
    loop.turn { people.ada = Person("Eve") }
    loop.turn { people.ada?.name = "Zoe" }
    #expect(calls == ["Grace", "Eve", "Zoe"])
  }

  @Test func `properties of a model may depend on a dictionary model`() {
    let loop = Loop()
    let disk = Disk(["zoom": 2])
    let view = View(disk.model())
    loop.turn {
      #expect(view.declared == 20 && view.tracked == 20)
      view.settings.zoom = 3
      #expect(!view.$declared.isValid && !view.$tracked.isValid)
      #expect(view.declared == 30 && view.tracked == 30)
      disk.values["zoom"] = 4
      view.settings.invalidate("zoom")
      #expect(view.declared == 40 && view.tracked == 40)
    }
  }

  private final class View: ObservableModel {
    static let properties = ModelProperties(for: View.self) {
      Property("settings", get: { $0.settings })
      Property("declared", lazy: { $0.$declared }, from: ["settings.zoom"]) {
        ($0.settings.zoom ?? 0) * 10
      }
      Property("tracked", tracked: { $0.$tracked }) { ($0.settings.zoom ?? 0) * 10 }
    }
    let observation = ModelObservation()
    let settings: DictionaryModel<Int>
    @Lazy var declared: Int
    @Lazy var tracked: Int
    init(_ settings: DictionaryModel<Int>) { self.settings = settings }
  }

  @Test func `a failed load throws to its callers, and is tried again`() {  // Z8
    let disk = Disk(["zoom": 2])
    let settings = disk.model()
    disk.isBroken = true
    #expect(throws: Failure.self) { try settings.get("zoom") }
    #expect(settings.zoom == nil && !settings.isValid("zoom"))
    disk.isBroken = false
    #expect(settings.zoom == 2)
    disk.isBroken = true
    settings.invalidate()
    #expect(settings.zoom == 2 && !settings.isValid("zoom"))
  }

  @Test func `a load that reads its own property is a cycle, observed or not`() throws {  // Z6, Z11
    final class Mirror {
      weak var model: DictionaryModel<Int>?
    }
    for isObserved in [false, true] {
      let (loop, mirror) = (Loop(), Mirror())
      let settings = DictionaryModel<Int>(
        load: { name in name == "far" ? 1 : try mirror.model?.get(name == "zoom" ? "zoom" : "far")
        },
        store: { _, _ in })
      mirror.model = settings
      loop.onError = { _ in }
      try loop.turn {
        if isObserved { try settings.observe("zoom") { _ in } }
        #expect(throws: LazyError.cycle(names: ["zoom", "zoom"])) { try settings.get("zoom") }
        #expect(settings.zoom == nil)
        // Reading another property works.
        #expect(settings.near == 1)
      }
    }
  }

  @Test func `a cycle is named in full if only the running loader meets it`() throws {
    final class Reader: ObservableModel {
      static let properties = ModelProperties(for: Reader.self) {
        Property("zoom", tracked: { $0.$zoom }) { try $0.settings?.get("zoom") }
      }
      let observation = ModelObservation()
      weak var settings: DictionaryModel<Int>?
      @Lazy var zoom: Int?
    }
    let (loop, reader) = (Loop(), Reader())
    let settings = DictionaryModel<Int>(
      load: { _ in try reader.$zoom.get() }, store: { _, _ in })
    loop.onError = { _ in }
    try loop.turn {  // Z6
      try reader.observe("zoom") { _ in }
      reader.settings = settings
      reader.$zoom.invalidate()
      #expect(throws: LazyError.cycle(names: ["zoom", "zoom"])) { try settings.get("zoom") }
    }
  }

  @Test func `any name is a property, even 'count'`() throws {
    let (loop, disk) = (Loop(), Disk(["count": 7, "a.b": 1]))
    let settings = disk.model()
    var calls = 0
    try loop.turn {
      try settings.observe("count") { _ in calls += 1 }
      try settings.observe(Path(.key("a.b"))) { _ in calls += 1 }
      #expect(throws: PathError.self) { try settings.observe("#1") { _ in } }
    }
    loop.turn { settings.other = 1 }
    #expect(calls == 0)
    loop.turn { settings["count"] = 8 }
    loop.turn { settings["a.b"] = 8 }
    #expect(calls == 2)
  }

  @Test func `a dictionary model is released with its watchers`() throws {
    let loop = Loop()
    let store = ObservableDictionary(["zoom": 2])
    weak var gone: DictionaryModel<Int>?
    try loop.turn {
      let settings = DictionaryModel(store)
      gone = settings
      try settings.observe("zoom") { _ in }
      settings.zoom = 3
    }
    loop.flush()
    #expect(gone == nil && store.observedKeys == [])
    loop.turn { store["zoom"] = 4 }
  }
}
