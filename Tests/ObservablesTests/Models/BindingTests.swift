import Observables
import TestSupport
import Testing

private protocol Titled: ObservableModel {
  var title: String { get set }
  var size: Double { get set }
}

private final class Document: Titled {
  static let properties = ModelProperties(for: Document.self) {
    Property("title", get: { $0.title }, set: { $0.title = $1 })
    Property("size", get: { $0.size }, set: { $0.size = $1 })
    Property("subtitle", get: { $0.subtitle }, set: { $0.subtitle = $1 })
    Property("owner", get: { $0.owner }, set: { $0.owner = $1 })
    Property("half", lazy: { $0.$half }, from: ["size"]) { document in
      if document.size < 0 { throw Negative() }
      return document.size / 2
    }
  }
  struct Negative: Error {}
  let observation = ModelObservation()
  var title = "" { didSet { observation.didSet(0, from: oldValue, to: title) } }
  var size = 0.0 { didSet { observation.didSet(1, from: oldValue, to: size) } }
  var subtitle: String? { didSet { observation.didSet(2, from: oldValue, to: subtitle) } }
  var owner: Person? { didSet { observation.didSet(3, from: oldValue, to: owner) } }
  @Lazy var half: Double = 0
}

private final class Window: Titled {
  static let properties = ModelProperties(for: Window.self) {
    Property("size", get: { $0.size }, set: { $0.size = $1 })
    Property("title", get: { $0.title }, set: { $0.title = $1 })
    Property("subtitle", get: { $0.subtitle }, set: { $0.subtitle = $1 })
    Property("half", get: { $0.half }, set: { $0.half = $1 })
    Property("owner", get: { $0.owner }, set: { $0.owner = $1 })
    Property("fixed", get: { $0.fixed })
  }
  let observation = ModelObservation()
  var size = 0.0 { didSet { observation.didSet(0, from: oldValue, to: size) } }
  var title = "" { didSet { observation.didSet(1, from: oldValue, to: title) } }
  var subtitle = "-" { didSet { observation.didSet(2, from: oldValue, to: subtitle) } }
  var half = 0.0 { didSet { observation.didSet(3, from: oldValue, to: half) } }
  weak var owner: Person? { didSet { observation.didSet(4, from: oldValue, to: owner) } }
  var fixed: Int { 1 }
}

/// K4: properties of one object that follow another object's properties.
struct BindingTests {
  private let loop = Loop(clock: .virtual)
  private let document = Document()
  private let window = Window()

  @Test func `bound properties are equal at once, then once per turn`() throws {
    document.title = "a"
    var titles: [String] = []
    try window.observe("title", in: loop) { titles.append($0.title) }
    try loop.turn { () throws in
      try window.bind(["title", "size"], to: document, in: loop)
      #expect(window.title == "a" && window.size == 0)
    }
    loop.turn {
      document.title = "b"
      document.title = "c"
      document.size = 2
      #expect(window.title == "a")
    }
    #expect(window.title == "c" && window.size == 2)
    #expect(titles == ["a", "c"])
  }

  @Test func `a local value lasts until the source changes`() throws {
    try window.bind(["title", "size"], to: document, in: loop)
    loop.turn { window.title = "local" }
    loop.turn { document.size = 3 }
    #expect(window.title == "local" && window.size == 3)
    // Nothing has changed when the turn ends.
    loop.turn {
      document.title = "x"
      document.title = ""
    }
    #expect(window.title == "local")
    loop.turn { document.title = "new" }
    #expect(window.title == "new")
  }

  @Test func `bindings can form chains and rings`() throws {
    let (second, third) = (Window(), Window())
    try second.bind(["title"], to: window, in: loop)
    try third.bind(["title"], to: second, in: loop)
    try window.bind(["title"], to: document, in: loop)
    loop.turn { document.title = "a" }
    #expect(third.title == "a")
    try document.bind(["title"], to: third, in: loop)
    loop.turn { second.title = "b" }
    #expect([document.title, window.title, second.title, third.title] == ["b", "b", "b", "b"])
  }

  @Test func `unbinding ends that binding alone, and leaves the values`() throws {
    let one = try window.bind(["title"], to: document, in: loop)
    try window.bind(["size"], to: document, in: loop)
    loop.turn { document.title = "a" }
    one.stop()
    loop.turn {
      document.title = "b"
      document.size = 4
    }
    #expect(window.title == "a" && window.size == 4)
  }

  // L3
  @Test func `a binding ends with either object, and keeps neither alive`() throws {
    var other: Window? = Window()
    weak let gone = other
    let watcher = try other!.bind(["title"], to: document, in: loop)
    other = nil
    #expect(gone == nil)
    loop.turn { document.title = "a" }
    #expect(!watcher.isActive)
    var source: Document? = Document()
    weak let goneSource = source
    let second = try window.bind(["title"], to: source!, in: loop)
    source = nil
    #expect(goneSource == nil)
    loop.turn {}
    #expect(!second.isActive)
  }

  @Test func `objects are compared by identity, and not kept alive`() throws {
    try window.bind(["owner"], to: document, in: loop)
    let probe = LifetimeProbe()
    loop.turn { document.owner = Person("one", probe: probe) }
    #expect(window.owner?.name == "one")
    for name in ["two", "three", "four"] {
      loop.turn {
        // The next object may get the address of the previous one.
        document.owner = nil
        document.owner = Person(name, probe: probe)
        #expect(probe.alive == 1)
      }
      #expect(window.owner === document.owner)
    }
    loop.turn { document.owner = nil }
    #expect(window.owner == nil && probe.alive == 0)
  }

  // Z8
  @Test func `a lazy property is bound by its value, and keeps the last value on failure`() throws {
    var errors: [String] = []
    loop.onError = { errors.append("\($0)") }
    document.size = 2
    try window.bind(["half"], to: document, in: loop)
    #expect(window.half == 1)
    loop.turn { document.size = -1 }
    #expect(window.half == 1)
    #expect(errors.count == 1 && errors[0].contains("Negative"))
    loop.turn { document.size = 8 }
    #expect(window.half == 4 && errors.count == 1)
  }

  @Test func `an invalid binding is an error, and binds nothing`() throws {
    func message(_ names: [String], to source: some ObservableModel) -> String {
      do {
        try window.bind(names, to: source, in: loop)
        return "bound"
      } catch { return "\(error)" }
    }
    #expect(message(["titel"], to: document).contains("did you mean 'title'?"))
    #expect(message(["title", "fixed"], to: document).contains("Document has no property 'fixed'"))
    #expect(message(["fixed"], to: Window()).contains("'fixed' of Window is read-only"))
    #expect(message(["subtitle"], to: document).contains("takes String, not nil"))
    #expect(loop.statistics.watchers == 0)
  }

  @Test func `a later value that cannot be set is reported, and the binding continues`() throws {
    var errors: [String] = []
    loop.onError = { errors.append("\($0)") }
    document.subtitle = "s"
    try window.bind(
      ["subtitle", "title"], to: document, in: loop, options: WatcherOptions(name: "titles"))
    loop.turn {
      document.subtitle = nil
      document.title = "t"
    }
    #expect(window.subtitle == "s" && window.title == "t")
    #expect(
      errors == ["property 'subtitle' of Window takes String, not nil, passed on by titles"])
    loop.turn { document.subtitle = "u" }
    #expect(window.subtitle == "u" && errors.count == 1)
  }
}
