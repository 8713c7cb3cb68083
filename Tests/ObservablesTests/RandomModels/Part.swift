import Observables

/// What random programs over models are made of: stored properties of all kinds, and lazy ones that
/// depend on them, on elements of collections and on each other.
final class Part: ObservableModel, Hashable {
  static let properties = ModelProperties(for: Part.self) {
    Property("x", get: { $0.x }, set: { $0.x = $1 })
    Property("y", get: { $0.y }, set: { $0.y = $1 })
    Property("child", get: { $0.child }, set: { $0.child = $1 })
    Property("items", get: { $0.items }, set: { $0.items = $1 })
    Property("map", get: { $0.map }, set: { $0.map = $1 })
    Property("group", get: { $0.group }, set: { $0.group = $1 })
    Property("total", lazy: { $0.$total }, from: ["x", "child.x"]) { $0.x + ($0.child?.x ?? 0) }
    Property("load", lazy: { $0.$load }, from: ["y", "items.@sum.x"]) { part in
      part.y + (part.items ?? []).reduce(0) { $0 + $1.x }
    }
    Property("leader", lazy: { $0.$leader }, from: ["y", "child", "items.#0"]) { part in
      part.y > 1 ? part.child : part.items?.first
    }
    Property("deep", lazy: { $0.$deep }, from: ["total", "leader.load", "items.*.total"]) { part in
      part.total + (part.leader?.load ?? 0) + (part.items ?? []).reduce(0) { $0 + $1.total }
    }
    Property("choice", tracked: { $0.$choice }) { part in
      part.x > 1 ? part.child?.total ?? 0 : part.y
    }
  }
  static let links = ["child", "items", "map", "group"]
  static let lazies = ["total", "load", "leader", "deep", "choice"]
  static let tracked = "choice"
  static let dependencies = [
    "total": ["x", "child.x"], "load": ["y", "items.@sum.x"], "choice": [],
    "leader": ["y", "child", "items.#0"], "deep": ["total", "leader.load", "items.*.total"],
  ]

  let observation = ModelObservation()
  var x: Int {
    get {
      observation.access(0, of: self)
      return storedX
    }
    set {
      let old = storedX
      storedX = newValue
      observation.didSet(0, from: old, to: newValue)
    }
  }
  var y: Int {
    get {
      observation.access(1, of: self)
      return storedY
    }
    set {
      let old = storedY
      storedY = newValue
      observation.didSet(1, from: old, to: newValue)
    }
  }
  var child: Part? {
    get {
      observation.access(2, of: self)
      return storedChild
    }
    set {
      let old = storedChild
      storedChild = newValue
      observation.didSet(2, from: old, to: newValue)
    }
  }
  var items: ObservableArray<Part>? { didSet { observation.didSet(3, from: oldValue, to: items) } }
  var map: ObservableDictionary<String, Part>? {
    didSet { observation.didSet(4, from: oldValue, to: map) }
  }
  var group: ObservableSet<Part>? { didSet { observation.didSet(5, from: oldValue, to: group) } }
  @Lazy var total: Int
  @Lazy var load: Int
  @Lazy var leader: Part?
  @Lazy var deep: Int
  @Lazy var choice: Int

  private var storedX = 0
  private var storedY = 0
  private var storedChild: Part?

  static func == (a: Part, b: Part) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
