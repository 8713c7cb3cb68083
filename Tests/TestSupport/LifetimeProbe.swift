/// Counts live objects.
package final class LifetimeProbe {
  package private(set) var alive = 0
  package init() {}

  package func born() { alive += 1 }
  package func died() { alive -= 1 }
}

/// Calls a closure when its last reference is released.
package final class LastWords: Sendable {
  private let body: @Sendable () -> Void
  package init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}
