/// The protocol observers of an object that is used on one thread.
///
/// Observers are held weakly, with one registration for each observer and key (K1, K2). The
/// registry is confined to the thread of its object. It is normally used through the methods of
/// ``ProtocolObservable``.
public final class ObserverRegistry<Key: Hashable>: ObserverList {
  private var table = ObserverTable<Key>()

  /// Creates a registry without observers.
  public init() {}

  func add(_ observer: AnyObject, for key: Key?) -> Bool {
    var remains = Remains()
    return table.add(observer, for: key, in: nil, &remains)
  }

  /// Ends a registration for a key, or for no key; returns false if there was no registration.
  public func remove(_ observer: AnyObject, for key: Key?) -> Bool {
    var remains = Remains()
    return table.remove(observer, for: key, &remains)
  }

  /// Returns how many living observers are registered for a key, or for no key.
  public func count(for key: Key?) -> Int { table.entries(for: key).livingCount }

  /// The number of registrations in memory.
  package var registrationCount: Int { table.total }

  func notify<Observer>(for key: Key?, _ body: (Observer) throws -> Void) rethrows {
    // The entries are a copy: registrations that observers add or remove affect the next
    // notification (K3).
    var dead: [ObserverEntry] = []
    defer { if !dead.isEmpty { forget(dead, key) } }
    for entry in table.inOrder(for: key) {
      guard let object = entry.object else {
        dead.append(entry)
        continue
      }
      if let observer = object as? Observer { try body(observer) }
    }
  }

  private func forget(_ dead: [ObserverEntry], _ key: Key?) {
    var remains = Remains()
    table.remove(dead, for: key, &remains)
  }
}
