import Observables

/// The object of random programs over models: stored properties of all kinds, and lazy properties
/// that depend on them, on elements of collections and on each other.
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
  @Observed(0) var x = 0
  @Observed(1) var y = 0
  @Observed(2) var child: Part? = nil
  @Observed(3) var items: ObservableArray<Part>? = nil
  @Observed(4) var map: ObservableDictionary<String, Part>? = nil
  @Observed(5) var group: ObservableSet<Part>? = nil
  @Lazy var total: Int
  @Lazy var load: Int
  @Lazy var leader: Part?
  @Lazy var deep: Int
  @Lazy var choice: Int

  static func == (a: Part, b: Part) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
