import TestSupport

/// Makes random programs, without features that the rules leave open.
struct ModelGenerator {
  private var random: SeededGenerator
  private var depth = 0
  /// The watchers by their numbers, without their paths.
  private var watchers: [Registration] = []

  private var hasLazies = true
  private var hasImmediates = true
  private var hasTransactions = false
  /// Whether a program follows whole trees.
  private enum Trees { case none, copies, history }
  private var trees = Trees.none
  private var hasHistory = false
  /// A thing that most edits and watchers of the program are about.
  private var focus: Int?
  private var links: [String] { trees == .copies ? Part.treeLinks : Part.links }

  init(seed: Int) {
    random = SeededGenerator(seed: seed)
    hasLazies = !chance(3)
    trees = pick([.none, .none, .copies, .copies, .history])
    hasTransactions = chance(4)
    // The order of calls for a rollback is unspecified.
    hasImmediates = !hasTransactions && !chance(3)
    if chance(2) { focus = number(ThingKind.world.count) }
  }

  mutating func program(_ count: Int) -> [Statement] {
    var program: [Statement] = [.flush]
    // Things are connected from the start.
    for part in ThingKind.parts {
      program.append(.assign(part, "x", .int(number(3))))
      program.append(.assign(part, pick(Part.links), .none))
      for _ in 0..<2 { program.append(link(part)) }
      if trees != .none {
        program.append(.assign(part, "items", .thing(pick(ThingKind.numbers(.array)))))
      }
    }
    for collection in ThingKind.collections {
      program.append(.edit(collection, edit(of: collection)))
    }
    for _ in 0..<4 + number(8) { program.append(.observe(registration())) }
    for _ in 0..<count { program.append(statement()) }
    return program
  }

  private mutating func number(_ limit: Int) -> Int { .random(in: 0..<limit, using: &random) }
  private mutating func chance(_ of: Int) -> Bool { number(of) == 0 }
  private mutating func pick<Element>(_ list: [Element]) -> Element {
    list.randomElement(using: &random)!
  }
  private mutating func part() -> Int { number(ThingKind.parts.count) }
  private mutating func collection() -> Int {
    if let focus, ThingKind.collections.contains(focus), !chance(4) { return focus }
    return .random(in: ThingKind.collections, using: &random)
  }
  /// An element for an edit.
  private mutating func element(of kind: ThingKind) -> Int {
    [.array, .map, .set].contains(kind) && chance(8) ? -1 : part()
  }
  private mutating func elements(of kind: ThingKind) -> [Int] {
    (0..<number(5)).map { _ in element(of: kind) }
  }

  // MARK: Statements

  private mutating func statement() -> Statement {
    if let focus, ThingKind.collections.contains(focus), chance(2) {
      return .edit(focus, edit(of: focus))
    }
    switch number(trees == .none && !hasTransactions ? 64 : 74) {
    case 0..<12: return .assign(part(), chance(3) ? "y" : "x", .int(number(4)))
    case 12..<19: return link(part())
    case 19..<28:
      let collection = collection()
      return .edit(collection, edit(of: collection))
    case 28..<31 where hasLazies:
      // The reference does not know which writes may change an operator, and so end an assignment
      // to a property that depends on it (Z5).
      let name = pick(["total", "leader", "choice"])
      if name == "leader" { return .assign(part(), name, chance(4) ? .none : .thing(part())) }
      return .assign(part(), name, .int(100 + number(3)))
    case 31..<33 where hasLazies: return .invalidate(part(), pick(Part.lazies))
    case 33..<36 where hasLazies: return .read(part(), pick(Part.lazies))
    case 36:
      let root = thing()
      return .read(root, kept(pick(singles(of: ThingKind.world[root]))))
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
    case 64... where hasTransactions && (trees == .none || chance(2)): return transaction()
    case 64... where depth == 0: return step()
    default: return .assign(part(), "x", .int(number(4)))
    }
  }

  private mutating func transaction() -> Statement {
    let body = (0..<1 + number(5)).map { _ -> Statement in
      switch number(10) {
      case 0..<3: return .assign(part(), pick(["x", "y"]), .int(number(4)))
      case 3..<5: return link(part())
      case 5 where hasLazies: return .assign(part(), "total", .int(100 + number(3)))
      case 6 where hasLazies: return .read(part(), pick(Part.lazies))
      case 7 where depth < 3:
        depth += 1
        defer { depth -= 1 }
        return transaction()
      default:
        let collection = collection()
        return .edit(collection, edit(of: collection))
      }
    }
    return .transaction(body, fails: chance(2))
  }

  /// A step of a program with copies, or with a history.
  private mutating func step() -> Statement {
    if trees == .history {
      if hasHistory, !chance(12) { return chance(3) ? .redo : .undo }
      hasHistory = true
      return .record(part())
    }
    if chance(4) { return .copy(part()) }
    let writes = (0..<1 + number(3)).map { _ in writeBelow() }
    return .writeCopy(number(3), writes)
  }

  /// An edit of something below the root of a copy.
  private mutating func writeBelow() -> (path: String, edit: Edit) {
    let part = pick(["", "", "child.", "child.child.", "items.#0.", "items.#1.child.", "map.k."])
    let kinds: [(String, ThingKind)] = [
      ("", .part), ("", .part), ("items", .array), ("items", .array), ("map", .map),
      ("counts", .counts), ("marks", .marks),
    ]
    let (name, kind) = pick(kinds)
    if kind == .part {
      let edit = chance(2) ? Edit.put("x", number(4)) : .put("child", pick([nil, -1, 0]))
      return (String(part.dropLast()), edit)
    }
    let edit = edit(of: kind)
    switch edit {
    // A copy does not know the numbers of parts.
    case .sort, .removeEven: return (part + name, .reverse)
    default: return (part + name, edit)
    }
  }

  private mutating func link(_ part: Int) -> Statement {
    let name = pick(links + ["child", "items", "child"])
    if chance(6) { return .assign(part, name, .none) }
    let kinds: [String: ThingKind] = [
      "child": .part, "peer": .part, "items": .array, "map": .map, "group": .set,
      "counts": .counts, "marks": .marks,
    ]
    if name == "child", chance(8) { return .assign(part, name, .thing(-1)) }
    return .assign(part, name, .thing(pick(ThingKind.numbers(kinds[name]!))))
  }

  private mutating func edit(of collection: Int) -> Edit {
    edit(of: ThingKind.world[collection])
  }

  private mutating func edit(of kind: ThingKind) -> Edit {
    switch kind {
    case .array:
      switch number(20) {
      case 14: return .splice(number(8), number(4), elements(of: kind))
      case 15: return .splice(number(8), number(4), [])
      case 16: return .removeLast
      case 17: return .removeEven
      case 0..<3: return .insert(element(of: kind), at: number(8))
      case 3..<5: return .remove(number(8))
      case 5..<7: return .replace(number(8), element(of: kind))
      case 7: return .swap(number(8), number(8))
      case 8, 18, 19: return .move(number(8), number(8))
      case 9: return .sort
      case 10: return .reverse
      case 11: return chance(2) ? .clear : .remove(0)
      case 12: return .become(elements(of: kind))
      default: return .add(elements(of: kind))
      }
    case .map, .counts:
      switch number(8) {
      case 0: return .clear
      case 1: return .merge(["k": part(), "x": part()])
      default: return .put(pick(["k", "l", "x", "count"]), chance(4) ? nil : element(of: kind))
      }
    default:
      let parts = (0..<number(5)).map { _ in part() }
      switch number(10) {
      case 8: return .intersect(parts)
      case 9: return .toggle(parts)
      case 0: return .clear
      case 1: return .become(elements(of: kind))
      case 2, 3: return .subtract(chance(2) ? [part()] : parts)
      case 4: return .add(elements(of: kind))
      default: return .add([element(of: kind)])
      }
    }
  }

  private mutating func registration() -> Registration {
    let isComparing = chance(8)
    var watcher = Registration(id: watchers.count, root: isComparing ? part() : thing(), paths: [])
    watcher.isImmediate = hasImmediates && chance(2)
    watcher.isInitial = chance(7)
    watcher.isOnce = chance(7)
    if isComparing { watcher.comparison = pick([.nothing, .everything, .parity]) }
    if chance(8) {
      let root = collection()
      watcher = Registration(id: watchers.count, root: root, paths: [], receivesEdits: true)
    } else {
      let count = chance(3) ? 2 + number(2) : 1
      watcher.paths = (0..<count).map { _ in path(for: watcher) }
    }
    watchers.append(watcher)
    if depth < 2, chance(2) {
      depth += 1
      watcher.body = (0..<1 + number(2)).map { _ in statement() }
      depth -= 1
      watcher.times = pick([1, 2, 3, 20])
    }
    return watcher
  }

  private mutating func order() -> Statement {
    let id = number(watchers.count)
    switch watchers[id].receivesEdits ? number(6) : number(9) {
    case 0: return .tell(id, .stop)
    case 1, 2: return .tell(id, .pause)
    case 3..<6: return .tell(id, .resume)
    case 6: return .tell(id, .schedule)
    case 7: return .tell(id, .run)
    default: return .tell(id, .observe(path(for: watchers[id])))
    }
  }

  // MARK: Paths

  private mutating func thing() -> Int {
    if let focus, !chance(4) { return focus }
    return chance(3) ? collection() : part()
  }

  private mutating func path(for watcher: Registration) -> String {
    // The values of `equals` for an immediate watcher of several computed values are unspecified.
    if watcher.comparison != nil {
      return pick(["x", "y", "child", "child.x", "child.child.y"])
    }
    if ThingKind.world[watcher.root] == .array, !watcher.isImmediate, chance(4) {
      return "\(number(4))" + (chance(2) ? "" : ".x")
    }
    if ThingKind.world[watcher.root] == .set, chance(4) {
      return "&\(part())" + (chance(2) ? "" : "." + path(from: part()))
    }
    if ThingKind.world[watcher.root] == .marks, chance(3) { return "&\(part())" }
    return path(from: watcher.root)
  }

  private mutating func path(from root: Int) -> String {
    var length = 0
    return kept(path(from: ThingKind.world[root], &length))
  }

  /// The path without lazy properties, in a program without them.
  private func kept(_ path: String) -> String {
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
      switch number(20) {
      case 19: return "counts." + path(from: .counts, &length)
      case 18: return "marks." + path(from: .marks, &length)
      case 17: return "peer." + path(from: .part, &length)
      case 0..<3: return pick(["x", "x", "y", "child"])
      case 3, 4: return pick(Part.lazies)
      case 5:
        // When `*` at the end of a path computes properties that were valid once is unspecified.
        if hasLazies { return "y" }
        return chance(4) ? "*" : "*." + path(from: .part, &length)
      case 6..<9: return "child." + path(from: .part, &length)
      case 9, 10: return "leader." + path(from: .part, &length)
      case 11..<14: return "items." + path(from: .array, &length)
      case 14: return "map." + path(from: .map, &length)
      case 15: return "group." + path(from: .set, &length)
      default: return pick(Part.links)
      }
    case .array:
      switch number(8) {
      case 0: return "#\(number(5))"
      case 1: return "#\(number(5))." + path(from: .part, &length)
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
    case .counts: return pick(["*", "count", "k", "x"] + singles(of: kind))
    case .marks: return pick(["*", "count"] + singles(of: kind))
    }
  }

  /// Paths with one value.
  private func singles(of kind: ThingKind) -> [String] {
    let operators = [
      "@count", "@sum.x", "@max.y", "@min.x", "@sum.total", "@max.child.x", "@sum.items.@count",
      "@distinctUnionOfObjects.x", "@distinctUnionOfObjects.leader", "@max.items.@sum.total",
      "@any", "@any.child", "@all.child",
    ]
    let numeric = ["@count", "@sum", "@min", "@max", "@distinctUnionOfObjects", "@any"]
    return switch kind {
    case .part:
      [
        "child.x", "child.deep", "leader.x", "items.@sum.x", "items.#1.x", "map.k.load",
        "group.count",
      ]
    case .array: operators + ["@first", "@last", "@last.x", "#0.deep"]
    case .map: operators + ["k", "x.total"]
    case .set: operators
    case .counts: numeric + ["k", "x"]
    case .marks: numeric
    }
  }
}
