import LibC
import Observables
import ProtocolObservers
import Synchronization
import TestSupport
import Testing

private protocol ValueObserver: AnyObject {
  func heard(_ value: Int)
}

private final class Source: SharedProtocolObservable {
  let observers = SharedObserverRegistry<String>()
  func send(_ value: Int) {
    withObservers { (observer: any ValueObserver) in observer.heard(value) }
  }
  func send(_ value: Int, for key: String) {
    withObservers(for: key) { (_, observer: any ValueObserver) in observer.heard(value) }
  }
}

/// Used only where it registered, except for `values` at the end.
private final class Sink: ValueObserver {
  var values: [Int] = []
  var reaction: (Int) -> Void = { _ in }
  func heard(_ value: Int) {
    values.append(value)
    reaction(value)
  }
}

private final class Counter: ValueObserver, Sendable {
  let count = Atomic(0)
  func heard(_ value: Int) { count.add(1, ordering: .relaxed) }
}

@MainActor private final class View: ValueObserver {
  private(set) var values: [Int] = []
  nonisolated func heard(_ value: Int) {
    MainActor.assumeIsolated { values.append(value) }
  }
}

private actor Reader {
  private final class Sink: ValueObserver {
    var values: [Int] = []
    func heard(_ value: Int) { values.append(value) }
  }
  private let sink = Sink()
  private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

  func register(with source: Source) { source.addObserver(sink) }
  func register(with source: Source, for keys: [String]) {
    for key in keys { source.addObserver(sink, for: key) }
  }
  func remove(from source: Source) { source.removeObserver(sink) }
  var values: [Int] { sink.values }
}

/// K3: observers of objects that several threads use.
struct SharedObserverTests {
  private let source = Source()

  /// Waits until `condition` holds, without blocking the code that makes it hold.
  private func until(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async -> Bool
  ) async {
    while !(await condition()) { await Task.yield() }
  }

  @Test func `without a loop or an actor an observer is called inline`() {
    let counter = Counter()
    // This thread may have a loop.
    let sender = Sender { [source] in source.addObserver(counter) }
    sender.start()
    sender.join()
    source.send(1)
    #expect(counter.count.load(ordering: .relaxed) == 1)
    source.removeObserver(counter)
    source.send(2)
    #expect(counter.count.load(ordering: .relaxed) == 1)
  }

  @Test func `an observer that registered on a loop is called on its thread, in order`() {
    let loop = Loop(clock: .virtual)
    let sink = Sink()
    _ = loop.turn { source.addObserver(sink) }
    let threads = (0..<4).map { thread in
      Sender { [source] in for value in 0..<100 { source.send(thread * 100 + value) } }
    }
    for thread in threads { thread.start() }
    for thread in threads { thread.join() }
    #expect(sink.values == [])
    loop.run()
    #expect(sink.values.sorted() == Array(0..<400))
    for thread in 0..<4 {
      let own = sink.values.filter { $0 / 100 == thread }
      #expect(own == own.sorted())
    }
    withExtendedLifetime(loop) {}
  }

  // T1
  @Test func `a call on a loop is one of its turns`() throws {
    let loop = Loop(clock: .virtual)
    let (sink, ages) = (Sink(), ObservableDictionary<String, Int>())
    var seen: [Int?] = []
    try ages.observe("age", in: loop) { seen.append($0["age"]) }
    sink.reaction = { ages["age"] = $0 }
    _ = loop.turn { source.addObserver(sink) }
    source.send(3)
    source.send(4)
    loop.run()
    #expect(seen == [3, 4])
  }

  @Test func `an observer that registered on an actor is called on it, in order`() async {
    let reader = Reader()
    await reader.register(with: source)
    for value in 0..<1000 { source.send(value) }
    await until { await reader.values.count == 1000 }
    #expect(await reader.values == Array(0..<1000))
    await reader.remove(from: source)
    #expect(source.observerCount == 0)
  }

  @Test func `an actor receives notifications for separate registrations in order`() async {
    let reader = Reader()
    let keys = (0..<10).map(String.init)
    await reader.register(with: source, for: keys)
    for value in 0..<1000 { source.send(value, for: keys[value % 10]) }
    await until { await reader.values.count == 1000 }
    #expect(await reader.values == Array(0..<1000))
  }

  @Test func `an observer registered in an actor is called there, despite its thread's loop`() async
  {
    let (reader, witness) = (Reader(), Witness())
    do {
      let loop = Loop(clock: .virtual)
      source.addObserver(witness, isolation: reader)
      source.send(1)
      loop.run()
      // While this thread was in the loop, it was not in the actor.
      #expect(!witness.threads.contains(pthread_self()))
    }
    await until { witness.threads.count == 1 }
  }

  @Test func `of several loops of a thread, an observer is called on the one in a turn`() {
    let heard = Mutex<[[Int]]>([])
    let sender = Sender { [source] in
      let (first, second) = (Loop(clock: .virtual), Loop(clock: .virtual))
      let sink = Sink()
      _ = first.turn { source.addObserver(sink) }
      source.send(1)
      for loop in [second, first] {
        loop.run()
        heard.withLock { $0.append(sink.values) }
      }
    }
    sender.start()
    sender.join()
    #expect(heard.withLock { $0 } == [[], [1]])
  }

  @Test func `two equally suited loops of a thread are an error that names both`() async {
    let outcome = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (first, second) = (Loop(), Loop(file: "other", line: 5))
      Source().addObserver(Counter())
      withExtendedLifetime((first, second)) {}
    }
    let errors = String(decoding: outcome?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("Misuse: It is not clear which loop calls the observer, the loop made"))
    #expect(errors.contains(" or the loop made at other:5: pass it as 'in: .loop(inbox)'"))
  }

  // L1
  @Test func `an observer does not keep the actor that owns it alive`() async {
    var reader: Reader? = Reader()
    weak let gone = reader
    await reader!.register(with: source)
    reader = nil
    await until { gone == nil }
    source.send(1)
    #expect(source.observerCount == 0)
  }

  @Test @MainActor func `an observer that registered on the main actor is called on it`() async {
    let view = View()
    source.addObserver(view, in: .actor(MainActor.shared))
    let sender = Sender { [source] in for value in 0..<100 { source.send(value) } }
    sender.start()
    await until { view.values.count == 100 }
    #expect(view.values == Array(0..<100))
  }

  @Test func `a call in transit is not made if the observer was removed`() {
    let loop = Loop(clock: .virtual)
    let (sink, other) = (Sink(), Sink())
    source.addObservers([sink, other], in: .loop(loop.inbox))
    source.addObserver(sink, for: "k", in: .loop(loop.inbox))
    source.send(1)
    source.send(2, for: "k")
    source.removeObserver(sink)
    loop.run()
    #expect(sink.values == [2])
    #expect(other.values == [1])
  }

  @Test func `an observer deallocated before its call arrives is not called`() {
    let loop = Loop(clock: .virtual)
    var sink: Sink? = Sink()
    weak let gone = sink
    _ = loop.turn { source.addObserver(sink!) }
    source.send(1)
    sink = nil
    #expect(gone == nil)
    loop.run()
    #expect(source.observers.registrationCount == 0)
  }

  @Test func `nested notifications can change registrations without a deadlock`() {
    let (one, two, three) = (Sink(), Sink(), Sink())
    source.addObservers([one, two], in: .inline)
    one.reaction = { [source] value in
      if value == 1 {
        source.removeObserver(two)
        source.addObserver(three, in: .inline)
        source.send(2)
        source.send(3, for: "k")
        source.addObserver(three, for: "k", in: .inline)
        source.send(4, for: "k")
      }
    }
    source.send(1)
    #expect(one.values == [1, 2])
    #expect(two.values == [1])
    #expect(three.values == [2, 4])
  }

  @Test func `threads register, notify and remove at the same time, and nothing is lost`() {
    let fixed = (0..<8).map { _ in Counter() }
    defer { withExtendedLifetime(fixed) {} }
    let rounds = Size.of(2_000, light: 300)
    source.addObservers(fixed, for: ["a", "b"], in: .inline)
    let threads = (0..<8).map { index in
      Sender { [source] in
        let own = Counter()
        for round in 0..<rounds {
          source.addObserver(own, for: "a", in: .inline)
          source.send(round, for: index % 2 == 0 ? "a" : "b")
          source.removeObserver(own, for: "a")
          source.addObserver(Counter(), for: "\(round)", in: .inline)
        }
        // The observer's own notifications, and others made while it was registered.
        if index % 2 == 0 { #expect(own.count.load(ordering: .relaxed) >= rounds) }
      }
    }
    for thread in threads { thread.start() }
    for thread in threads { thread.join() }
    for counter in fixed { #expect(counter.count.load(ordering: .relaxed) == 8 * rounds) }
    #expect(source.observerCount(for: "a") == 8 && source.observerCount(for: "0") == 0)
    #expect(source.observers.registrationCount < 100)
  }

  @Test func `objects released with a registration may use the observable`() {
    let counts = Mutex<[Int]>([])
    let other = Counter()
    func register(_ counter: Counter) {
      let last = LastWords { [source] in
        let count = source.observerCount
        counts.withLock { $0.append(count) }
        source.removeObserver(other)
      }
      source.addObserver(
        counter,
        in: DeliveryContext { call in
          call()
          withExtendedLifetime(last) {}
        })
    }
    let counter = Counter()
    register(counter)
    source.removeObserver(counter)
    #expect(counts.withLock { $0 } == [0])
    // Dead observers are removed when there are many.
    for _ in 0..<100 { register(Counter()) }
    source.send(1)
    #expect(source.observers.registrationCount == 0)
  }

  @Test func `a context runs its functions`() {
    let calls = Mutex<[@Sendable () -> Void]>([])
    let sink = Sink()
    withoutActuallyEscaping({ (call: @escaping @Sendable () -> Void) in
      calls.withLock { $0.append(call) }
    }) { enqueue in
      nonisolated(unsafe) let enqueue = enqueue
      source.addObserver(sink, in: DeliveryContext { enqueue($0) })
      source.send(1)
      #expect(sink.values == [])
      for call in calls.withLock({ $0 }) { call() }
      calls.withLock { $0 = [] }
      source.removeObserver(sink)
    }
    #expect(sink.values == [1])
  }
}

/// Records the threads on which it was called.
private final class Witness: ValueObserver, Sendable {
  private let calls = Mutex<[pthread_t]>([])
  var threads: [pthread_t] { calls.withLock { $0 } }
  func heard(_ value: Int) { calls.withLock { $0.append(pthread_self()) } }
}

/// A thread for tests: runs a function once.
private final class Sender: ObservableThread, @unchecked Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  override func main() { body() }
}
