/// Counts live objects.
package final class LifetimeProbe {
  package private(set) var alive = 0
  package init() {}

  package func born() { alive += 1 }
  package func died() { alive -= 1 }
}
