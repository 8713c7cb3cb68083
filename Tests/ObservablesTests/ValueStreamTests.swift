import Observables
import Testing

/// The values of a path as an asynchronous sequence.
@MainActor struct ValueStreamTests {
  private let loop = Loop(clock: .virtual)
  private let person = Person("Ann", address: Address("1"))

  @Test func `a stream gives the present value, and the latest of each turn`() async throws {
    let stream = try person.values("address.zip", as: String.self, in: loop)
    var zips = stream.makeAsyncIterator()
    #expect(await zips.next() == "1")
    loop.turn {
      person.address!.zip = "2"
      person.address!.zip = "3"
    }
    #expect(await zips.next() == "3")
    // P6: it follows the new object.
    let old = person.address
    loop.turn { person.address = Address("4") }
    #expect(await zips.next() == "4")
    loop.turn { old!.zip = "5" }
    loop.turn { person.address!.zip = "6" }
    #expect(await zips.next() == "6")
  }

  @Test func `who reads slower than turns end gets the latest value`() async throws {
    var ages = try person.values("age", as: Int.self, in: loop).makeAsyncIterator()
    for age in 1...10 { loop.turn { person.age = age } }
    #expect(await ages.next() == 10)
    loop.turn { person.age = 11 }
    #expect(await ages.next() == 11)
  }

  @Test func `nil is a value where the type is optional, and left out otherwise`() async throws {
    person.address = nil
    var optional = try person.values("address.zip", as: String?.self, in: loop)
      .makeAsyncIterator()
    var zips = try person.values("address.zip", as: String.self, in: loop).makeAsyncIterator()
    #expect(await optional.next() == .some(nil))
    loop.turn { person.address = Address("1") }
    #expect(await optional.next() == "1")
    #expect(await zips.next() == "1")
    loop.turn { person.address = nil }
    #expect(await optional.next() == .some(nil))
    loop.turn { person.address = Address("2") }
    #expect(await zips.next() == "2")
  }

  @Test func `a stream ends with its object, which it does not keep`() async throws {
    let probe = LifetimeProbe()
    var other: Person? = Person("Bob", probe: probe)
    var names = try other!.values("name", as: String.self, in: loop).makeAsyncIterator()
    #expect(await names.next() == "Bob")
    other = nil
    #expect(probe.alive == 0)
    loop.turn {}
    #expect(await names.next() == nil)
  }

  @Test func `a stream ends with its loop`() async throws {
    var other: Loop? = Loop(clock: .virtual)
    var names = try person.values("name", as: String.self, in: other).makeAsyncIterator()
    #expect(await names.next() == "Ann")
    other = nil
    #expect(await names.next() == nil)
  }

  @Test func `a cancelled task ends its stream and the watcher behind it`() async throws {
    let names = try person.values("name", as: String.self, in: loop)
    let task = Task {
      var seen: [String] = []
      for await name in names { seen.append(name) }
      return seen
    }
    #expect(loop.statistics.watchers == 1)
    task.cancel()
    #expect(await task.value.count <= 1)
    loop.run()
    #expect(loop.statistics.watchers == 0)
  }

  @Test func `a stream that nobody reads any more ends its watcher`() throws {
    do { _ = try person.values("name", as: String.self, in: loop) }
    loop.run()
    #expect(loop.statistics.watchers == 0)
  }

  @Test func `another type, and a name that is not there, are errors`() throws {
    func message(_ body: () throws -> Void) -> String {
      do {
        try body()
        return "none"
      } catch { return "\(error)" }
    }
    #expect(
      message { _ = try person.values("name", as: Int.self, in: loop) }.contains(
        "of type String, not Int"))
    #expect(
      message { _ = try person.values("nmae", as: String.self, in: loop) }.contains("'name'"))
    loop.run()
    #expect(loop.statistics.watchers == 0)
  }

  // Z8
  @Test func `a value of another type later on is reported and left out`() async throws {
    var errors: [String] = []
    loop.onError = { errors.append("\($0)") }
    let things = ObservableDictionary<String, any Sendable>()
    things["a"] = 1
    var values = try things.values("a", as: Int.self, in: loop).makeAsyncIterator()
    #expect(await values.next() == 1)
    loop.turn { things["a"] = "text" }
    #expect(errors.count == 1 && errors[0].contains("of type String, not Int"))
    loop.turn { things["a"] = 2 }
    #expect(await values.next() == 2)
    #expect(errors.count == 1)
  }
}
