import Observables

/// The object of random programs over models: stored properties of all kinds, and lazy properties
/// that depend on them, on elements of collections and on each other.
final class Part: ObservableModel, Hashable, Decodable {
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
    Property("peer", get: { $0.peer }, set: { $0.peer = $1 })
    Property("counts", get: { $0.counts }, set: { $0.counts = $1 })
    Property("marks", get: { $0.marks }, set: { $0.marks = $1 })
  }
  static let treeLinks = ["child", "items", "map", "counts", "marks"]
  static let links = treeLinks + ["group", "peer"]
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
  weak var peer: Part? { didSet { observation.didSet(11, from: oldValue, to: peer) } }
  @Observed(12) var counts: ObservableDictionary<String, Int>? = nil
  @Observed(13) var marks: ObservableSet<Int>? = nil

  init(x: Int = 0) { self.x = x }

  /// What the changes of a tree contain of an object.
  private enum CodingKeys: CodingKey { case x, y, child, items, map, counts, marks }

  init(from decoder: any Decoder) throws {
    let data = try decoder.container(keyedBy: CodingKeys.self)
    (x, y) = (try data.decode(Int.self, forKey: .x), try data.decode(Int.self, forKey: .y))
    child = try data.decodeIfPresent(Part.self, forKey: .child)
    items = try data.decodeIfPresent(ObservableArray<Part>.self, forKey: .items)
    map = try data.decodeIfPresent(ObservableDictionary<String, Part>.self, forKey: .map)
    counts = try data.decodeIfPresent(
      ObservableDictionary<String, Int>.self, forKey: .counts)
    marks = try data.decodeIfPresent(ObservableSet<Int>.self, forKey: .marks)
  }

  static func == (a: Part, b: Part) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// MARK: Trees

extension Part {
  /// All parts that can be reached by what changes of a tree contain.
  var reachable: [Part] {
    var (found, work): ([Part], [Part]) = ([], [self])
    while let part = work.popLast() {
      if found.contains(part) { continue }
      found.append(part)
      work += [part.child].compactMap(\.self) + (part.items ?? [])
      work += part.map?.values.map(\.self) ?? []
    }
    return found
  }

  var holdsObjects: Bool {
    child != nil || items != nil || map != nil || counts != nil || marks != nil
  }

  /// The tree as text.
  var outline: String {
    func field(_ object: (some AnyObject)?) -> TreeField<Reference> {
      object.map { .node(Reference(object: $0)) } ?? .text("nil")
    }
    return treeOutline(of: Reference(object: self)) { reference in
      switch reference.object {
      case let part as Part:
        [
          ("x", .text("\(part.x)")), ("y", .text("\(part.y)")), ("child", field(part.child)),
          ("items", field(part.items)), ("map", field(part.map)),
          ("counts", field(part.counts)), ("marks", field(part.marks)),
        ]
      case let array as ObservableArray<Part>: array.map { ("", field($0)) }
      case let map as ObservableDictionary<String, Part>:
        map.map { ($0.key, field($0.value)) }.sorted { $0.0 < $1.0 }
      case let counts as ObservableDictionary<String, Int>:
        counts.map { ($0.key, .text("\($0.value)")) }.sorted { $0.0 < $1.0 }
      case let marks as ObservableSet<Int>: marks.sorted().map { ("", .text("\($0)")) }
      default: []
      }
    }
  }

  private struct Reference: Hashable {
    let object: AnyObject
    static func == (a: Reference, b: Reference) -> Bool { a.object === b.object }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
  }

  /// Cuts the references to other parts, which may form rings.
  func release() {
    (child, items, map, group) = (nil, nil, nil, nil)
    leader = nil
  }
}
