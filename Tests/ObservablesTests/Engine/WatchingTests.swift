import Observables
import TestSupport
import Testing

/// W1: observed keys, and the hooks that report them.
struct WatchingTests {
  private let loop = Loop()
  private let log = Log()

  @discardableResult
  private func watch(_ person: Person, _ path: Path) throws -> Watcher {
    try person.observe(path, in: loop) { [log] _ in log.note("w") }
  }

  private func hook(_ person: Person) {
    person.onObserved(in: loop) { [log] key, isObserved in
      log.note("\(key) \(isObserved ? "observed" : "free")")
    }
  }

  // W1
  @Test func `observed keys are the keys on some path`() throws {
    let person = Person(address: Address())
    try watch(person, "address.zip")
    try watch(person, "name")
    try watch(person, "*")
    #expect(person.observedKeys == ["*", "address", "name"])
    #expect(person.address!.observedKeys == ["zip"])
  }

  // W1
  @Test func `observed keys follow replaced objects before the flush`() throws {
    let person = Person(address: Address())
    let old = person.address!
    try watch(person, "address.zip")
    person.address = Address()
    #expect(person.address!.observedKeys == ["zip"])
    #expect(old.observedKeys == [])
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  // W1
  @Test func `paths that pass through count as observers`() throws {
    let person = Person(address: Address())
    try watch(person, "address.zip")
    let watcher = try watch(person, "address")
    #expect(person.observerCount(of: "address") == 2)
    #expect(person.observerCount(of: "name") == 0)
    watcher.stop()
    #expect(person.observerCount(of: "address") == 1)
  }

  // W1
  @Test func `the hook reports the first and the last watcher of a key`() throws {
    let person = Person()
    hook(person)
    let first = try watch(person, "name")
    let second = try watch(person, "name")
    #expect(log.take() == ["name observed"])
    first.stop()
    #expect(log.take() == [])
    second.stop()
    #expect(log.take() == ["name free"])
  }

  // W1
  @Test func `the hook reports a path that arrives through a replaced object`() throws {
    let (person, friend) = (Person(), Person())
    hook(friend)
    try watch(person, "friend.name")
    person.friend = friend
    loop.endTurn()
    #expect(log.take() == ["w", "name observed"])
    person.friend = nil
    loop.endTurn()
    #expect(log.take() == ["w", "name free"])
  }

  // W1
  @Test func `the hook may observe and stop`() throws {
    let person = Person()
    var inner: Watcher?
    person.onObserved(in: loop) { [unowned person, loop, log] key, isObserved in
      log.note("\(key) \(isObserved)")
      if key == "name" {
        if isObserved {
          inner = try? person.observe("age", in: loop) { _ in }
        } else {
          inner?.stop()
        }
      }
    }
    let watcher = try watch(person, "name")
    watcher.stop()
    #expect(log.events == ["name true", "age true", "name false", "age false"])
  }

  // W1
  @Test func `a hook that drops its object is called last`() throws {
    var person: Person? = Person()
    let watcher = try watch(person!, "age")
    try watcher.observe("name")
    person!.onObserved(in: loop) { [log] key, _ in
      log.note(key)
      person = nil
    }
    watcher.stop()
    loop.endTurn()
    #expect(log.events.count == 1)
    #expect(loop.statistics.observedObjects == 0)
  }

  // W1
  @Test func `a removed hook is silent`() throws {
    let person = Person()
    hook(person)
    person.onObserved(in: loop, nil)
    try watch(person, "name")
    #expect(log.events == [])
  }

  @Test func `models are read and written by name`() throws {
    let person = Employee("Ann")
    let properties = Employee.properties
    try properties.set("name", of: person, to: "Bob")
    try properties.set("salary", of: person, to: 5)
    try properties.set("address", of: person, to: nil)
    #expect(try properties.value(of: "name", in: person) as? String == "Bob")
    #expect(try properties.value(of: "salary", in: person) as? Int == 5)
    #expect(try properties.value(of: "address", in: person) == nil)
  }

  @Test func `invalid writes by name are errors that name the property`() {
    let person = Person()
    let properties = Person.properties
    var errors: [String] = []
    for (name, value) in [("nmae", "x"), ("tag", "x"), ("age", "x")] {
      do {
        try properties.set(name, of: person, to: value)
      } catch {
        errors.append("\(error)")
      }
    }
    #expect(
      errors == [
        "Person has no property 'nmae' (did you mean 'name'?)",
        "property 'tag' of Person is read-only",
        "property 'age' of Person takes Int, not String",
      ])
  }
}
