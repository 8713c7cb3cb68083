/// The world of a random program as plain data, with a list of watchers (see
/// `ModelReference+Watchers`) and lazy properties (see `ModelReference+Lazies`).
///
/// Nothing is wired: before each change all paths of all watchers and lazy properties are walked to
/// find the affected ones; at the end of a turn they are walked again for computed values.
final class ModelReference {
  enum Key: Hashable { case every, name(String), slot(Int), member(Value) }
  typealias Fields = [Key: Value]

  final class Thing {
    let kind: ThingKind
    /// Properties, slots, entries or members.
    var fields: Fields = [:]
    var lazies: [String: LazyProperty] = [:]

    init(_ kind: ThingKind) { self.kind = kind }

    var isList: Bool { [.array, .set, .marks].contains(kind) }
    /// In the order of slots; the order of entries and members is free.
    var elements: [Value] {
      kind == .array ? (0..<fields.count).map { fields[.slot($0)]! } : Array(fields.values)
    }
  }

  /// The meaning of one step of a path.
  enum Component {
    case every, count, slot(Int), name(String), member(Int)
    /// The object that was at a position of the root when the path was added (C4).
    case element(Int)
    /// An operator, with the components behind it.
    case operation(String, [Component])
  }

  /// A path of one watcher or lazy property.
  final class Route {
    let text: String
    let components: [Component]
    /// The object at the position that the path begins with.
    var anchor: Value?

    init(_ text: String) {
      self.text = text
      components = Self.parse(text.split(separator: ".")[...])
    }

    private static func parse(_ texts: ArraySlice<Substring>) -> [Component] {
      guard let first = texts.first else { return [] }
      let rest = parse(texts.dropFirst())
      switch first {
      case "*": return [.every] + rest
      case "count": return [.count] + rest
      case _ where first.hasPrefix("#"): return [.slot(Int(first.dropFirst())!)] + rest
      case _ where first.hasPrefix("&"): return [.member(Int(first.dropFirst())!)] + rest
      case _ where first.first!.isNumber: return [.element(Int(first)!)] + rest
      case "@first", "@last": return [.operation(String(first), [])] + rest
      case _ where first.hasPrefix("@"): return [.operation(String(first), rest)]
      default: return [.name(String(first))] + rest
      }
    }
  }

  /// A computed value on a path: a lazy property, a size or an operator.
  struct Derived {
    enum Step: Hashable { case component(Int), property(String) }
    enum Source { case lazy(LazyProperty), size(Int), operation(Int, Component) }

    let thing: Int
    let step: Step
    let route: Route?
    let source: Source
    var value = Value.unknown

    /// The name of a lazy property.
    var name: String { if case .lazy(let property) = source { property.name } else { "" } }
    var isLazy: Bool { !name.isEmpty }

    func isSamePlace(as other: Derived) -> Bool {
      thing == other.thing && step == other.step && route === other.route
    }
  }

  /// Everything that a path passes through.
  struct Walk {
    var stored: [(thing: Int, key: Key)] = []
    var derived: [Derived] = []
  }

  private(set) var things = ThingKind.world.map(Thing.init)
  var watchers: [WatcherModel] = []
  var handles: [Int: WatcherModel] = [:]
  /// Pending calls, the outermost list first.
  var lists: [[(watcher: WatcherModel, change: ToldChange?)]] = []
  var batchDepth = 0
  /// The number of watchers registered so far.
  var count = 0
  var log: [ModelEvent] = []
  /// The reads of the running tracked getter.
  var trace: LazyProperty.Trace?
  /// Whether a watcher's path ever contained a lazy property.
  var hasWatchedLazies = false
  /// Whether values are computed without being kept.
  var isSupposing = false
  /// Whether a step of the history is being made: which of its writes comes first is unspecified.
  var isStepping = false
  /// Copies of trees, with what each knows of its tree.
  var copies: [Follower] = []
  /// The tree of the history, and its steps.
  var history: (tree: Follower, done: [Step], undone: [Step])?
  /// Whether later writes of the turn belong to the last step.
  var isStepOpen = false
  /// The things that steps can bring back into the tree, with their fields before the turn; and in
  /// how many steps each has left.
  var outside: [Int: Fields] = [:]
  var timesLeft: [Int: Int] = [:]

  /// The events of a program, according to the rules.
  static func log(of program: [Statement]) -> [ModelEvent] {
    let reference = ModelReference()
    for statement in program + [.endTurn] { reference.perform(statement) }
    return reference.log
  }

  private init() {
    for number in ThingKind.parts { fill(number, x: 0) }
  }

  private func fill(_ number: Int, x: Int) {
    let thing = things[number]
    thing.fields = [.name("x"): .int(x), .name("y"): .int(0)]
    for name in Part.links { thing.fields[.name(name)] = Value.none }
    for name in Part.lazies { thing.lazies[name] = LazyProperty(number, name) }
  }

  /// The number of a part, which is made if it is a new one.
  func part(_ number: Int) -> Int {
    if number >= 0 { return number }
    things.append(Thing(.part))
    fill(things.count - 1, x: things.count)
    return things.count - 1
  }

  func say(_ text: String) { log.append(ModelEvent(text: text)) }

  // MARK: Statements

  func perform(_ statement: Statement) {
    switch statement {
    case .assign(let number, let name, let value):
      let thing = things[number]
      if let property = thing.lazies[name] {
        return override(property, value)
      }
      var value = value
      if case .thing(let number) = value { value = .thing(part(number)) }
      let change = Change(key: .name(name), old: thing.fields[.name(name)]!, new: value)
      hear(number, [change]) { thing.fields[.name(name)] = value }
    case .edit(let number, let edit):
      let (old, new) = (things[number].fields, result(of: edit, on: things[number], part))
      become(number, new, by: edit)
      say("o\(number): \(contents(of: number))")
      if edit.isSingle, [.set, .marks].contains(things[number].kind) { say("\(old != new)") }
    case .read(let number, let path):
      say("\(path) is \(follow(.thing(number), Route(path).components))")
    case .peek(let number, let name):
      let property = things[number].lazies[name]!
      // Watched properties and their dependencies may be computed at any time.
      let answer: Set<String>? = hasWatchedLazies ? nil : ["\(isValid(property))"]
      log.append(ModelEvent(text: "\(name) is valid", details: answer))
    case .invalidate(let number, let name):
      let property = things[number].lazies[name]!
      hear(number, []) {
        property.isValid = false
        endAssignments(dependingOn: [property])
      }
    case .observe(let registration): observe(registration)
    case .tell(let id, let order): if let watcher = handles[id] { tell(watcher, order) }
    case .stopObserving(let number, let path): stop(number, path)
    case .batch(let body): batch { for statement in body { perform(statement) } }
    case .transaction(let body, let fails): transaction(body, fails)
    case .copy(let root):
      say("copy \(copies.count): \(outline(of: root))")
      copies.append(Follower(root, tree(root)))
    case .writeCopy(let copy, let writes): writeCopy(copy, writes)
    case .record(let root):
      history = (Follower(root, tree(root)), [], [])
      (isStepOpen, outside, timesLeft) = (false, [:], [:])
    case .undo: step(back: true)
    case .redo: step(back: false)
    case .flush:
      flush()
      sayState()
    case .endTurn: endTurn()
    }
  }

  func endTurn() {
    while flush() > 0 {}
    endStep()
    sayState()
  }

  func sayState() {
    let active = handles.filter(\.value.isActive).keys.sorted()
    say("— active: \(active)")
    for number in ThingKind.world.indices { say("o\(number): \(contents(of: number))") }
    if let history { say("undo \(!history.done.isEmpty), redo \(!history.undone.isEmpty)") }
  }

  /// The contents of a thing.
  func contents(of number: Int) -> String {
    let entries = things[number].fields.map { key, value in
      switch key {
      case .slot(let slot): (slot, "\(value)")
      case .name(let name): (0, "\(name)=\(value)")
      default: (0, "\(value)")
      }
    }
    return entries.sorted { $0 < $1 }.map(\.1).joined(separator: " ")
  }

  /// Gives a collection new contents, as one change of all keys that differ.
  func become(_ number: Int, _ new: Fields, by edit: Edit? = nil) {
    let old = things[number].fields
    let keys = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
    if keys.isEmpty { return }
    let changes = keys.map { Change(key: $0, old: old[$0] ?? .none, new: new[$0] ?? .none) }
    for watcher in watchers where watcher.registration.receivesEdits && watcher.root == number {
      watcher.mostEdits = watcher.mostEdits.flatMap { most in edit?.steps.map { most + $0 } }
    }
    hear(number, changes) { things[number].fields = new }
  }

  /// The fields of a thing after an edit; `part` gives the parts that the edit names.
  func result(of edit: Edit, on thing: Thing, _ part: (Int) -> Int) -> Fields {
    let hasNumbers = [.counts, .marks].contains(thing.kind)
    func value(_ number: Int) -> Value { hasNumbers ? .int(number) : .thing(part(number)) }
    // All parts that the program has made are equal in a sort order.
    func rank(_ value: Value) -> Int {
      if case .thing(let number) = value { min(number, ThingKind.world.count) } else { 0 }
    }
    var list = thing.elements
    let count = list.count
    switch edit {
    case .put("x", let number) where thing.kind == .part:
      return thing.fields.merging([.name("x"): .int(number!)]) { $1 }
    case .put(let key, let number):
      var fields = thing.fields
      fields[.name(key)] = number.map(value) ?? (thing.kind == .part ? Value.none : nil)
      return fields
    case .merge(let entries):
      return thing.fields.merging(entries.map { (.name($0.key), value($0.value)) }) { $1 }
    case .insert(let part, let position): list.insert(value(part), at: position % (count + 1))
    case .add(let numbers): list += numbers.map(value)
    case .subtract(let numbers): list.removeAll { numbers.map(value).contains($0) }
    case .intersect(let numbers): list.removeAll { !numbers.map(value).contains($0) }
    case .toggle(let numbers): list = Array(Set(list).symmetricDifference(numbers.map(value)))
    case .become(let numbers): list = numbers.map(value)
    case .clear: return [:]
    case .reverse: list.reverse()
    case .sort: list.sort { rank($0) < rank($1) }
    case .removeEven: list.removeAll { rank($0) % 2 == 0 }
    case .splice(let start, let length, let parts):
      let start = start % (count + 1)
      list.replaceSubrange(start..<min(start + length, count), with: parts.map(value))
    case _ where count == 0: break
    case .removeLast: list.removeLast()
    case .remove(let position): list.remove(at: position % count)
    case .replace(let position, let part): list[position % count] = value(part)
    case .swap(let a, let b): list.swapAt(a % count, b % count)
    case .move(let from, let to): list.insert(list.remove(at: from % count), at: to % count)
    }
    let entries = list.enumerated().map { position, value in
      (thing.kind == .array ? Key.slot(position) : .member(value), value)
    }
    return Dictionary(entries) { $1 }
  }

  // MARK: Paths

  /// Everything that a path passes through; `value` computes values.
  func walk(_ root: Int, _ route: Route, _ value: (Derived) -> Value) -> Walk {
    var walk = Walk()
    var seen: Set<[Int]> = []

    func derive(_ number: Int, _ step: Derived.Step, _ source: Derived.Source) -> Value {
      var derived = Derived(thing: number, step: step, route: route, source: source)
      derived.value = value(derived)
      walk.derived.append(derived)
      return derived.value
    }

    func visit(_ here: Value, _ index: Int) {
      guard case .thing(let number) = here, index < route.components.count,
        seen.insert([index, number]).inserted
      else { return }
      let (thing, component) = (things[number], route.components[index])
      switch component {
      case .operation:
        visit(derive(number, .component(index), .operation(number, component)), index + 1)
      case .count: _ = derive(number, .component(index), .size(number))
      case .name where thing.isList:
        walk.stored.append((number, .every))
        for element in thing.elements { visit(element, index) }
      case .every:
        walk.stored.append((number, .every))
        for value in thing.fields.values { visit(value, index + 1) }
      case .slot(let slot):
        walk.stored.append((number, .slot(slot)))
        visit(thing.fields[.slot(slot)] ?? .none, index + 1)
      case .member(let part):
        let key = Key.member(thing.kind == .marks ? .int(part) : .thing(part))
        walk.stored.append((number, key))
        visit(thing.fields[key] ?? .none, index + 1)
      case .element: visit(route.anchor ?? .none, index + 1)
      case .name(let name):
        if let property = thing.lazies[name] {
          return visit(derive(number, .component(index), .lazy(property)), index + 1)
        }
        walk.stored.append((number, .name(name)))
        visit(thing.fields[.name(name)] ?? .none, index + 1)
      }
    }
    visit(.thing(root), 0)
    return walk
  }

  /// The single value that a path leads to from `value`.
  func follow(_ value: Value, _ components: [Component]) -> Value {
    var value = value
    for component in components {
      guard case .thing(let number) = value else { return .none }
      switch component {
      case .operation(let name, let rest): value = operate(name, number, rest)
      case .count: value = .int(things[number].fields.count)
      case .slot(let slot): value = things[number].fields[.slot(slot)] ?? .none
      case .name(let name) where !things[number].isList: value = read(number, name)
      default: return .unknown
      }
    }
    return value
  }

  func read(_ number: Int, _ name: String) -> Value {
    if let property = things[number].lazies[name] { return self.value(of: property) }
    trace?.stored.append((number, .name(name)))
    return things[number].fields[.name(name)] ?? .none
  }

  /// The value of an operator for one collection (C9).
  func operate(_ name: String, _ number: Int, _ rest: [Component]) -> Value {
    let elements = things[number].elements
    let values = elements.map { follow($0, rest) }.filter { $0 != .none }
    let numbers = values.compactMap(\.number)
    switch name {
    case "@count": return .int(elements.count)
    case "@first": return elements.first ?? .none
    case "@last": return elements.last ?? .none
    case "@sum": return .int(numbers.reduce(0, +))
    case "@min": return numbers.min().map(Value.int) ?? .none
    case "@max": return numbers.max().map(Value.int) ?? .none
    case "@any": return .int(values.isEmpty ? 0 : 1)
    case "@all": return .int(values.count == elements.count ? 1 : 0)
    default: return .several(Set(values))
    }
  }
}

extension Value {
  var number: Int? { if case .int(let number) = self { number } else { nil } }
}
