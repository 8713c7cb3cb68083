import Observables
import ProtocolObservers
import TestSupport
import Testing

private protocol NameObserver: AnyObject {
  func renamed(from old: String, to new: String)
}
private protocol AgeObserver: AnyObject {
  func aged(to age: Int) throws
}

private final class Subject: ProtocolObservable {
  let observers = ObserverRegistry<String>()
  var name = "a" {
    didSet {
      withObservers { (observer: any NameObserver) in observer.renamed(from: oldValue, to: name) }
    }
  }
  func age(to age: Int) throws {
    try withObservers { (observer: any AgeObserver) in try observer.aged(to: age) }
  }
  func change(_ key: String, to age: Int) {
    withObservers(for: key) { (key, observer: Listener) in observer.heard(key, age) }
  }
}

private final class Readings: ProtocolObservable {
  let observers = ObserverRegistry<Double>()
}

private class Listener: NameObserver {
  let name: String
  let log: Log
  var reaction: () -> Void = {}
  init(_ name: String, _ log: Log) { (self.name, self.log) = (name, log) }
  func renamed(from old: String, to new: String) {
    log.note("\(name): \(old) → \(new)")
    reaction()
  }
  func heard(_ key: String, _ value: Int) { log.note("\(name): \(key) \(value)") }
}

private final class Both: Listener, AgeObserver {
  struct TooOld: Error {}
  func aged(to age: Int) throws {
    log.note("\(name): \(age)")
    if age > 100 { throw TooOld() }
  }
}

/// K1, K2, K3: observers registered for a protocol, on one thread.
struct ProtocolObserverTests {
  private let log = Log()
  private let subject = Subject()

  private func listener(_ name: String) -> Listener { Listener(name, log) }

  // K1
  @Test func `observers are called with the observable's values, in order of registration`() {
    let observers = ["x", "y", "z"].map(listener)
    defer { withExtendedLifetime(observers) {} }
    subject.addObservers(observers)
    subject.name = "b"
    #expect(log.events == ["x: a → b", "y: a → b", "z: a → b"])
    #expect(subject.observerCount == 3)
  }

  // K1
  @Test func `an observer is called for the protocols that it conforms to, and no others`() throws {
    let (one, both) = (listener("one"), Both("both", log))
    subject.addObservers([one, both])
    try subject.age(to: 3)
    #expect(log.take() == ["both: 3"])
    subject.name = "b"
    #expect(log.take() == ["one: a → b", "both: a → b"])
  }

  // K1
  @Test func `registering twice is one registration, and removing ends it`() {
    let one = listener("one")
    #expect(subject.addObserver(one))
    #expect(!subject.addObserver(one))
    subject.name = "b"
    #expect(log.take() == ["one: a → b"])
    #expect(subject.removeObserver(one))
    #expect(!subject.removeObserver(one))
    subject.name = "c"
    #expect(log.take() == [])
    #expect(subject.addObserver(one))
    subject.name = "d"
    #expect(log.take() == ["one: c → d"])
  }

  // K1, K3
  @Test func `observers are held weakly, and their registrations are removed`() {
    let kept = listener("kept")
    subject.addObserver(kept)
    subject.addObserver(kept, for: "k")
    for round in 0..<1000 {
      let other = listener("other")
      subject.addObserver(other)
      subject.addObserver(other, for: "k")
      subject.addObserver(other, for: "\(round)")
    }
    #expect(subject.observers.registrationCount < 200)
    subject.name = "b"
    subject.change("k", to: 1)
    #expect(log.take() == ["kept: a → b", "kept: k 1"])
    #expect(subject.observerCount == 1 && subject.observerCount(for: "k") == 1)
    #expect(subject.observerCount(for: "7") == 0)
  }

  // K2
  @Test func `a key that is not equal to itself does no harm`() {
    let readings = Readings()
    for key in 0..<100 { readings.addObserver(listener("gone"), for: [.nan, Double(key)]) }
    let kept = listener("kept")
    readings.addObserver(kept, for: [.nan, 1])
    #expect(readings.observerCount(for: .nan) == 0 && readings.observerCount(for: 1) == 1)
  }

  // K1
  @Test func `a notification that throws stops there`() throws {
    let observers = ["x", "y"].map { Both($0, log) }
    defer { withExtendedLifetime(observers) {} }
    subject.addObservers(observers)
    #expect(throws: Both.TooOld.self) { try subject.age(to: 101) }
    #expect(log.take() == ["x: 101"])
    try subject.age(to: 1)
    #expect(log.take() == ["x: 1", "y: 1"])
  }

  // K3
  @Test func `changes of the registrations inside a notification affect the next one`() {
    let (one, two, three) = (listener("one"), listener("two"), listener("three"))
    subject.addObservers([one, two])
    one.reaction = { [subject] in
      subject.removeObserver(two)
      subject.addObserver(three)
    }
    subject.name = "b"
    #expect(log.take() == ["one: a → b", "two: a → b"])
    subject.name = "c"
    #expect(log.take() == ["one: b → c", "three: b → c"])
  }

  // K3
  @Test func `an observer that is deallocated inside a notification is not called`() {
    let one = listener("one")
    var two: Listener? = listener("two")
    subject.addObservers([one, two!])
    one.reaction = { two = nil }
    subject.name = "b"
    #expect(log.take() == ["one: a → b"])
    #expect(subject.observers.registrationCount == 1)
  }

  // K3
  @Test func `notifications may be nested`() {
    let (one, two, three) = (listener("one"), listener("two"), listener("three"))
    subject.addObservers([one, two])
    one.reaction = { [subject] in
      one.reaction = {}
      subject.addObserver(three)
      subject.name = "c"
    }
    subject.name = "b"
    // The nested notification comes first, and reaches observers added before it began.
    #expect(
      log.take() == [
        "one: a → b", "one: b → c", "two: b → c", "three: b → c", "two: a → c",
      ])
  }

  // K2
  @Test func `an observer is called only for the keys that it registered for`() {
    let (one, two, plain) = (listener("one"), listener("two"), listener("plain"))
    subject.addObserver(one, for: "a")
    subject.addObserver(two, for: ["a", "b"])
    subject.addObserver(plain)
    for key in ["a", "b", "c"] { subject.change(key, to: 1) }
    #expect(log.take() == ["one: a 1", "two: a 1", "two: b 1"])
    subject.name = "b"
    #expect(log.take() == ["plain: a → b"])
  }

  // K2
  @Test func `one or many observers register and unregister for one or many keys`() {
    let observers = ["x", "y"].map(listener)
    func heard() -> [String] {
      subject.withObservers(for: ["a", "b"]) { (key, observer: Listener) in
        observer.heard(key, 0)
      }
      return log.take()
    }
    subject.addObserver(observers[0], for: "a")
    #expect(heard() == ["x: a 0"])
    subject.addObservers(observers, for: "a")
    #expect(heard() == ["x: a 0", "y: a 0"])
    subject.removeObservers(observers, for: "a")
    #expect(heard() == [])
    subject.addObservers(observers, for: ["a", "b"])
    #expect(heard() == ["x: a 0", "y: a 0", "x: b 0", "y: b 0"])
    subject.removeObserver(observers[0], for: ["a", "b", "c"])
    #expect(heard() == ["y: a 0", "y: b 0"])
    subject.removeObserver(observers[1], for: "b")
    #expect(heard() == ["y: a 0"])
    subject.removeObservers(observers, for: ["a", "b"])
    #expect(heard() == [])
    #expect(subject.observers.registrationCount == 0)
  }

  // K1, K2
  @Test func `registrations with and without keys end separately`() {
    let one = listener("one")
    subject.addObserver(one)
    subject.addObserver(one, for: "a")
    subject.removeObserver(one)
    subject.name = "b"
    subject.change("a", to: 2)
    #expect(log.take() == ["one: a 2"])
    subject.addObserver(one)
    subject.removeObserver(one, for: "a")
    subject.change("a", to: 3)
    subject.name = "c"
    #expect(log.take() == ["one: b → c"])
  }

  // K1, K2, K3
  @Test(arguments: 1...20) func `random registrations call the observers in a plain list`(seed: Int)
  {
    var random = SeededGenerator(seed: seed)
    var alive: [String: Listener] = [:]
    var expected: [(key: String?, name: String)] = []
    let keys: [String?] = [nil, "a", "b", "c"]
    for step in 0..<400 {
      let name = "o\(Int.random(in: 0..<12, using: &random))"
      let key = keys.randomElement(using: &random)!
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        let observer = alive[name] ?? listener(name)
        alive[name] = observer
        let isNew = !expected.contains { $0.key == key && $0.name == name }
        let result =
          key.map { subject.addObserver(observer, for: $0) } ?? subject.addObserver(observer)
        #expect(result == isNew)
        if isNew { expected.append((key, name)) }
      case 2:
        guard let observer = alive[name] else { continue }
        let was = expected.contains { $0.key == key && $0.name == name }
        let result =
          key.map { subject.removeObserver(observer, for: $0) } ?? subject.removeObserver(observer)
        #expect(result == was)
        expected.removeAll { $0.key == key && $0.name == name }
      case 3:
        alive[name] = nil
        expected.removeAll { $0.name == name }
      default:
        if let key { subject.change(key, to: step) } else { subject.name += "." }
        let names = log.take().map { $0.prefix { $0 != ":" } }.map(String.init)
        #expect(names == expected.filter { $0.key == key }.map(\.name), "step \(step)")
      }
    }
  }
}
