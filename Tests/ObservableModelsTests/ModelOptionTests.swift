import Foundation
import Observation
import ObservableModels
import Synchronization
import Testing

@ObservableModel(.threadSafe) private final class Counter {
  var count = 0
  var names: [String] = []
}

@ObservableModel private final class Record: Codable {
  var name = "Ada"
  var tags: [String] = []
  let number: Int
  @Ignored var cache = 1
  private var note = ""
  @Computed("name") var upper: String
  private func makeUpper() -> String { name.uppercased() }

  init(number: Int) { self.number = number }
}

@ObservableModel private final class Renamed: Codable {
  var mail = "a@b.c"
  private enum CodingKeys: String, CodingKey {
    // swift-format-ignore: NoLeadingUnderscores
    case _mail = "e-mail"
  }
}

@ObservableModel private final class Poem: Codable {
  var title = ""
  var note: String?
  weak var next: Poem?
  let number: Int
  let lines: ObservableArray<String> = ["(empty)"]
  let counts = ObservableDictionary<String, Int>()
  let tags: ObservableSet<String> = []
  let verses: ObservableArray<Verse> = []
  let version = 2

  init(number: Int) { self.number = number }
}

@ObservableModel private final class Chosen: Codable {
  let lines: ObservableArray<String> = []
  let notes: ObservableArray<String> = ["none"]
  private enum CodingKeys: String, CodingKey { case lines = "all" }
}

@ObservableModel class Verse: Codable {
  private(set) var isGood = false
  let words: ObservableArray<String> = []
  func praise() { isGood = true }
}

@ObservableModel private final class Shelf: Codable {
  let poems: ObservableArray<Poem> = []
}

/// Counts on any thread.
private final class Count: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add() { count.withLock { $0 += 1 } }
}

/// Options of models.
struct ModelOptionTests {
  private let loop = Loop(clock: .virtual)

  #if DEBUG
    @Test func `a subclass that does not repeat the option for threads is an error`() async {
      await #expect(processExitsWith: .failure) {
        let forgetful = Forgetful()
        forgetful.own = 2
      }
    }
  #endif

  @Test func `the toolchain's Observation reports the writes, too`() throws {
    let heater = Heater()
    var log: [String] = []
    try heater.observe("current", in: loop) { log.append("\($0.current)") }
    let heard = Count()
    func arm() {
      withObservationTracking {
        _ = (heater.current, heater.power)
      } onChange: {
        heard.add()
      }
    }
    arm()
    loop.turn { heater.current += 1 }
    arm()
    loop.turn { heater.power = 3 }
    #expect(heard.value == 2 && log == ["21.0"])
  }

  @Test func `a subclass may begin with the toolchain's Observation`() throws {
    let address = ObservedAddress("1")
    let heard = Count()
    var calls = 0
    for path: Path in ["zip", "isChecked"] {
      try address.observe(path, in: loop) { _ in calls += 1 }
    }
    withObservationTracking {
      _ = (address.isChecked, address.zip)
    } onChange: {
      heard.add()
    }
    loop.turn { address.zip = "2" }
    #expect(heard.value == 0 && calls == 1)
    loop.turn { address.isChecked = true }
    #expect(heard.value == 1 && calls == 2)
  }

  // T8
  @Test func `values that a model guards itself are no properties, nor are locks`() throws {
    let guarded = Guarded()
    #expect(Guarded.properties.names == ["count", "parent", "limit"])
    var counts: [Int] = []
    try guarded.observe("count", in: loop) { counts.append($0.count) }
    try guarded.observe("parent.count", in: loop) { counts.append($0.parent?.count ?? -1) }
    loop.turn { guarded.add(2) }
    #expect(counts == [2, -1])
  }

  // T8
  @Test func `threads write to a thread-safe model, and none of them loses a write`() throws {
    let loop = Loop()
    let counter = Counter()
    var last = 0
    try counter.observe("count", in: loop) { last = $0.count }
    let threads = (0..<4).map { _ in
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        for _ in 0..<1000 { counter.count += 1 }
        done.signal()
      }
      return done
    }
    for thread in threads { thread.wait() }
    loop.step()
    #expect(counter.count == 4000 && last == 4000)
  }

  // L7
  @Test func `a Codable model is encoded by its names, and decoded without its observers`() throws {
    let record = Record(number: 3)
    try record.observe("name", in: loop) { _ in }
    record.tags = ["x"]
    let data = try JSONEncoder().encode(record)
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(object.keys.sorted() == ["cache", "name", "note", "number", "tags"])
    let copy = try JSONDecoder().decode(Record.self, from: data)
    #expect(copy.tags == ["x"] && copy.number == 3 && copy.observedKeys.isEmpty)
    #expect(copy.upper == "ADA")
  }

  // L7, X3
  @Test func `constant collections of a Codable model are decoded, too`() throws {
    let (poem, verse) = (Poem(number: 3), Verse())
    (poem.title, poem.note) = ("Ode", "old")
    poem.lines.set(["It was a dark night."])
    poem.counts["a"] = 1
    poem.tags.insert("x")
    verse.words.append("dark")
    verse.praise()
    poem.verses.append(verse)
    func check(_ copy: Poem) {
      #expect(copy.title == "Ode" && copy.note == "old" && copy.number == 3 && copy.version == 2)
      #expect(copy.lines.elements == ["It was a dark night."])
      #expect(copy.counts.entries == ["a": 1] && copy.tags.members == ["x"])
      #expect(copy.verses.map(\.isGood) == [true] && copy.verses[0].words.elements == ["dark"])
    }
    let data = try JSONEncoder().encode(poem)
    check(try JSONDecoder().decode(Poem.self, from: data))
    let (shelf, copy) = (Shelf(), Shelf())
    let watcher = try shelf.changes(in: loop) { _, changes in try copy.apply(changes) }
    loop.turn { shelf.poems.append(poem) }
    check(try #require(copy.poems.first))
    check(try #require(try watcher.snapshot()?.copy(as: Shelf.self).poems.first))
    // Only the collections that the class gives a key.
    let chosen = Chosen()
    chosen.lines.append("a")
    chosen.notes.append("b")
    let same = try JSONDecoder().decode(Chosen.self, from: JSONEncoder().encode(chosen))
    #expect(same.lines.elements == ["a"] && same.notes.elements == ["none"])
  }

  @Test func `a constant collection that the data lack keeps its contents`() throws {
    let poem = try JSONDecoder().decode(
      Poem.self, from: Data(#"{"title": "Ode", "number": 1, "tags": null}"#.utf8))
    #expect(poem.lines.elements == ["(empty)"] && poem.tags.isEmpty && poem.note == nil)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Poem.self, from: Data(#"{"title": "Ode"}"#.utf8))
    }
  }

  @Test func `custom coding keys name the stored values`() throws {
    let data = try JSONEncoder().encode(Renamed())
    #expect(String(decoding: data, as: UTF8.self) == #"{"e-mail":"a@b.c"}"#)
  }
}

@ObservableModel(.threadSafe) class Careful { var count = 0 }

/// Declares `Sendable` itself, so that the compiler checks the whole class.
@ObservableModel(.threadSafe) private final class Guarded: Sendable {
  var count = 0
  weak var parent: Guarded?
  let limit = 10
  let low = 1, (mean, high) = (2, 3)
  let lock = Mutex<[Int]>([])
  let number: Atomic<Int> = Atomic(1)
  private let call: (@Sendable () -> Void)? = nil
  @Ignored nonisolated(unsafe) var cache = 1
  private nonisolated(unsafe) weak var owner: Guarded?

  func add(_ count: Int) {
    lock.withLock { $0.append(count) }
    let parent = Guarded()
    self.count += count
    self.parent = parent
  }
}

@ObservableModel final class Forgetful: Careful, @unchecked Sendable { var own = 1 }
