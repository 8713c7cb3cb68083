import TestSupport

/// Makes random programs, without features that the rules leave open.
struct ModelGenerator {
  private var random: SeededGenerator
  private var depth = 0
  /// The roots of the watchers, by their numbers, and whether they have their own comparison.
  private var watchers: [(root: Int, isComparing: Bool)] = []

  private var hasLazies = true
  private var hasImmediates = true

  init(seed: Int) {
    random = SeededGenerator(seed: seed)
    hasLazies = !chance(3)
    hasImmediates = !chance(3)
  }

  mutating func program(_ count: Int) -> [Statement] {
    var program: [Statement] = [.flush]
    // Things are connected from the start.
    for part in ThingKind.parts {
      program.append(.assign(part, "x", .int(number(3))))
      program.append(.assign(part, pick(Part.links), .none))
      for _ in 0..<2 { program.append(link(part)) }
    }
    for collection in ThingKind.parts.upperBound..<ThingKind.world.count {
      program.append(.edit(collection, edit(of: collection)))
    }
    for _ in 0..<4 { program.append(.observe(registration())) }
    for _ in 0..<count { program.append(statement()) }
    return program
  }

  private mutating func number(_ limit: Int) -> Int { .random(in: 0..<limit, using: &random) }
  private mutating func chance(_ of: Int) -> Bool { number(of) == 0 }
  private mutating func pick<Element>(_ list: [Element]) -> Element {
    list.randomElement(using: &random)!
  }
  private mutating func part() -> Int { number(ThingKind.parts.count) }
  private mutating func parts() -> [Int] { (0..<number(4)).map { _ in part() } }

  // MARK: Statements

  private mutating func statement() -> Statement {
    switch number(64) {
    case 0..<12: return .assign(part(), chance(3) ? "y" : "x", .int(number(4)))
    case 12..<19: return link(part())
    case 19..<28:
      let collection = ThingKind.parts.upperBound + number(7)
      return .edit(collection, edit(of: collection))
    case 28..<31 where hasLazies:
      // The reference does not know which writes may change an operator, and so end an assignment
      // to a property that depends on it (Z5).
      let name = pick(["total", "leader", "choice"])
      if name == "leader" { return .assign(part(), name, chance(4) ? .none : .thing(part())) }
      return .assign(part(), name, .int(100 + number(3)))
    case 31..<33 where hasLazies: return .invalidate(part(), pick(Part.lazies))
    case 33..<36 where hasLazies: return .read(part(), pick(Part.lazies))
    case 36 where hasLazies:
      let root = thing()
      let path = pick(singles(of: ThingKind.world[root]))
      return .read(root, path)
    // A property that depends on no computed value: it is open when other properties become
    // invalid.
    case 37 where hasLazies: return .peek(part(), "total")
    case 38..<50: return .observe(registration())
    case 50..<56 where !watchers.isEmpty: return order()
    case 56:
      let root = thing()
      let path = path(from: root)
      return .stopObserving(root, path)
    case 57,
      58 where depth < 3:
      depth += 1
      defer { depth -= 1 }
      return .batch((0..<1 + number(4)).map { _ in statement() })
    case 59..<64 where depth == 0: return chance(3) ? .endTurn : .flush
    default: return .assign(part(), "x", .int(number(4)))
    }
  }

  private mutating func link(_ part: Int) -> Statement {
    let name = pick(Part.links + ["child", "items", "child"])
    if chance(6) { return .assign(part, name, .none) }
    let kinds: [String: ThingKind] = ["child": .part, "items": .array, "map": .map, "group": .set]
    return .assign(part, name, .thing(pick(ThingKind.numbers(kinds[name]!))))
  }

  private mutating func edit(of collection: Int) -> Edit {
    switch ThingKind.world[collection] {
    case .array:
      switch number(14) {
      case 0..<3: return .insert(part(), at: number(6))
      case 3..<5: return .remove(number(6))
      case 5..<7: return .replace(number(6), part())
      case 7: return .swap(number(6), number(6))
      case 8: return .move(number(6), number(6))
      case 9: return .sort
      case 10: return .reverse
      case 11: return chance(2) ? .clear : .remove(0)
      case 12: return .become(parts())
      default: return .add(parts())
      }
    case .map:
      switch number(8) {
      case 0: return .clear
      case 1: return .merge(["k": part(), "x": part()])
      default: return .put(pick(["k", "l", "x"]), chance(4) ? nil : part())
      }
    default:
      switch number(8) {
      case 0: return .clear
      case 1: return .become(parts())
      case 2, 3: return .subtract([part()] + parts())
      case 4: return .add(parts())
      default: return .add([part()])
      }
    }
  }

  private mutating func registration() -> Registration {
    let id = watchers.count
    let isComparing = chance(8)
    let root = isComparing ? part() : thing()
    watchers.append((root, isComparing))
    let count = chance(3) ? 2 + number(2) : 1
    var watcher = Registration(id: id, root: root, paths: (0..<count).map { _ in path(for: id) })
    watcher.isImmediate = hasImmediates && chance(2)
    watcher.isInitial = chance(7)
    watcher.isOnce = chance(7)
    if isComparing { watcher.comparison = pick([.nothing, .everything, .parity]) }
    if depth < 2, chance(2) {
      depth += 1
      watcher.body = (0..<1 + number(2)).map { _ in statement() }
      depth -= 1
      watcher.times = 1 + number(3)
    }
    return watcher
  }

  private mutating func order() -> Statement {
    let id = number(watchers.count)
    switch number(9) {
    case 0: return .tell(id, .stop)
    case 1, 2: return .tell(id, .pause)
    case 3..<6: return .tell(id, .resume)
    case 6: return .tell(id, .schedule)
    case 7: return .tell(id, .run)
    default: return .tell(id, .observe(path(for: id)))
    }
  }

  // MARK: Paths

  private mutating func thing() -> Int {
    chance(3) ? ThingKind.parts.upperBound + number(7) : part()
  }

  private mutating func path(for watcher: Int) -> String {
    // The values of `equals` for an immediate watcher of several computed values are unspecified.
    if watchers[watcher].isComparing {
      return pick(["x", "y", "child", "child.x", "child.child.y"])
    }
    return path(from: watchers[watcher].root)
  }

  private mutating func path(from root: Int) -> String {
    var length = 0
    let path = path(from: ThingKind.world[root], &length)
    if hasLazies { return path }
    let others = ["total": "x", "load": "y", "leader": "child", "deep": "x", "choice": "y"]
    return path.split(separator: ".").map { others[String($0)] ?? String($0) }.joined(
      separator: ".")
  }

  private mutating func path(from kind: ThingKind, _ length: inout Int) -> String {
    length += 1
    if length > 4 { return kind == .part ? "x" : "*" }
    switch kind {
    case .part:
      switch number(17) {
      case 0..<3: return pick(["x", "x", "y", "child"])
      case 3, 4: return pick(Part.lazies)
      case 5:
        // When `*` at the end of a path computes properties that were valid once is unspecified.
        if hasLazies { return "y" }
        return pick(["*", "*.x", "*.child.x", "*.child"])
      case 6..<9: return "child." + path(from: .part, &length)
      case 9, 10: return "leader." + path(from: .part, &length)
      case 11..<14: return "items." + path(from: .array, &length)
      case 14: return "map." + path(from: .map, &length)
      case 15: return "group." + path(from: .set, &length)
      default: return pick(Part.links)
      }
    case .array:
      switch number(8) {
      case 0: return "#\(number(3))"
      case 1: return "#\(number(3))." + path(from: .part, &length)
      case 2: return pick(["*", "count", "@count"])
      case 3: return "*." + path(from: .part, &length)
      case 4: return pick(["x", "child", "total", "child.x", "leader.y", "items.x"])
      case 5: return pick(["@first.", "@last."]) + path(from: .part, &length)
      default: return pick(singles(of: .array))
      }
    case .map:
      switch number(5) {
      case 0: return pick(["k", "l", "x"])
      case 1: return pick(["k.", "x."]) + path(from: .part, &length)
      case 2: return pick(["*", "count", "@count"])
      case 3: return "*." + path(from: .part, &length)
      default: return pick(singles(of: .map))
      }
    case .set:
      switch number(4) {
      case 0: return pick(["*", "count", "@count"])
      case 1: return "*." + path(from: .part, &length)
      case 2: return pick(["x", "child.x", "total", "leader"])
      default: return pick(singles(of: .set))
      }
    }
  }

  /// Paths with one value.
  private func singles(of kind: ThingKind) -> [String] {
    let operators = [
      "@count", "@sum.x", "@max.y", "@min.x", "@sum.total", "@max.child.x", "@sum.items.@count",
      "@distinctUnionOfObjects.x", "@distinctUnionOfObjects.leader", "@max.items.@sum.total",
    ]
    return switch kind {
    case .part:
      [
        "child.x", "child.deep", "leader.x", "items.@sum.x", "items.#1.x", "map.k.load",
        "group.count",
      ]
    case .array: operators + ["@first", "@last", "@last.x", "#0.deep"]
    case .map: operators + ["k", "x.total"]
    case .set: operators
    }
  }
}
