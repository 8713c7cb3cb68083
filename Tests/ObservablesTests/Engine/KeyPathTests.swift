import Observables
import TestSupport
import Testing

/// P3–P9: the changes that a registered path reports.
struct KeyPathTests {
  private let loop = Loop()
  private let log = Log()

  @discardableResult
  private func watch(_ person: Person, _ path: Path, _ name: String = "w") throws -> Watcher {
    try person.observe(path, in: loop) { [log] _ in log.note(name) }
  }

  // P4
  @Test func `registration calls nothing`() throws {
    let person = Person("Ann")
    try watch(person, "name")
    loop.endTurn()
    #expect(log.events == [])
  }

  // P5
  @Test func `a write to the only component delivers`() throws {
    let person = Person("Ann")
    try person.observe("name", in: loop) { [log] person in log.note(person.name) }
    person.name = "Bob"
    loop.endTurn()
    #expect(log.events == ["Bob"])
  }

  // P4, P5
  @Test func `a path through nil reports when the object appears and disappears`() throws {
    let person = Person()
    try person.observe("address.zip", in: loop) { [log] person in
      log.note(person.address?.zip ?? "nil")
    }
    person.address = Address("10115")
    loop.endTurn()
    person.address?.zip = "97210"
    loop.endTurn()
    person.address = nil
    loop.endTurn()
    #expect(log.events == ["10115", "97210", "nil"])
  }

  // P5
  @Test func `a change between two unreachable states delivers`() throws {
    let person = Person()
    try watch(person, "friend.address.zip")
    person.friend = Person()
    loop.endTurn()
    person.friend = nil
    loop.endTurn()
    #expect(log.events == ["w", "w"])
  }

  // P6
  @Test func `a replaced address is followed and the old one is ignored`() throws {
    let person = Person(address: Address("1"))
    let old = person.address!
    try person.observe("address.zip", in: loop) { [log] person in log.note(person.address!.zip) }
    person.address = Address("2")
    loop.endTurn()
    old.zip = "old"
    loop.endTurn()
    person.address!.zip = "3"
    loop.endTurn()
    #expect(log.events == ["2", "3"])
  }

  // P5, P6
  @Test func `an equal but not identical replacement delivers and moves the wiring`() throws {
    let person = Person(address: Address("1"))
    let old = person.address!
    try watch(person, "address.zip")
    person.address = Address("1")
    loop.endTurn()
    #expect(log.take() == ["w"])
    old.zip = "old"
    loop.endTurn()
    #expect(log.take() == [])
    person.address!.zip = "2"
    loop.endTurn()
    #expect(log.take() == ["w"])
  }

  // P6
  @Test func `a write to the new branch in the same turn is part of the same call`() throws {
    let person = Person(address: Address("1"))
    try watch(person, "address.zip")
    person.address = Address("2")
    person.address!.zip = "3"
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  // P6
  @Test func `several objects replaced in one turn are followed once`() throws {
    let person = Person(address: Address("1", city: City("A")))
    let (address, city) = (person.address!, person.address!.city!)
    try watch(person, "address.city.name")
    address.city = City("B")
    person.address = Address("2", city: City("C"))
    person.address = Address("3", city: City("D"))
    loop.endTurn()
    city.name = "silent"
    address.city!.name = "silent"
    address.city = nil
    loop.endTurn()
    person.address!.city!.name = "heard"
    loop.endTurn()
    #expect(log.events == ["w", "w"])
  }

  // P7
  @Test func `a path may pass into a string and reports nothing beyond it`() throws {
    let person = Person("Ann")
    try watch(person, "name.length.anything")
    person.name = "Bob"
    loop.endTurn()
    #expect(log.events == ["w"])
  }

  // P7
  @Test func `a path may pass into an opaque object`() throws {
    let person = Person()
    person.tag = Opaque()
    try watch(person, "tag.zip")
    person.tag!.zip = "silent"
    loop.endTurn()
    #expect(log.take() == [])
    person.tag = Opaque()
    loop.endTurn()
    #expect(log.take() == ["w"])
  }

  // P8
  @Test func `a path that loops back to its root is called once per turn`() throws {
    let person = Person()
    person.friend = person
    try watch(person, "friend.friend.friend.name")
    person.name = "x"
    loop.endTurn()
    #expect(log.take() == ["w"])
    person.friend = Person()
    loop.endTurn()
    #expect(log.take() == ["w"])
    person.name = "y"
    loop.endTurn()
    #expect(log.take() == [])
    person.friend = nil
    loop.endTurn()
  }

  // P8
  @Test func `cutting one of two routes to an object keeps the other`() throws {
    let (person, shared) = (Person(), Address("1"))
    let friend = Person(address: shared)
    person.address = shared
    person.friend = friend
    try person.observe(
      "address.zip", "friend.address.zip", in: loop
    ) { [log] _ in log.note("w") }
    shared.zip = "2"
    loop.endTurn()
    #expect(log.take() == ["w"])
    person.address = nil
    loop.endTurn()
    #expect(log.take() == ["w"])
    shared.zip = "3"
    loop.endTurn()
    #expect(log.take() == ["w"])
  }

  // P3
  @Test func `a wildcard at the end means any property of the object, and nothing below`() throws {
    let person = Person(address: Address("1"))
    try watch(person, "*")
    person.name = "Ann"
    person.age = 3
    loop.endTurn()
    #expect(log.take() == ["w"])
    person.address!.zip = "silent"
    loop.endTurn()
    #expect(log.take() == [])
  }

  // P3
  @Test func `a wildcard in the middle fans out to every object`() throws {
    let person = Person(address: Address("1"))
    person.friend = Person()
    try watch(person, "*.name")
    person.friend!.name = "heard"
    loop.endTurn()
    #expect(log.take() == ["w"])
    let old = person.friend!
    person.friend = Person()
    loop.endTurn()
    #expect(log.take() == ["w"])
    old.name = "silent"
    loop.endTurn()
    #expect(log.take() == [])
    person.friend!.name = "heard"
    loop.endTurn()
    #expect(log.take() == ["w"])
  }

  // P3, P8
  @Test func `an object under a wildcard twice is observed until it is gone from both`() throws {
    let (person, shared) = (Person(), Person())
    person.friend = shared
    person.boss = shared
    try watch(person, "*.name")
    person.friend = nil
    loop.endTurn()
    #expect(log.take() == ["w"])
    shared.name = "heard"
    loop.endTurn()
    #expect(log.take() == ["w"])
    person.boss = nil
    loop.endTurn()
    #expect(log.take() == ["w"])
    shared.name = "silent"
    loop.endTurn()
    #expect(log.take() == [])
  }

  // P3
  @Test func `several wildcards in one path`() throws {
    let person = Person()
    person.friend = Person()
    person.friend!.friend = Person()
    try watch(person, "*.*.*")
    person.friend!.friend!.age = 1
    loop.endTurn()
    person.friend!.friend = Person()
    loop.endTurn()
    person.friend!.friend!.age = 2
    loop.endTurn()
    #expect(log.events == ["w", "w", "w"])
  }

  // P9
  @Test func `a misspelt name is an error that suggests the nearest one`() {
    let person = Person(address: Address())
    let error = #expect(throws: PathError.self) { try watch(person, "address.zpi") }
    #expect(error?.code == .unknownName)
    #expect(error?.component == 2)
    #expect(
      error?.description == """
        component 2 of key path 'address.zpi': Address has no property 'zpi' (did you mean 'zip'?)
        """)
    #expect(loop.statistics.watchers == 0)
  }

  // P9
  @Test func `a failed registration observes nothing and calls no hook`() {
    let person = Person(address: Address())
    person.onObserved(in: loop) { [log] key, isObserved in log.note("\(key) \(isObserved)") }
    #expect(throws: PathError.self) { try watch(person, "address.zpi") }
    loop.endTurn()
    #expect(log.events == [])
    #expect(person.observedKeys == [])
  }

  // P9
  @Test func `an element of a list is not a property of a model`() {
    let error = #expect(throws: PathError.self) { try watch(Person(), "#1") }
    #expect(error?.code == .unsupported)
  }

  // P9
  @Test func `a misspelt name of an object that appears later is reported once`() throws {
    let person = Person()
    loop.onError = { [log] error in log.note("\(error)") }
    try person.observe("friend.nmae.x", in: loop, options: WatcherOptions(name: "typo")) {
      [log] _ in
      log.note("called")
    }
    for _ in 1...2 {
      person.friend = Person()
      loop.endTurn()
    }
    #expect(
      log.take() == [
        """
        component 2 of key path 'friend.nmae.x': Person has no property 'nmae' (did you mean \
        'name'?), observed by typo
        """, "called", "called",
      ])
  }

  // P9
  @Test func `an object without the name that appears later is silent`() throws {
    let person = Person()
    loop.onError = { [log] error in log.note("\(error)") }
    try watch(person, "friend.salary")
    person.friend = Person()
    loop.endTurn()
    #expect(log.take() == ["w"])
    let employee = Employee()
    person.friend = employee
    loop.endTurn()
    #expect(log.take() == ["w"])
    employee.salary = 10
    loop.endTurn()
    #expect(log.take() == ["w"])
  }

  // P9
  @Test func `a subclass has the inherited properties and additional ones`() throws {
    let employee = Employee("Ann")
    try watch(employee, "name", "name")
    try watch(employee, "salary", "salary")
    employee.name = "Bob"
    employee.salary = 1
    loop.endTurn()
    #expect(log.events == ["name", "salary"])
    #expect(Employee.properties.names.last == "salary")
  }

  // P1
  @Test func `a path of ten thousand components follows its objects`() throws {
    let people = (0..<10_000).map { Person("\($0)") }
    defer { withExtendedLifetime(people) {} }
    for (person, next) in zip(people, people.dropFirst()) { person.friend = next }
    let names = Array(repeating: "friend", count: 9_999) + ["name"]
    let watcher = try people[0].observe(Path(names: names), in: loop) { [log] _ in log.note("w") }
    people[9_999].name = "heard"
    loop.endTurn()
    people[5_000].friend = nil
    loop.endTurn()
    people[9_999].name = "silent"
    loop.endTurn()
    #expect(log.events == ["w", "w"])
    #expect(watcher.stop() == 1)
  }

  // L5
  @Test func `several paths can be added to a watcher and removed by one call`() throws {
    let person = Person("Ann", address: Address("1"))
    let watcher = try watch(person, "friend", "w")
    try watcher.observe("name", "address.zip")
    person.address!.zip = "2"
    loop.endTurn()
    #expect(person.stopObserving(["name", "address.zip", "age"]) == 2)
    person.name = "Bob"
    loop.endTurn()
    #expect(log.take() == ["w"])
    #expect(watcher.stop() == 1)
  }

  // P9
  @Test func `if one of several paths is wrong none of them is added`() throws {
    let person = Person("Ann")
    let watcher = try watch(person, "name", "w")
    #expect(throws: PathError.self) { try watcher.observe("name", "age", "nmae") }
    #expect(person.observedKeys == ["name"] && person.observerCount(of: "name") == 1)
    person.age = 1
    loop.endTurn()
    #expect(log.take() == [])
    #expect(watcher.stop() == 1)
  }
}
