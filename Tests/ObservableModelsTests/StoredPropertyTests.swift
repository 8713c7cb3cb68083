import Observables
import Testing

/// Stored properties of models that are written by macro.
struct StoredPropertyTests {
  private let loop = Loop(clock: .virtual)
  private let ada = Person("Ada")

  // T1
  @Test func `a watcher is called once per turn with the latest state`() throws {
    var names: [String] = []
    try ada.observe("name", in: loop) { names.append($0.name) }
    loop.turn { (ada.name, ada.name) = ("Augusta", "Ada King") }
    #expect(names == ["Ada King"])
  }

  // T5
  @Test func `an equal value is no change, in place either`() throws {
    var calls = 0
    try ada.observe("age", in: loop) { _ in calls += 1 }
    loop.turn { ada.age = 0 }
    loop.turn { ada.age += 0 }
    #expect(calls == 0)
    loop.turn { ada.age += 1 }
    #expect(calls == 1)
  }

  // P6
  @Test func `a path leads through models and follows replaced ones`() throws {
    var zips: [String?] = []
    try ada.observe("address.zip", in: loop) { zips.append($0.address?.zip) }
    let old = Address("10115")
    loop.turn { ada.address = old }
    loop.turn { ada.address = Address("97210") }
    loop.turn { old.zip = "silent" }
    loop.turn { ada.address?.zip += "-1" }
    #expect(zips == ["10115", "97210", "97210-1"])
  }

  // L4
  @Test func `a weak property stays weak, and its end is a change in the middle of a path`() throws
  {
    var calls = 0
    try ada.observe("boss.name", in: loop) { _ in calls += 1 }
    var boss: Person? = Person("Charles")
    loop.turn { ada.boss = boss }
    #expect(calls == 1)
    loop.turn { boss = nil }
    #expect(ada.boss == nil && calls == 2 && boss == nil)
  }

  @Test func `willSet and didSet run around the write, and may write the property`() throws {
    var values: [Int] = []
    try ada.observeImmediately("clamped", in: loop) { person, change in
      values.append(person.clamped)
      person.log.append("\(change.old!) -> \(change.new!)")
    }
    loop.turn { ada.clamped = 20 }
    #expect(ada.log == ["will 20", "did 0", "0 -> 10"] && values == [10])
  }

  @Test func `each write of a type without equality is a change`() throws {
    var calls = 0
    try ada.observe("onHello", in: loop) { _ in calls += 1 }
    loop.turn { ada.onHello = {} }
    loop.turn { ada.onHello = ada.onHello }
    #expect(calls == 2)
  }

  @Test func `a change of an array in place reports both values`() throws {
    var changes: [String] = []
    try ada.observeImmediately("tags", in: loop) { changes.append("\($1.old!) \($1.new!)") }
    loop.turn { ada.tags.append("poet") }
    loop.turn { ada.tags[0] = "mathematician" }
    #expect(changes == [#"[] ["poet"]"#, #"["poet"] ["mathematician"]"#])
  }

  // P9
  @Test func `private and ignored properties have no name, unless they are requested`() throws {
    #expect(
      Person.properties.names == [
        "name", "age", "address", "boss", "number", "born", "clamped", "onHello", "tags", "hidden",
      ])
    #expect(throws: PathError.self) { try ada.observe("secret", in: loop) { _ in } }
    var calls = 0
    try ada.observe("hidden", in: loop) { _ in calls += 1 }
    loop.turn { ada.hide(3) }
    #expect(calls == 1)
  }

  // B2
  @Test(arguments: ["number", "born"])
  func `a private setter and a constant are read-only by name`(name: String) throws {
    let error = #expect(throws: ModelError.self) {
      try Person.properties.set(name, of: ada, to: 1)
    }
    #expect(error?.code == .readOnly)
  }

  @Test func `the class itself can write properties that are read-only by name`() throws {
    var numbers: [Int] = []
    try ada.observe("number", in: loop) { numbers.append($0.number) }
    loop.turn { ada.renumber() }
    #expect(numbers == [8])
  }

  @Test func `reads and writes by name are the same as by the accessors`() throws {
    try Person.properties.set("age", of: ada, to: 36)
    #expect(try Person.properties.value(of: "age", in: ada) as? Int == 36 && ada.age == 36)
  }

  // L2
  @Test func `an observed model is released, together with the objects in its paths`() throws {
    weak var gone: Manager?
    do {
      let manager = Manager("Charles", address: Address("1"))
      manager.team = Address("2")
      try manager.observe("address.zip", in: loop) { _ in }
      try manager.observe("team.zip", in: loop) { _ in }
      gone = manager
    }
    loop.turn {}
    #expect(gone == nil && loop.statistics.watchers == 0)
  }
}
