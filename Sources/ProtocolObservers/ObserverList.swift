/// Who has registered with an object: an ``ObserverRegistry``, or a ``SharedObserverRegistry``.
public protocol ObserverList<Key>: AnyObject {
  /// What observers register for; `Never` for objects without keys.
  associatedtype Key: Hashable
  /// Ends a registration for a key, or for none; false where there was none.
  func remove(_ observer: AnyObject, for key: Key?) -> Bool
  /// How many living observers are registered for a key, or for none.
  func count(for key: Key?) -> Int
}
