import Observables
import TestSupport
import Testing

/// Random writes, replacements, registrations and stops over random paths with loops and shared
/// objects, against a naive reference that walks every path after every write.
struct RandomGraphTests {
  // P3–P8, T1, T3, T5, T7, T9
  @Test(arguments: 0..<20)
  func `a random program calls the watchers that the naive reference expects`(block: Int) {
    let count = Size.of(200, light: 20)
    for seed in block * count..<(block + 1) * count {
      var generator = SeededGenerator(seed: seed)
      let program = (0..<60).map { _ in Step.random(using: &generator) }
      if let failure = smallestFailure(of: program, { Run($0).difference() }) {
        Issue.record("seed \(seed): \(failure)")
        return
      }
    }
  }
}

private enum Step {
  case link(Int, String, Int?)
  case value(Int, String, Int)
  case watch(Int, [[String]], isImmediate: Bool, writes: Write?)
  case stop(Int)
  case stopPath(Int, [String])
  case pause(Int)
  case resume(Int)
  case batch([Write])
  case flush

  /// A write that a watcher's callback or a batch makes.
  struct Write {
    let vertex: Int
    let name: String
    let target: Int?
    let value: Int
  }

  static let vertices = 6

  static func random(using generator: inout SeededGenerator) -> Step {
    func vertex() -> Int { .random(in: 0..<vertices, using: &generator) }
    func write() -> Write {
      Write(
        vertex: vertex(), name: "abwxy".randomElement(using: &generator).map(String.init)!,
        target: Bool.random(using: &generator) ? vertex() : nil,
        value: .random(in: 0..<3, using: &generator))
    }
    switch Int.random(in: 0..<40, using: &generator) {
    case 0..<10:
      let target = Int.random(in: 0..<4, using: &generator) > 0 ? vertex() : nil
      return .link(vertex(), Vertex.links.randomElement(using: &generator)!, target)
    case 10..<18:
      return .value(
        vertex(), Vertex.values.randomElement(using: &generator)!,
        .random(in: 0..<3, using: &generator))
    case 18..<27:
      let count = Int.random(in: 0..<4, using: &generator) == 0 ? 2 : 1
      return .watch(
        vertex(), (0..<count).map { _ in path(using: &generator) },
        isImmediate: Int.random(in: 0..<4, using: &generator) == 0,
        writes: Int.random(in: 0..<5, using: &generator) == 0 ? write() : nil)
    case 27, 28: return .stop(.random(in: 0..<20, using: &generator))
    case 29: return .stopPath(vertex(), path(using: &generator))
    case 30: return .pause(.random(in: 0..<20, using: &generator))
    case 31, 32: return .resume(.random(in: 0..<20, using: &generator))
    case 33: return .batch((0..<3).map { _ in write() })
    default: return .flush
    }
  }

  static func path(using generator: inout SeededGenerator) -> [String] {
    let middle = (0..<Int.random(in: 0..<4, using: &generator)).map { _ in
      ["a", "b", "w", "a", "b", "*"].randomElement(using: &generator)!
    }
    return middle + [["x", "y", "a", "*", "x", "w"].randomElement(using: &generator)!]
  }
}

/// One execution of a program, by the engine and by the reference side by side.
private final class Run {
  private let program: [Step]
  private let loop = Loop()
  private var vertices: [Vertex] = []
  private var watchers: [Watcher] = []
  private var actual: [String] = []

  init(_ program: [Step]) { self.program = program }

  /// Returns nil if the engine agrees with the reference.
  func difference() -> String? {
    loop.onError = { [weak self] _ in self?.actual.append("error") }
    let expected = Reference(program).run()
    vertices = (0..<Step.vertices).map(Vertex.init)
    defer {
      // Cuts rings of strong references; watchers could close them again, so they stop first.
      for watcher in watchers { watcher.stop() }
      for vertex in vertices { (vertex.a, vertex.b) = (nil, nil) }
    }
    for step in program { perform(step) }
    loop.flush()
    actual.append("—")
    if actual == expected { return nil }
    let index = zip(actual, expected).enumerated().first { $1.0 != $1.1 }?.offset
    return "expected \(expected), got \(actual), differing at \(index ?? -1)"
  }

  /// The path with these components; `*` is a wildcard.
  private func text(_ components: [String]) -> Path {
    try! Path(components.joined(separator: "."))
  }

  private func perform(_ write: Step.Write) {
    let vertex = vertices[write.vertex]
    if Vertex.links.contains(write.name) {
      vertex.set(write.name, to: write.target.map { vertices[$0] })
    } else {
      vertex.set(write.name, to: write.value)
    }
  }

  private func perform(_ step: Step) {
    switch step {
    case .link(let vertex, let name, let target):
      vertices[vertex].set(name, to: target.map { vertices[$0] })
    case .value(let vertex, let name, let value):
      vertices[vertex].set(name, to: value)
    case .watch(let vertex, let paths, let isImmediate, let write):
      let root = vertices[vertex]
      let number = watchers.count
      let body: () -> Void = { [unowned self] in
        actual.append("\(number)")
        if let write { perform(write) }
      }
      do {
        let first = text(paths[0])
        let watcher =
          isImmediate
          ? try root.observeImmediately(first, in: loop) { _, _ in body() }
          : try root.observe(first, in: loop) { _ in body() }
        watchers.append(watcher)
        for path in paths.dropFirst() { try watcher.observe(text(path)) }
      } catch {
        actual.append("\(error)")
      }
    case .stop(let number):
      if number < watchers.count { watchers[number].stop() }
    case .stopPath(let vertex, let path):
      vertices[vertex].stopObserving(text(path))
    case .pause(let number):
      if number < watchers.count { watchers[number].pause() }
    case .resume(let number):
      if number < watchers.count { watchers[number].resume() }
    case .batch(let writes):
      loop.batch { for write in writes { perform(write) } }
    case .flush:
      loop.flush()
      actual.append("—")
    }
  }
}

/// Walks every path of every watcher after every write.
private final class Reference {
  final class Object {
    let id: Int
    var links: [String: Object?] = ["a": nil, "b": nil, "w": nil]
    var values = ["x": 0, "y": 0]
    init(_ id: Int) { self.id = id }
  }

  final class Entry {
    let number: Int
    let root: Object
    let isImmediate: Bool
    let write: Step.Write?
    var paths: [[String]]
    /// The (object, key) pairs on each path.
    var touched: [Set<[String]>] = []
    var isPending = false
    var isPaused = false
    var isRunning = false
    var reruns = 0
    var lastFlush = -1
    var isActive: Bool { !paths.isEmpty }

    init(
      _ number: Int, _ root: Object, _ paths: [[String]], _ isImmediate: Bool, _ write: Step.Write?
    ) {
      (self.number, self.root, self.paths) = (number, root, paths)
      (self.isImmediate, self.write) = (isImmediate, write)
    }
  }

  private let program: [Step]
  private let objects = (0..<Step.vertices).map(Object.init)
  private var entries: [Entry] = []
  private var log: [String] = []
  private var lists: [[Entry]] = []
  private var batchDepth = 0
  private var flushNumber = 0
  private var isFlushing = false

  init(_ program: [Step]) { self.program = program }

  func run() -> [String] {
    for step in program { perform(step) }
    flush()
    for object in objects { object.links = [:] }
    return log
  }

  /// All (object, key) pairs on the paths of the entry, in the current graph.
  private func walk(_ entry: Entry) -> Set<[String]> {
    var pairs: Set<[String]> = []
    for path in entry.paths {
      var here = [entry.root]
      for name in path {
        var next: [Object] = []
        for object in here {
          pairs.insert(["\(object.id)", name])
          for link in Vertex.links where name == "*" || name == link {
            if let child = object.links[link]! { next.append(child) }
          }
        }
        here = next
      }
    }
    return pairs
  }

  private func wrote(_ object: Object, _ key: String, _ change: () -> Void) {
    // Pending coalesced watchers need no further notification; the others are wired according to
    // the graph before the write.
    var hit: [Entry] = []
    for entry in entries where entry.isActive {
      let pairs = walk(entry)
      if pairs.contains(["\(object.id)", key]) || pairs.contains(["\(object.id)", "*"]) {
        hit.append(entry)
      }
    }
    change()
    for entry in hit where !entry.isImmediate { entry.isPending = true }
    makeCalls(hit.filter(\.isImmediate))
  }

  /// Calls each entry once, in order.
  ///
  /// If a nested write calls an entry that outer lists still contain, those calls come first.
  private func makeCalls(_ entries: [Entry]) {
    lists.append(entries)
    let top = lists.count - 1
    while let entry = lists[top].first {
      for index in 0...top {
        guard let place = lists[index].firstIndex(where: { $0 === entry }) else { continue }
        lists[index].remove(at: place)
        if entry.isActive { callImmediately(entry) }
      }
    }
    lists.removeLast()
  }

  private func callImmediately(_ entry: Entry) {
    if entry.isPaused || batchDepth > 0 {
      entry.isPending = true
    } else if entry.isRunning {
      entry.reruns += 1
    } else {
      while true {
        call(entry)
        if entry.reruns == 0 { return }
        entry.reruns -= 1
      }
    }
  }

  private func call(_ entry: Entry) {
    entry.isRunning = true
    log.append("\(entry.number)")
    if let write = entry.write { perform(write) }
    entry.isRunning = false
  }

  private func perform(_ write: Step.Write) {
    if Vertex.links.contains(write.name) {
      set(objects[write.vertex], write.name, write.target.map { objects[$0] })
    } else {
      set(objects[write.vertex], write.name, write.value)
    }
  }

  private func set(_ object: Object, _ name: String, _ target: Object?) {
    if object.links[name]! === target { return }
    wrote(object, name) { object.links[name] = .some(target) }
  }

  private func set(_ object: Object, _ name: String, _ value: Int) {
    if object.values[name] == value { return }
    wrote(object, name) { object.values[name] = value }
  }

  private func perform(_ step: Step) {
    switch step {
    case .link(let vertex, let name, let target):
      set(objects[vertex], name, target.map { objects[$0] })
    case .value(let vertex, let name, let value):
      set(objects[vertex], name, value)
    case .watch(let vertex, let paths, let isImmediate, let write):
      entries.append(Entry(entries.count, objects[vertex], paths, isImmediate, write))
    case .stop(let number):
      if number < entries.count { entries[number].paths = [] }
    case .stopPath(let vertex, let path):
      for entry in entries where entry.root === objects[vertex] {
        entry.paths.removeAll { $0 == path }
      }
    case .pause(let number):
      if number < entries.count { entries[number].isPaused = true }
    case .resume(let number):
      guard number < entries.count else { return }
      let entry = entries[number]
      if !entry.isPaused { return }
      entry.isPaused = false
      if entry.isImmediate, entry.isPending, entry.isActive {
        entry.isPending = false
        callImmediately(entry)
      }
    case .batch(let writes):
      batchDepth += 1
      for write in writes { perform(write) }
      batchDepth -= 1
      let waiting = entries.filter { $0.isImmediate && $0.isPending && !$0.isPaused }
      for entry in waiting { entry.isPending = false }
      makeCalls(waiting)
    case .flush: flush()
    }
  }

  private func flush() {
    flushNumber += 1
    while let entry = entries.first(where: {
      $0.isPending && $0.isActive && !$0.isImmediate && !$0.isPaused
        && $0.lastFlush != flushNumber
    }) {
      entry.isPending = false
      entry.lastFlush = flushNumber
      call(entry)
    }
    log.append("—")
  }
}
