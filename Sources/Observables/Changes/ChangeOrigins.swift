/// Notifies those who keep states of trees of the changes that an origin applies (X2).
package final class ChangeOrigins {
  /// Keeps states that leave out the writes of some origins.
  package protocol Listener: AnyObject {
    /// Called before changes of an origin are applied.
    func willApply(from origin: AnyHashable)
    /// Called when they are; `isMade` is false where all were taken back.
    func didApply(isMade: Bool)
  }

  private struct WeakListener { weak var listener: (any Listener)? }

  private var listeners: [ObjectIdentifier: WeakListener] = [:]
  /// Who was notified of each apply under way, the innermost last.
  private var notified: [[any Listener]] = []

  package init() {}

  package func add(_ listener: any Listener) {
    listeners[ObjectIdentifier(listener)] = WeakListener(listener: listener)
  }

  package func remove(_ listener: any Listener) { listeners[ObjectIdentifier(listener)] = nil }

  /// Begins an apply, which `end` ends; `isKnown` says who may hear of the origin.
  package func begin(_ origin: AnyHashable, isKnown: (any Listener) -> Bool = { _ in true }) {
    let concerned = listeners.values.compactMap(\.listener).filter(isKnown)
    notified.append(concerned)
    for listener in concerned { listener.willApply(from: origin) }
  }

  package func end(isMade: Bool) {
    for listener in notified.popLast() ?? [] { listener.didApply(isMade: isMade) }
  }
}
