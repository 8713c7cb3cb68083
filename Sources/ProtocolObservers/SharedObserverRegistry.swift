import Synchronization

/// The protocol observers of an object that several threads use.
///
/// Observers are held weakly, with one registration for each observer and key (K1, K2), and are
/// called in their contexts (K3). May be used on any thread. The registry is normally used through
/// the methods of ``SharedProtocolObservable``.
public final class SharedObserverRegistry<Key: Hashable & Sendable>: ObserverList, Sendable {
  private let table = Mutex(ObserverTable<Key>())

  /// Creates a registry without observers.
  public init() {}

  func add(_ observer: AnyObject, for key: Key?, in context: DeliveryContext) -> Bool {
    // Only the address and a weak reference go into the table.
    nonisolated(unsafe) let observer = observer
    // Objects from the table are released outside of the lock.
    nonisolated(unsafe) var remains = Remains()
    return table.withLock { $0.add(observer, for: key, in: context, &remains) }
  }

  /// Ends a registration for a key, or for no key; returns false if there was no registration.
  public func remove(_ observer: AnyObject, for key: Key?) -> Bool {
    nonisolated(unsafe) let observer = observer
    nonisolated(unsafe) var remains = Remains()
    return table.withLock { $0.remove(observer, for: key, &remains) }
  }

  /// Returns how many living observers are registered for a key, or for no key.
  public func count(for key: Key?) -> Int { table.withLock { $0.entries(for: key) }.livingCount }

  /// The number of registrations in memory.
  package var registrationCount: Int { table.withLock { $0.total } }

  func notify<Observer>(for key: Key?, _ body: @escaping @Sendable (Observer) -> Void) {
    // Observers are called outside of the lock: they may add, remove and notify (K3).
    var dead: [ObserverEntry] = []
    for entry in table.withLock({ $0.inOrder(for: key) }) {
      if let context = entry.context, !context.isInline {
        // Only the context uses the observer. It is not kept alive elsewhere, even briefly.
        context.run { [self] in deliver(to: entry, for: key, body) }
      } else if let object = entry.object {
        if let observer = object as? Observer { body(observer) }
      } else {
        dead.append(entry)
      }
    }
    if !dead.isEmpty { forget(dead, key) }
  }

  private func deliver<Observer>(
    to entry: ObserverEntry, for key: Key?, _ body: @Sendable (Observer) -> Void
  ) {
    guard let object = entry.object else {
      forget([entry], key)
      return
    }
    guard isRegistered(entry, for: key), let observer = object as? Observer else { return }
    body(observer)
  }

  /// Whether an entry is still registered: it may have been removed after the notification was
  /// sent.
  private func isRegistered(_ entry: ObserverEntry, for key: Key?) -> Bool {
    table.withLock { $0.entries(for: key).contains(entry) }
  }

  private func forget(_ dead: [ObserverEntry], _ key: Key?) {
    nonisolated(unsafe) var remains = Remains()
    table.withLock { $0.remove(dead, for: key, &remains) }
  }
}
