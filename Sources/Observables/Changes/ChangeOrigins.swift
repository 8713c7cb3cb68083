/// Notifies shadows before and after changes of an origin are applied (X2).
package final class ChangeOrigins {
  /// A shadow, or the shadows of a host of scripts.
  package protocol Listener: AnyObject {
    /// Called before changes of an origin are applied.
    func willApply(from origin: AnyHashable)
    /// Called after they were applied, or undone; in the latter case `isMade` is false.
    func didApply(isMade: Bool)
  }

  private struct WeakListener { weak var listener: (any Listener)? }

  private var listeners: [ObjectIdentifier: WeakListener] = [:]
  /// The listeners that were notified of the current application.
  private var notified: [any Listener] = []
  /// The number of nested applications; writes of inner ones belong to the origin of the outermost
  /// one.
  private var depth = 0

  package init() {}

  package func add(_ listener: any Listener) {
    listeners[ObjectIdentifier(listener)] = WeakListener(listener: listener)
  }

  package func remove(_ listener: any Listener) { listeners[ObjectIdentifier(listener)] = nil }

  /// Begins an application of changes, which `end` ends; `isKnown` selects the listeners to notify
  /// of the origin.
  package func begin(_ origin: AnyHashable, isKnown: (any Listener) -> Bool = { _ in true }) {
    depth += 1
    guard depth == 1 else { return }
    notified = listeners.values.compactMap(\.listener).filter(isKnown)
    for listener in notified { listener.willApply(from: origin) }
  }

  package func end(isMade: Bool) {
    depth -= 1
    guard depth == 0 else { return }
    let concerned = notified
    notified = []
    for listener in concerned { listener.didApply(isMade: isMade) }
  }
}
