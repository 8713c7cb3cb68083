import Observables
import TestSupport
import Testing

/// The deallocation of collections and of their contents.
struct CollectionEndTests {
  private let loop = Loop()
  private let log = Log()

  // L3
  @Test(arguments: ["*", "*.name", "name", "#0", "#0.name", "0.name", "count", "@sum.age"])
  func `an array that dies with its elements ends its watchers`(text: String) throws {
    let path = try Path(text)
    do {
      let people = ObservableArray([Person("Ann"), Person("Bob")])
      var options = WatcherOptions()
      options.onEnd = { [log] in log.note("end \($0)") }
      try people.observe(path, in: loop, options: options) { [log] _ in log.note("called") }
      loop.endTurn()
    }
    loop.step()
    #expect(log.events == ["end \(text)"])
  }

  // L3
  @Test(arguments: ["*.name", "name", "#0.name", "0.name"])
  func `an array that dies with its elements ends its immediate watchers`(text: String) throws {
    do {
      let people = ObservableArray([Person("Ann"), Person("Bob")])
      try people.observeImmediately(try Path(text), in: loop) { [log] _, _ in log.note("called") }
      loop.endTurn()
    }
    loop.endTurn()
    #expect(log.events == [])
  }

  // L3
  @Test func `a dictionary that dies with its values ends its watchers`() throws {
    do {
      let people: ObservableDictionary = ["ann": Person("Ann")]
      try people.observe("*.name", in: loop) { [log] _ in log.note("called") }
      try people.observe("ann.name", in: loop) { [log] _ in log.note("called") }
      loop.endTurn()
    }
    loop.endTurn()
    #expect(log.events == [])
  }

  // L3
  @Test func `a set that dies with its members ends its watchers`() throws {
    do {
      let addresses = ObservableSet<Member>([Member()])
      try addresses.observe("*.name", in: loop) { [log] _ in log.note("called") }
      loop.endTurn()
    }
    loop.endTurn()
    #expect(log.events == [])
  }

  /// A model that can be in a set.
  private final class Member: ObservableModel, Hashable {
    static let properties = ModelProperties(for: Member.self) {
      Property("name", get: { $0.name }, set: { $0.name = $1 })
    }
    let observation = ModelObservation()
    var name = "" { didSet { observation.didSet(0, from: oldValue, to: name) } }
    static func == (a: Member, b: Member) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }
}
