import Observables
import Testing

/// Lazy properties of Swift models (Z1–Z14).
@Suite struct LazyTests {
  @Test func `a lazy property is computed once, when it is read`() {  // Z1
    let loop = Loop()
    loop.turn {
      let person = Poet()
      #expect(person.runs == [:] && person.invalidNames.contains("full"))
      #expect(person.full == "Ada Lovelace" && person.full == "Ada Lovelace")
      #expect(person.runs == ["full": 1])
      #expect(person.$full.isValid && person.$full.peek == "Ada Lovelace")
    }
  }

  @Test func `a computed property is invalid as soon as one of its sources is written`() {
    // Z2
    let loop = Loop()
    loop.turn {
      let person = Poet()
      #expect(person.shout == "ADA LOVELACE")
      person.first = "Grace"
      #expect(!person.$full.isValid && !person.$shout.isValid)
      #expect(person.$full.peek == nil)
      #expect(person.shout == "GRACE LOVELACE")
      #expect(person.runs == ["full": 2, "shout": 2])
      person.first = "Grace"
      #expect(person.$shout.isValid)
    }
  }

  @Test func `watchers of a computed property are called if its new value differs`() throws {  // Z4
    let loop = Loop()
    let person = Poet()
    var calls: [String] = []
    try loop.turn {
      try person.observe("shout") { calls.append($0.shout) }
      #expect(person.runs == ["full": 1, "shout": 1])
    }
    loop.turn { person.first = "Grace" }
    #expect(calls == ["GRACE LOVELACE"])
    loop.turn { person.first = "GRACE" }
    #expect(calls.count == 1)
    #expect(person.runs == ["full": 3, "shout": 3])
    loop.turn {
      person.first = "Ada"
      _ = person.shout
      person.first = "Grace"
    }
    #expect(calls.count == 1)
  }

  @Test func `assigning overrides until the next invalidation`() throws {  // Z5
    let loop = Loop()
    let person = Poet()
    var calls: [String] = []
    try loop.turn { try person.observe("full") { calls.append($0.full) } }
    loop.turn { person.full = "Anybody" }
    #expect(calls == ["Anybody"] && person.runs["full"] == 1)
    loop.turn { person.full = "Somebody" }
    loop.turn { person.last = "King" }
    #expect(calls == ["Anybody", "Somebody", "Ada King"])
    let other = Poet()
    loop.turn {
      other.full = "Nobody"
      #expect(other.runs == [:] && other.full == "Nobody")
      other.last = "King"
      #expect(other.full == "Ada King")
    }
  }

  @Test func `one loader serves many names`() {  // Z6
    let loop = Loop()
    loop.turn {
      let person = Poet()
      #expect(person.size == 3 && person.weight == 70 && person.runs == ["size": 1])
      person.$size.invalidate()
      #expect(person.size == 3 && person.runs == ["size": 2])
    }
  }

  @Test func `a created object is configured once, and nil arms the property again`() {  // Z7
    let loop = Loop()
    loop.turn {
      let person = Poet()
      #expect(person.$address.peek == nil && person.runs == [:])
      let address = person.address
      #expect(address?.zip == "Lovelace" && person.address === address)
      person.address = nil
      #expect(person.address !== address && person.runs["address"] == 2)
    }
  }

  @Test func `an uncached property reports changes`() throws {  // Z3
    let loop = Loop()
    let person = Poet()
    var calls = 0
    try loop.turn { try person.observe("initials") { _ in calls += 1 } }
    loop.turn { person.first = "Anna" }
    #expect(calls == 1 && person.initials == "AL")
  }

  @Test func `key paths follow the objects that a property is computed from`() throws {  // Z2
    let loop = Loop()
    let (person, friend) = (Poet(), Poet("Grace", "Hopper"))
    var calls: [String] = []
    try loop.turn { try person.observe("both") { calls.append($0.both) } }
    loop.turn { person.friend = friend }
    loop.turn { friend.last = "Murray" }
    loop.turn { person.friend = nil }
    loop.turn { friend.last = "Hopper" }
    #expect(
      calls == [
        "Ada Lovelace & Grace Hopper", "Ada Lovelace & Grace Murray", "Ada Lovelace & nobody",
      ])
  }

  @Test func `assigning a read-only property traps, and names the class`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Poet().both = "nobody"
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("Poet.both is read-only"))
  }

  @Test func `a cycle is an error that names its members`() {  // Z11
    let loop = Loop()
    loop.turn {
      let person = Poet()
      #expect(throws: LazyError.cycle(names: ["left", "right", "left"])) { try person.$left.get() }
      #expect(throws: LazyError.cycle(names: ["right", "left", "right"])) {
        try person.$right.get()
      }
    }
  }

  @Test func `a getter fails with the error of a plain read in it`() {  // Z8
    struct Failure: Error {}
    final class Risk: ObservableModel {
      static let properties = ModelProperties(for: Risk.self) {
        Property("risky", lazy: { $0.$risky }) { _ in throw Failure() }
        Property("next", lazy: { $0.$next }, from: ["risky"]) { $0.risky + 1 }
        Property("last", tracked: { $0.$last }) { $0.risky + 2 }
      }
      let observation = ModelObservation()
      @Lazy var risky: Int = 0
      @Lazy var next: Int
      @Lazy var last: Int
    }
    let loop = Loop()
    loop.turn {
      let risk = Risk()
      for _ in 1...2 {
        #expect(throws: Failure.self) { try risk.$next.get() }
        #expect(throws: Failure.self) { try risk.$last.get() }
        #expect(risk.$next.peek == nil)
        #expect(risk.$last.peek == nil)
      }
    }
  }

  @Test func `the result of a getter that disturbs its own property is discarded`() {  // Z8
    let loop = Loop()
    loop.turn {
      let cell = Cell(1)
      cell.habit = { cell in cell.source += 1 }
      for _ in 1...2 {
        #expect(throws: LazyError.disturbed(property: "value", by: "source")) {
          try cell.$value.get()
        }
        #expect(cell.$value.peek == nil)
      }
      cell.habit = { cell in cell.$value.invalidate() }
      for _ in 1...2 {
        #expect(throws: LazyError.invalidated(property: "value")) { try cell.$value.get() }
        #expect(!cell.$value.isValid)
      }
      cell.habit = nil
      #expect(cell.value == 3)
    }
  }

  @Test func `a cycle through several objects names their classes`() {  // Z11
    let loop = Loop()
    loop.turn {
      let cells = [Cell(), Cell()]
      (cells[0].left, cells[1].left) = (cells[1], cells[0])
      #expect(throws: LazyError.cycle(names: ["Cell.value", "Cell.value", "Cell.value"])) {
        try cells[0].$value.get()
      }
    }
  }
}
