import Observables

/// An event: a text and, if a watcher receives a change, the allowed details.
struct ModelEvent: CustomStringConvertible {
  let text: String
  /// Nil if the rules leave the details open.
  var details: Set<String>?
  var description: String {
    text + (details.map { " " + $0.sorted().joined(separator: " or ") } ?? "")
  }

  /// Whether the reference expects this event.
  func fits(_ expected: ModelEvent) -> Bool {
    guard text == expected.text else { return false }
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
  private var numbers: [ObjectIdentifier: Int] = [:]
  private var watchers: [Int: Watcher] = [:]
  /// The number of watchers registered so far.
  private var count = 0
  /// The watchers whose callbacks are under way.
  private var running: [ObjectIdentifier] = []
  private var log: [ModelEvent] = []

  private var things: [any KeyPathObservable] { parts + arrays + maps + sets }

  /// The events of a program.
  static func log(of program: [Statement]) -> [ModelEvent] {
    let run = ModelRun()
    return run.run(program)
  }

  private init() {
    for (number, thing) in things.enumerated() { numbers[ObjectIdentifier(thing)] = number }
  }

  private func run(_ program: [Statement]) -> [ModelEvent] {
    loop.onError = { [unowned self] error in say("error \(error)") }
    for statement in program + [.endTurn] { perform(statement) }
    // Cuts rings of strong references; watchers could close them again, so they stop first.
    for thing in things { thing.stopObserving() }
    for part in parts { (part.child, part.items, part.map, part.group) = (nil, nil, nil, nil) }
    for part in parts { part.leader = nil }
    return log
  }

  private func say(_ text: String) { log.append(ModelEvent(text: text)) }

  private func text(_ value: Any?) -> String {
    if let number = value as? Int { return "\(number)" }
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
      switch things[number] {
      case let array as ObservableArray<Part>: perform(edit, on: array)
      case let map as ObservableDictionary<String, Part>: perform(edit, on: map)
      case let set as ObservableSet<Part>: perform(edit, on: set)
      default: break
      }
    case .read(let thing, let path):
      guard let value = try? things[thing].value(at: Path(path)) else {
        return say("\(path) is nil")
      }
      say("\(path) is \(text(value))")
    case .peek(let part, let name):
      let isValid = try! parts[part].isValid(name)
      log.append(ModelEvent(text: "\(name) is valid", details: ["\(isValid)"]))
    case .invalidate(let part, let name): try! parts[part].invalidate(name)
    case .observe(let registration): observe(registration, things[registration.root])
    case .tell(let id, let order): if let watcher = watchers[id] { tell(watcher, order) }
    case .stopObserving(let thing, let path):
      say("stopped \(things[thing].stopObserving(try! Path(path)))")
    case .batch(let body): loop.batch { for statement in body { perform(statement) } }
    case .flush:
      loop.flush()
      say("—")
    case .endTurn:
      loop.endTurn()
      say("——")
    }
  }

  private func assign(_ value: Value, to name: String, of part: Part) {
    var new: Any?
    if case .int(let number) = value { new = number }
    if case .thing(let number) = value { new = things[number] }
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
    let call: (String?) -> Void = { [unowned self] detail in
      log.append(ModelEvent(text: title, details: detail.map { [$0] }))
      if times == 0 { return }
      times -= 1
      if let watcher { running.append(ObjectIdentifier(watcher)) }
      for statement in registration.body { perform(statement) }
      if watcher != nil { running.removeLast() }
    }
    let paths = registration.paths.map { try! Path($0) }
    do {
      if registration.isImmediate {
        watcher = try root.observeImmediately(paths[0], in: loop, options: options) {
          [unowned self] _, change in
          call("\(change.key) \(text(change.old))→\(text(change.new))")
        }
      } else {
        watcher = try root.observe(paths[0], in: loop, options: options) { _ in call(nil) }
      }
      for path in paths.dropFirst() { try watcher!.observe(path) }
      watchers[registration.id] = watcher
    } catch {
      watcher?.stop()
      say("error \(error)")
    }
  }

  private func tell(_ watcher: Watcher, _ command: Command) {
    switch command {
    case .stop: watcher.stop()
    case .pause: watcher.pause()
    case .resume: watcher.resume()
    case .schedule: watcher.schedule()
    case .run: if !running.contains(ObjectIdentifier(watcher)) { watcher.run() }
    case .observe(let path):
      do { try watcher.observe(Path(path)) } catch { say("error \(error)") }
    }
  }

  private func perform(_ edit: Edit, on array: ObservableArray<Part>) {
    let count = array.count
    switch edit {
    case .insert(let part, let position): array.insert(parts[part], at: position % (count + 1))
    case .add(let numbers): array.append(contentsOf: numbers.map { parts[$0] })
    case .become(let numbers): array.set(numbers.map { parts[$0] })
    case .clear: array.removeAll()
    case .reverse: array.reverse()
    case .sort: array.sort { numbers[ObjectIdentifier($0)]! < numbers[ObjectIdentifier($1)]! }
    case _ where count == 0: break
    case .remove(let position): array.remove(at: position % count)
    case .replace(let position, let part): array[position % count] = parts[part]
    case .swap(let a, let b): array.swapAt(a % count, b % count)
    case .move(let from, let to): array.move(from: from % count, to: to % count)
    default: break
    }
  }

  private func perform(_ edit: Edit, on map: ObservableDictionary<String, Part>) {
    switch edit {
    case .put(let key, let part): map[key] = part.map { parts[$0] }
    case .merge(let entries): map.merge(entries.mapValues { parts[$0] }) { $1 }
    default: map.removeAll()
    }
  }

  private func perform(_ edit: Edit, on set: ObservableSet<Part>) {
    switch edit {
    case .add(let numbers) where numbers.count == 1: set.insert(parts[numbers[0]])
    case .add(let numbers): set.formUnion(numbers.map { parts[$0] })
    case .subtract(let numbers) where numbers.count == 1: set.remove(parts[numbers[0]])
    case .subtract(let numbers): set.subtract(numbers.map { parts[$0] })
    case .become(let numbers): set.set(numbers.map { parts[$0] })
    default: set.removeAll()
    }
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
