import Synchronization

/// An object whose instances are counted, to find frames that an error jumped over.
final class Probe: Sendable {
  final class Count: Sendable {
    let living = Atomic(0)
    let made = Atomic(0)
    let deferred = Atomic(0)
  }

  private let count: Count

  init(_ count: Count) {
    self.count = count
    count.living.add(1, ordering: .relaxed)
    count.made.add(1, ordering: .relaxed)
  }

  deinit { count.living.subtract(1, ordering: .relaxed) }
}

extension Probe.Count {
  /// Runs `body` in a frame that holds a probe and has a deferred action.
  func frame<Result>(_ body: () throws -> Result) rethrows -> Result {
    let probe = Probe(self)
    defer { deferred.add(1, ordering: .relaxed) }
    return try withExtendedLifetime(probe, body)
  }

  var livingNow: Int { living.load(ordering: .relaxed) }
  var madeSoFar: Int { made.load(ordering: .relaxed) }
  var deferredSoFar: Int { deferred.load(ordering: .relaxed) }
}
