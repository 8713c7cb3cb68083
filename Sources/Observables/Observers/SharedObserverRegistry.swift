import Synchronization

/// The protocol observers of an object that several threads use.
///
/// Observers are held weakly, one registration for each, and for each key (K1, K2), and are called where they
/// want to be (K3). May be used on any thread. See `SharedProtocolObservable`, whose methods are the usual way
/// to it.
public final class SharedObserverRegistry<Key: Hashable & Sendable>: Sendable {
  private let table = Mutex(ObserverTable<Key>())

  /// A registry without observers.
  public init() {}

  func add(_ observer: AnyObject, for key: Key?, in context: DeliveryContext) -> Bool {
    // Only its address and a weak reference go into the table.
    nonisolated(unsafe) let observer = observer
    return table.withLock { $0.add(observer, for: key, in: context) }
  }

  func remove(_ observer: AnyObject, for key: Key?) -> Bool {
    nonisolated(unsafe) let observer = observer
    return table.withLock { $0.remove(observer, for: key) }
  }

  func count(for key: Key?) -> Int { table.withLock { $0.entries(for: key).livingCount } }

  /// How many registrations take memory.
  package var registrationCount: Int { table.withLock { $0.total } }

  func notify<Observer>(for key: Key?, _ body: @escaping @Sendable (Observer) -> Void) {
    // Called outside of the lock: who is called may add, remove and notify (K3).
    var hasDied = false
    for entry in table.withLock({ $0.inOrder(for: key) }) {
      if let context = entry.context, !context.isInline {
        // The observer is used there alone, and nowhere else kept alive for a moment.
        context.run { [self] in deliver(to: entry, for: key, body) }
      } else if let object = entry.object {
        if let observer = object as? Observer { body(observer) }
      } else {
        hasDied = true
      }
    }
    if hasDied { table.withLock { $0.sweep(key) } }
  }

  private func deliver<Observer>(
    to entry: ObserverEntry, for key: Key?, _ body: @Sendable (Observer) -> Void
  ) {
    guard let object = entry.object else {
      table.withLock { $0.sweep(key) }
      return
    }
    guard isRegistered(entry, object, for: key), let observer = object as? Observer else { return }
    body(observer)
  }

  /// It may have been removed since the notification was sent.
  private func isRegistered(_ entry: ObserverEntry, _ object: AnyObject, for key: Key?) -> Bool {
    nonisolated(unsafe) let object = object
    return table.withLock { $0.entries(for: key).contains(entry, of: object) }
  }
}
