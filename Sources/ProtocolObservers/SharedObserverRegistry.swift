import Synchronization

/// The protocol observers of an object that several threads use.
///
/// Observers are held weakly, one registration for each, and for each key (K1, K2), and are called
/// where they want to be (K3). May be used on any thread. See ``SharedProtocolObservable``, whose
/// methods are the usual way to it.
public final class SharedObserverRegistry<Key: Hashable & Sendable>: ObserverList, Sendable {
  private let table = Mutex(ObserverTable<Key>())

  /// A registry without observers.
  public init() {}

  func add(_ observer: AnyObject, for key: Key?, in context: DeliveryContext) -> Bool {
    // Only its address and a weak reference go into the table.
    nonisolated(unsafe) let observer = observer
    // Objects from the table are released when nothing is locked.
    nonisolated(unsafe) var remains = Remains()
    return table.withLock { $0.add(observer, for: key, in: context, &remains) }
  }

  /// Ends a registration for a key, or for none; returns false where there was none.
  public func remove(_ observer: AnyObject, for key: Key?) -> Bool {
    nonisolated(unsafe) let observer = observer
    nonisolated(unsafe) var remains = Remains()
    return table.withLock { $0.remove(observer, for: key, &remains) }
  }

  /// How many living observers are registered for a key, or for none.
  public func count(for key: Key?) -> Int { table.withLock { $0.entries(for: key) }.livingCount }

  /// How many registrations take memory.
  package var registrationCount: Int { table.withLock { $0.total } }

  func notify<Observer>(for key: Key?, _ body: @escaping @Sendable (Observer) -> Void) {
    // Observers are called outside of the lock: they may add, remove and notify (K3).
    var dead: [ObserverEntry] = []
    for entry in table.withLock({ $0.inOrder(for: key) }) {
      if let context = entry.context, !context.isInline {
        // The observer is used in its context only, and not kept alive elsewhere, not even for a
        // moment.
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

  /// Whether an entry is still registered: it may have been removed since the notification was
  /// sent.
  private func isRegistered(_ entry: ObserverEntry, for key: Key?) -> Bool {
    table.withLock { $0.entries(for: key).contains(entry) }
  }

  private func forget(_ dead: [ObserverEntry], _ key: Key?) {
    nonisolated(unsafe) var remains = Remains()
    table.withLock { $0.remove(dead, for: key, &remains) }
  }
}
