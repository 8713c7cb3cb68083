import Observables
import TestSupport
import Testing

/// A person on a loop with its own thread: each piece of work there is a turn.
private final class Stage: Sendable {
  // Used only on the loop's thread.
  private final class Objects {
    var person: Person? = Person("Ann", address: Address("1"))
    let things = ObservableDictionary<String, any Sendable>()
    let probe = LifetimeProbe()
    var errors: [String] = []
    weak var loop: Loop!
  }
  nonisolated(unsafe) private let objects = Objects()
  private let thread: LoopThread

  init() {
    nonisolated(unsafe) let objects = objects
    thread = LoopThread { loop in
      objects.loop = loop
      loop.onError = { objects.errors.append("\($0)") }
    }
  }

  /// Runs `body` in a turn, and waits until the turn is over.
  func turn<Result: Sendable>(
    _ body: @escaping @Sendable (Person, Loop) throws -> Result
  ) async throws -> Result {
    let result = try await onThread { try body($0.person!, $0.loop) }
    _ = try await onThread { _ in }
    return result
  }

  /// A turn with a dictionary, which is deallocated on the loop's thread.
  func turnOfThings<Result: Sendable>(
    _ body: @escaping @Sendable (ObservableDictionary<String, any Sendable>, Loop) throws -> Result
  ) async throws -> Result {
    let result = try await onThread { try body($0.things, $0.loop) }
    _ = try await onThread { _ in }
    return result
  }

  var errors: [String] { get async throws { try await onThread { $0.errors } } }
  var watchers: Int { get async throws { try await onThread { $0.loop.statistics.watchers } } }

  /// Replaces the person, drops it in the next turn, and returns the number of live persons then.
  func drop(_ body: @escaping @Sendable (Person, Loop) throws -> Void) async throws -> Int {
    try await onThread { objects in
      objects.person = Person("Bob", probe: objects.probe)
      try body(objects.person!, objects.loop)
    }
    return try await onThread { objects in
      objects.person = nil
      return objects.probe.alive
    }
  }

  func stop() { thread.stop() }

  private func onThread<Result: Sendable>(
    _ body: @escaping @Sendable (Objects) throws -> Result
  ) async throws -> Result {
    nonisolated(unsafe) let objects = objects
    return try await withCheckedThrowingContinuation { continuation in
      thread.inbox.post {
        continuation.resume(with: Swift.Result { try body(objects) })
      }
    }
  }
}

/// The values of a path as an asynchronous sequence.
@Suite(.timeLimit(.minutes(30))) struct ValueStreamTests {
  private let stage = Stage()

  private func stream<Value: Sendable>(
    _ path: String, as type: Value.Type
  ) async throws -> AsyncStream<Value> {
    try await stage.turn { person, loop in try person.values(Path(path), as: type, in: loop) }
  }

  @Test func `a stream delivers the present value, and the latest of each turn`() async throws {
    var zips = try await stream("address.zip", as: String.self).makeAsyncIterator()
    #expect(await zips.next() == "1")
    try await stage.turn { person, _ in
      person.address!.zip = "2"
      person.address!.zip = "3"
    }
    #expect(await zips.next() == "3")
    // P6: the path follows the new object, and not the old one.
    try await stage.turn { person, _ in
      let old = person.address!
      person.address = Address("4")
      old.zip = "5"
    }
    #expect(await zips.next() == "4")
    try await stage.turn { person, _ in person.address!.zip = "6" }
    #expect(await zips.next() == "6")
  }

  @Test func `a slow reader gets the latest value`() async throws {
    var ages = try await stream("age", as: Int.self).makeAsyncIterator()
    for age in 1...10 { try await stage.turn { person, _ in person.age = age } }
    #expect(await ages.next() == 10)
    try await stage.turn { person, _ in person.age = 11 }
    #expect(await ages.next() == 11)
  }

  @Test func `nil is a value if the type is optional, and left out otherwise`() async throws {
    try await stage.turn { person, _ in person.address = nil }
    var optional = try await stream("address.zip", as: String?.self).makeAsyncIterator()
    var zips = try await stream("address.zip", as: String.self).makeAsyncIterator()
    #expect(await optional.next() == .some(nil))
    try await stage.turn { person, _ in person.address = Address("1") }
    #expect(await optional.next() == "1")
    #expect(await zips.next() == "1")
    try await stage.turn { person, _ in person.address = nil }
    #expect(await optional.next() == .some(nil))
    try await stage.turn { person, _ in person.address = Address("2") }
    #expect(await zips.next() == "2")
  }

  @Test func `a stream ends with its object, and does not keep it alive`() async throws {
    let (names, continuation) = AsyncStream.makeStream(of: AsyncStream<String>.self)
    let alive = try await stage.drop { person, loop in
      continuation.yield(try person.values("name", as: String.self, in: loop))
    }
    #expect(alive == 0)
    var streams = names.makeAsyncIterator()
    var values: [String] = []
    for await name in await streams.next()! { values.append(name) }
    #expect(values == ["Bob"])
  }

  @Test func `a stream ends with its loop`() async throws {
    var names = try await stream("name", as: String.self).makeAsyncIterator()
    #expect(await names.next() == "Ann")
    stage.stop()
    #expect(await names.next() == nil)
  }

  @Test func `a cancelled task ends its stream and the watcher behind it`() async throws {
    let names = try await stream("name", as: String.self)
    let task = Task {
      var seen: [String] = []
      for await name in names { seen.append(name) }
      return seen
    }
    #expect(try await stage.watchers == 1)
    task.cancel()
    #expect(await task.value.count <= 1)
    #expect(try await stage.watchers == 0)
  }

  @Test func `an unread stream ends its watcher`() async throws {
    do { _ = try await stream("name", as: String.self) }
    #expect(try await stage.watchers == 0)
  }

  @Test func `another type and an unknown name are errors`() async throws {
    func message(_ body: () async throws -> Void) async -> String {
      do {
        try await body()
        return "none"
      } catch { return "\(error)" }
    }
    #expect(
      await message { _ = try await stream("name", as: Int.self) }.contains(
        "of type String, not Int"))
    #expect(await message { _ = try await stream("nmae", as: String.self) }.contains("'name'"))
    #expect(try await stage.watchers == 0)
  }

  // Z8
  @Test func `a later value of another type is reported and left out`() async throws {
    let stream = try await stage.turnOfThings { things, loop in
      things["a"] = 1
      return try things.values("a", as: Int.self, in: loop)
    }
    var values = stream.makeAsyncIterator()
    #expect(await values.next() == 1)
    try await stage.turnOfThings { things, _ in things["a"] = "text" }
    let errors = try await stage.errors
    #expect(errors.count == 1 && errors[0].contains("of type String, not Int"))
    try await stage.turnOfThings { things, _ in things["a"] = 2 }
    #expect(await values.next() == 2)
    #expect(try await stage.errors.count == 1)
  }
}
