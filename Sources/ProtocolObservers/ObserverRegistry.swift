/// The protocol observers of an object that is used on one thread.
///
/// Observers are held weakly, one registration for each, and for each key (K1, K2). Confined to the
/// thread of the object that has it. See ``ProtocolObservable``, whose methods are the usual way to
/// it.
public final class ObserverRegistry<Key: Hashable>: ObserverList {
  private var table = ObserverTable<Key>()

  /// A registry without observers.
  public init() {}

  func add(_ observer: AnyObject, for key: Key?) -> Bool {
    var remains = Remains()
    return table.add(observer, for: key, in: nil, &remains)
  }

  /// Ends a registration for a key, or for none; returns false where there was none.
  public func remove(_ observer: AnyObject, for key: Key?) -> Bool {
    var remains = Remains()
    return table.remove(observer, for: key, &remains)
  }

  /// How many living observers are registered for a key, or for none.
  public func count(for key: Key?) -> Int { table.entries(for: key).livingCount }

  /// How many registrations take memory.
  package var registrationCount: Int { table.total }

  func notify<Observer>(for key: Key?, _ body: (Observer) throws -> Void) rethrows {
    // The entries are a copy: registrations that are added or removed meanwhile are for the next
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
