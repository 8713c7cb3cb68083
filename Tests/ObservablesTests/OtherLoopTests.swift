import Observables
import Testing

/// An object is observed by one loop; for others it is an error that says so.
struct OtherLoopTests {
  private let one = Loop(clock: .virtual)
  private let two = Loop(clock: .virtual)
  private let person = Person("Ann", address: Address("1"))

  private func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "none"
    } catch { return "\(error)" }
  }

  @Test func `observing an object of another loop is an error, and changes nothing`() throws {
    var names: [String] = []
    try person.observe("name", in: one) { names.append($0.name) }
    let list = ObservableArray([1])
    try list.observe("*", in: one) { _ in }
    #expect(message { try person.observe("age", in: two) { _ in } }.contains("another loop"))
    #expect(message { try list.observe("*", in: two) { _ in } }.contains("another loop"))
    #expect(two.statistics.watchers == 0)
    one.turn { person.name = "Eve" }
    #expect(names == ["Eve"])
  }

  @Test func `so is a path that comes to one, which names the component`() throws {
    try person.address!.observe("zip", in: one) { _ in }
    let error = message { try person.observe("address.zip", in: two) { _ in } }
    #expect(
      error.contains("component 1 of key path 'address.zip'") && error.contains("another loop"))
    two.turn {}
    let people = ObservableArray([person])
    let friend = Person("Bob")
    friend.friend = person
    try person.observe("name", in: one) { _ in }
    #expect(message { try people.observe("*.name", in: two) { _ in } }.contains("another loop"))
    #expect(message { try friend.observe("friend.name", in: two) { _ in } }.contains("component 1"))
    #expect(two.statistics.watchers == 0)
  }

  @Test func `one that comes later is reported, and the rest of the path is heard`() throws {
    var errors: [String] = []
    two.onError = { errors.append("\($0)") }
    let other = Person("Bob")
    try person.observe("name", in: one) { _ in }
    var calls = 0
    try other.observe("friend.name", in: two) { _ in calls += 1 }
    two.turn { other.friend = person }
    #expect(calls == 1)
    #expect(errors.count == 1 && errors[0].contains("another loop"))
    two.turn { other.friend = Person("Eve") }
    two.turn { other.friend!.name = "Eva" }
    #expect(calls == 3 && errors.count == 1)
  }

  @Test func `when nobody observes it any more, another loop may`() throws {
    let watcher = try person.observe("name", in: one) { _ in }
    watcher.stop()
    one.turn {}
    var names: [String] = []
    try person.observe("name", in: two) { names.append($0.name) }
    two.turn { person.name = "Eve" }
    #expect(names == ["Eve"])
  }
}
