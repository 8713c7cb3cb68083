/// The protocol observers of an object that is used on one thread.
///
/// Observers are held weakly, one registration for each, and for each key (K1, K2). Confined to the thread of
/// the object that has it. See `ProtocolObservable`, whose methods are the usual way to it.
public final class ObserverRegistry<Key: Hashable> {
  private var table = ObserverTable<Key>()

  /// A registry without observers.
  public init() {}

  func add(_ observer: AnyObject, for key: Key?) -> Bool { table.add(observer, for: key, in: nil) }

  func remove(_ observer: AnyObject, for key: Key?) -> Bool { table.remove(observer, for: key) }

  func count(for key: Key?) -> Int { table.entries(for: key).livingCount }

  /// How many registrations take memory.
  package var registrationCount: Int { table.total }

  func notify<Observer>(for key: Key?, _ body: (Observer) throws -> Void) rethrows {
    // A copy: what is added or removed meanwhile is for the next notification (K3).
    var hasDied = false
    defer { if hasDied { table.sweep(key) } }
    for entry in table.inOrder(for: key) {
      guard let object = entry.object else {
        hasDied = true
        continue
      }
      if let observer = object as? Observer { try body(observer) }
    }
  }
}
