import OpenCombine

/// The same shapes as chains of publishers, as far as possible.
///
/// OpenCombine 0.14 has no `combineLatest`, and with it a value that arrives by several paths would
/// be passed on once for each of them.
func addShapePeers(to harness: inout Harness) {
  for (name, count, build) in peers {
    let iterate = build()
    let time = harness.time(count) { for _ in 0..<$0 { iterate() } }
    harness.add(name, "OpenCombine CurrentValueSubject, map", time / 1000, unit: "µs")
  }
}

private typealias Numbers = AnyPublisher<Int, Never>
private typealias Head = CurrentValueSubject<Int, Never>
private typealias Peer = (name: String, count: Int, build: @Sendable () -> () -> Void)

private let peers: [Peer] = [
  ("deep, 50", 20, deep), ("broad, 50", 20, broad), ("repeated, 30", 50, repeated),
  ("avoidable", 10, avoidable),
]

extension Publisher where Output == Int, Failure == Never {
  fileprivate func plus(_ amount: Int) -> Numbers { map { $0 + amount }.eraseToAnyPublisher() }
}

private func deep() -> () -> Void {
  let head = Head(0)
  let last = (0..<50).reduce(head.eraseToAnyPublisher()) { publisher, _ in publisher.plus(1) }
  return writing(head, [last], writes: 50, calls: 50) { 50 + $0 }
}

private func broad() -> () -> Void {
  let head = Head(0)
  let ends = (0..<50).map { head.plus($0).plus(1) }
  return writing(head, ends, writes: 50, calls: 2500) { 50 + $0 }
}

private func repeated() -> () -> Void {
  let head = Head(0)
  let sum = head.map { value in (0..<30).reduce(0) { sum, _ in sum + opaque(value) } }
  return writing(head, [sum.eraseToAnyPublisher()], writes: 100, calls: 100) { 30 * $0 }
}

private func avoidable() -> () -> Void {
  let head = Head(0)
  let calls = Calls()
  let work = {
    calls.count += 1
    for i in 0..<100 { _ = opaque(i) }
  }
  var last = 0
  let sink = head.plus(0).map { _ in 0 }.removeDuplicates()
    .map { value -> Int in
      work()
      return value + 1
    }
    .plus(2).plus(3)
    .sink {
      last = $0
      work()
    }
  let before = calls.count
  return {
    withExtendedLifetime(sink) {
      for i in [1] + Array(0..<1000) {
        head.value = i
        check(last == 6, "the value is always the same")
      }
      check(calls.count == before, "nothing behind the constant runs again")
    }
  }
}

/// One iteration: writes 1, then 0, 1 …, and checks the value of the last end after each write.
private func writing(
  _ head: Head, _ ends: [Numbers], writes: Int, calls expectedCalls: Int,
  _ expected: @escaping (Int) -> Int
) -> () -> Void {
  let calls = Calls()
  var last = 0
  // OpenCombine chooses the order of several sinks.
  let sinks = ends.indices.map { index in
    ends[index].sink {
      calls.count += 1
      if index == ends.count - 1 { last = $0 }
    }
  }
  return {
    withExtendedLifetime(sinks) {
      head.value = 1
      calls.count = 0
      for i in 0..<writes {
        head.value = i
        check(last == expected(i), "the value at the end")
      }
      check(calls.count == expectedCalls, "the calls for these writes")
    }
  }
}

private final class Calls {
  var count = 0
}
