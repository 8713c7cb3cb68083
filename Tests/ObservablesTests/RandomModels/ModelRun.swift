import Foundation
import Observables

/// An event: a text and, if a watcher receives a change, the allowed details.
struct ModelEvent: CustomStringConvertible {
  let text: String
  /// Nil if the rules leave the details open.
  var details: Set<String>?
  /// The number of delivered edits, or the largest allowed one.
  var edits: Int?
  var description: String {
    text + (details.map { " " + $0.sorted().joined(separator: " or ") } ?? "")
  }

  /// Whether the reference expects this event.
  func fits(_ expected: ModelEvent) -> Bool {
    guard text == expected.text, edits ?? 0 <= expected.edits ?? 0 else { return false }
    guard let details, let allowed = expected.details else { return true }
    return details.isSubset(of: allowed)
  }
}

/// One execution of a program by the engine.
final class ModelRun {
  private let loop = Loop()
  private let parts = ThingKind.parts.map { _ in Part() }
  private let arrays = ThingKind.numbers(.array).map { _ in ObservableArray<Part>() }
  private let maps = ThingKind.numbers(.map).map { _ in ObservableDictionary<String, Part>() }
  private let sets = ThingKind.numbers(.set).map { _ in ObservableSet<Part>() }
  private let counts = ObservableDictionary<String, Int>()
  private let marks = ObservableSet<Int>()
  /// The parts that the program has made.
  private var made: [Mortal] = []
  private var numbers: [ObjectIdentifier: Int] = [:]
  private var watchers: [Int: Watcher] = [:]
  private var roots: [Int: Int] = [:]
  /// The number of watchers registered so far.
  private var count = 0
  /// The watchers whose callbacks are under way.
  private var running: [ObjectIdentifier] = []
  private var log: [ModelEvent] = []
  private var copies: [TreeCopy] = []
  private var history: ChangeHistory?

  private var things: [any KeyPathObservable] {
    parts + arrays + maps + sets + [counts, marks] as [any KeyPathObservable]
  }

  /// An object that has to be gone after the run.
  private struct Mortal {
    let name: String
    weak var object: AnyObject?
  }

  /// The events of a program; the last ones name what it leaks.
  static func log(of program: [Statement]) -> [ModelEvent] {
    var (log, mortals): ([ModelEvent], [Mortal]) = ([], [])
    do {
      let run = ModelRun()
      log = run.run(program)
      mortals = run.things.enumerated().map { Mortal(name: "o\($0)", object: $1) } + run.made
      mortals.append(Mortal(name: "the engine", object: run.loop.engine))
    }
    return log
      + mortals.filter { $0.object != nil }.map { ModelEvent(text: "\($0.name) is leaked") }
  }

  private init() {
    for (number, thing) in things.enumerated() { numbers[ObjectIdentifier(thing)] = number }
  }

  private func run(_ program: [Statement]) -> [ModelEvent] {
    loop.onError = { [unowned self] error in say("error \(error)") }
    for statement in program + [.endTurn] { perform(statement) }
    // Cuts rings of strong references; watchers could close them again, so they stop first.
    history?.stop()
    for copy in copies { copy.release() }
    for thing in things { thing.stopObserving() }
    for part in parts { part.release() }
    return log
  }

  private func say(_ text: String) { log.append(ModelEvent(text: text)) }

  private func text(_ value: Any?) -> String {
    if let number = value as? Int { return "\(number)" }
    if let flag = value as? Bool { return flag ? "1" : "0" }
    if let values = value as? [Any?] {
      return values.map(text).sorted().joined(separator: " ")
    }
    guard let value, let thing = value as? any KeyPathObservable else { return "nil" }
    return numbers[ObjectIdentifier(thing)].map { "o\($0)" } ?? "another"
  }

  private func perform(_ statement: Statement) {
    switch statement {
    case .assign(let part, let name, let value):
      assign(value, to: name, of: parts[part])
    case .edit(let number, let edit):
      let hasChanged = perform(edit, on: things[number], part)
      say("o\(number): \(contents(of: things[number]))")
      if let hasChanged { say("\(hasChanged)") }
    case .read(let thing, let path):
      guard let value = try? things[thing].value(at: self.path(path, from: things[thing])) else {
        return say("\(path) is nil")
      }
      say("\(path) is \(text(value))")
    case .peek(let part, let name):
      let isValid = try! parts[part].isValid(name)
      log.append(ModelEvent(text: "\(name) is valid", details: ["\(isValid)"]))
    case .invalidate(let part, let name): try! parts[part].invalidate(name)
    case .observe(let registration): observe(registration, things[registration.root])
    case .tell(let id, let order): if let watcher = watchers[id] { tell(watcher, id, order) }
    case .stopObserving(let thing, let path):
      say("stopped \(things[thing].stopObserving(self.path(path, from: things[thing])))")
    case .batch(let body): loop.batch { for statement in body { perform(statement) } }
    case .transaction(let body, let fails):
      try? Transaction.run(on: things, in: loop) {
        for statement in body { perform(statement) }
        if fails { throw CancellationError() }
      }
      sayState()
    case .copy(let root):
      let name = "copy \(copies.count)"
      copies.append(
        try! TreeCopy(of: parts[root], named: name, in: loop) { [unowned self] text in
          say("\(name): \(text)")
        })
    case .writeCopy(let copy, let writes):
      if copies.isEmpty { return }
      loop.endTurn()
      copies[copy % copies.count].turn(writes, in: loop) { object, edit, root in
        perform(edit, on: object) { $0 < 0 ? part($0) : root }
      }
      loop.endTurn()
    case .record(let root):
      history?.stop()
      history = try! ChangeHistory(of: parts[root], in: loop)
      history!.onMisfit = { [unowned self] _ in say("misfit") }
    case .undo, .redo: step(statement)
    case .flush:
      loop.flush()
      sayState()
    case .endTurn:
      loop.endTurn()
      sayState()
    }
  }

  private func step(_ statement: Statement) {
    let before = log.count
    var isMade = false
    if case .undo = statement { isMade = history?.undo() ?? false }
    if case .redo = statement { isMade = history?.redo() ?? false }
    if log.count > before, log[before].text == "misfit" { return }
    say(isMade ? "step" : "no step")
  }

  private func sayState() {
    let active = watchers.filter(\.value.isActive).keys.sorted()
    say("— active: \(active)")
    for (number, thing) in things.enumerated() { say("o\(number): \(contents(of: thing))") }
    if let history { say("undo \(history.canUndo), redo \(history.canRedo)") }
  }

  private func contents(of thing: any KeyPathObservable) -> String {
    func entries(_ entries: some Collection<(key: String, value: some Any)>) -> String {
      entries.map { "\($0.key)=\(text($0.value))" }.sorted().joined(separator: " ")
    }
    return switch thing {
    case let part as Part:
      entries(
        [
          "x": part.x, "y": part.y, "child": part.child, "items": part.items, "map": part.map,
          "group": part.group, "peer": part.peer, "counts": part.counts, "marks": part.marks,
        ] as [String: Any?])
    case let array as ObservableArray<Part>: array.map(text).joined(separator: " ")
    case let map as ObservableDictionary<String, Part>: entries(map)
    case let counts as ObservableDictionary<String, Int>: entries(counts)
    case let set as ObservableSet<Part>: set.map(text).sorted().joined(separator: " ")
    case let marks as ObservableSet<Int>: marks.map(text).sorted().joined(separator: " ")
    default: ""
    }
  }

  /// A path of the program from a thing; `&2` is the member that is part 2, or the number.
  private func path(_ text: String, from root: any KeyPathObservable) -> Path {
    guard text.hasPrefix("&") else { return try! Path(text) }
    let names = text.split(separator: ".", maxSplits: 1)
    let number = Int(names[0].dropFirst())!
    let key = (root as? ObservableSet<Part>)?.key(of: parts[number]) ?? marks.key(of: number)
    return try! Path(names.count == 1 ? "\(key)" : "\(key).\(names[1])")
  }

  private func assign(_ value: Value, to name: String, of part: Part) {
    var new: Any?
    if case .int(let number) = value { new = number }
    if case .thing(let number) = value { new = number < 0 ? self.part(number) : things[number] }
    try! Part.properties.set(name, of: part, to: new)
  }

  private func observe<Root: KeyPathObservable>(_ registration: Registration, _ root: Root) {
    var options = WatcherOptions(
      name: "\(registration.id)", initial: registration.isInitial, once: registration.isOnce)
    if let comparison = registration.comparison {
      options.equals = { old, new in
        comparison.isSame((old as? Int) ?? 0, (new as? Int) ?? 0)
      }
    }
    count += 1
    let title = "call \(registration.id) (\(count))"
    var times = registration.times
    var watcher: Watcher?
    let call: (String?, Int?) -> Void = { [unowned self] detail, edits in
      if let edits {
        log.append(ModelEvent(text: "\(title) \(detail ?? "")", edits: edits))
      } else {
        log.append(ModelEvent(text: title, details: detail.map { [$0] }))
      }
      if times == 0 { return }
      times -= 1
      if let watcher { running.append(ObjectIdentifier(watcher)) }
      for statement in registration.body { perform(statement) }
      if watcher != nil { running.removeLast() }
    }
    let paths = registration.paths.map { path($0, from: root) }
    do {
      if registration.receivesEdits {
        watcher = try observeEdits(of: root, call)
      } else if registration.isImmediate {
        watcher = try root.observeImmediately(paths[0], in: loop, options: options) {
          [unowned self] _, change in
          call("\(change.key) \(text(change.old))→\(text(change.new))", nil)
        }
      } else {
        watcher = try root.observe(paths[0], in: loop, options: options) { _ in call(nil, nil) }
      }
      for (path, text) in zip(paths, registration.paths).dropFirst() {
        try add(path, text, to: watcher!)
      }
      watchers[registration.id] = watcher
      roots[registration.id] = registration.root
    } catch {
      watcher?.stop()
      if !(error is CancellationError) { say("refused \(registration.paths[0])") }
    }
  }

  /// Adds a path to a watcher.
  private func add(_ path: Path, _ text: String, to watcher: Watcher) throws(CancellationError) {
    do { try watcher.observe(path) } catch {
      say("refused \(text)")
      throw CancellationError()
    }
  }

  /// Watches the edits of a collection, and applies them to a copy of its contents.
  private func observeEdits(
    of root: some KeyPathObservable, _ call: @escaping (String?, Int?) -> Void
  ) throws -> Watcher? {
    func entries<Element: Equatable>(
      _ map: ObservableDictionary<String, Element>
    ) throws -> Watcher {
      var copy = map.entries
      return try map.observeEdits(in: loop) { [unowned self] _, edits in
        for edit in edits where copy[edit.key] == edit.old { copy[edit.key] = edit.new }
        let entries = copy.map { "\($0.key)=\(text($0.value))" }
        call(entries.sorted().joined(separator: " "), edits.count)
      }
    }
    func members(_ set: ObservableSet<some Hashable>) throws -> Watcher {
      var copy = Set(set)
      return try set.observeEdits(in: loop) { [unowned self] _, edits in
        for edit in edits where copy.contains(edit.key) == (edit.old != nil) {
          if edit.new == nil { copy.remove(edit.key) } else { copy.insert(edit.key) }
        }
        call(copy.map(text).sorted().joined(separator: " "), edits.count)
      }
    }
    switch root {
    case let array as ObservableArray<Part>:
      var copy = array.elements
      return try array.observeEdits(in: loop) { [unowned self] _, edits in
        for edit in edits where edit.fits(copy) { edit.apply(to: &copy) }
        call(copy.map(text).joined(separator: " "), edits.count)
      }
    case let map as ObservableDictionary<String, Part>: return try entries(map)
    case let counts as ObservableDictionary<String, Int>: return try entries(counts)
    case let set as ObservableSet<Part>: return try members(set)
    case let marks as ObservableSet<Int>: return try members(marks)
    default: return nil
    }
  }

  private func tell(_ watcher: Watcher, _ id: Int, _ command: Command) {
    switch command {
    case .stop: watcher.stop()
    case .pause: watcher.pause()
    case .resume: watcher.resume()
    case .schedule: watcher.schedule()
    case .run: if !running.contains(ObjectIdentifier(watcher)) { watcher.run() }
    case .observe(let text): try? add(path(text, from: things[roots[id]!]), text, to: watcher)
    }
  }

  // MARK: Edits

  /// The part of a number, or a new one.
  private func part(_ number: Int) -> Part {
    if number >= 0 { return parts[number] }
    let part = Part(x: things.count + made.count + 1)
    made.append(Mortal(name: "a part with x = \(part.x)", object: part))
    return part
  }

  /// The position of a part in a sort order; the parts that the program has made are equal.
  private func rank(_ part: Part) -> Int { numbers[ObjectIdentifier(part)] ?? things.count }

  /// Returns whether adding or removing a single member has changed a set.
  @discardableResult
  private func perform(
    _ edit: Edit, on thing: any KeyPathObservable, _ part: (Int) -> Part
  ) -> Bool? {
    switch thing {
    case let object as Part:
      if case .put("x", let x) = edit { object.x = x! }
      if case .put("child", let child) = edit { object.child = child.map(part) }
    case let array as ObservableArray<Part>: change(array, by: edit, part)
    case let map as ObservableDictionary<String, Part>: change(map, by: edit, part)
    case let counts as ObservableDictionary<String, Int>: change(counts, by: edit) { $0 }
    case let set as ObservableSet<Part>: return change(set, by: edit, part)
    case let marks as ObservableSet<Int>: return change(marks, by: edit) { $0 }
    default: break
    }
    return nil
  }

  private func change(_ array: ObservableArray<Part>, by edit: Edit, _ part: (Int) -> Part) {
    let count = array.count
    switch edit {
    case .insert(let new, let position): array.insert(part(new), at: position % (count + 1))
    case .add(let numbers) where numbers.count == 1: array.append(part(numbers[0]))
    case .add(let numbers): array.append(contentsOf: numbers.map(part))
    case .become(let numbers): array.set(numbers.map(part))
    case .clear: array.removeAll()
    case .reverse: array.reverse()
    case .removeEven: array.removeAll { rank($0) % 2 == 0 }
    case .splice(let start, let length, let new):
      let start = start % (count + 1)
      let range = start..<min(start + length, count)
      if new.isEmpty, length % 2 == 0 {
        array.removeSubrange(range)
      } else {
        array.replaceSubrange(range, with: new.map(part))
      }
    case .sort: array.sort { rank($0) < rank($1) }
    case _ where count == 0: break
    case .removeLast: array.removeLast()
    case .remove(let position): array.remove(at: position % count)
    case .replace(let position, let new): array[position % count] = part(new)
    case .swap(let a, let b): array.swapAt(a % count, b % count)
    case .move(let from, let to): array.move(from: from % count, to: to % count)
    default: break
    }
  }

  private func change<Element>(
    _ map: ObservableDictionary<String, Element>, by edit: Edit, _ element: (Int) -> Element
  ) {
    switch edit {
    case .put(let key, let number): map[key] = number.map(element)
    case .merge(let entries): map.merge(entries.mapValues(element)) { $1 }
    default: map.removeAll()
    }
  }

  private func change<Element>(
    _ set: ObservableSet<Element>, by edit: Edit, _ element: (Int) -> Element
  ) -> Bool? {
    switch edit {
    case .add(let numbers) where numbers.count == 1:
      return set.insert(element(numbers[0])).inserted
    case .add(let numbers): set.formUnion(numbers.map(element))
    case .subtract(let numbers) where numbers.count == 1:
      return set.remove(element(numbers[0])) != nil
    case .subtract(let numbers): set.subtract(numbers.map(element))
    case .intersect(let numbers): set.formIntersection(numbers.map(element))
    case .toggle(let numbers): set.formSymmetricDifference(Set(numbers.map(element)))
    case .become(let numbers): set.set(numbers.map(element))
    default: set.removeAll()
    }
    return nil
  }
}

extension Registration.Comparison {
  func isSame(_ old: Int, _ new: Int) -> Bool {
    switch self {
    case .nothing: false
    case .everything: true
    case .parity: old % 2 == new % 2
    }
  }
}

extension CollectionEdit where Element == Part {
  /// Whether the elements that the edit removes are present.
  fileprivate func fits(_ list: [Part]) -> Bool {
    switch self {
    case .insert(_, let position): (0...list.count).contains(position)
    case .remove(let old, let position), .replace(let old, _, let position),
      .move(let old, let position, _):
      list.indices.contains(position) && list[position] === old
    }
  }
}
