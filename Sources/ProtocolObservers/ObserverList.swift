/// The observers that are registered with an object: an ``ObserverRegistry``, or a
/// ``SharedObserverRegistry``.
public protocol ObserverList<Key>: AnyObject {
  /// The type of the keys for which observers register; `Never` for objects without keys.
  associatedtype Key: Hashable
  /// Ends a registration for a key, or for none; returns false where there was none.
  func remove(_ observer: AnyObject, for key: Key?) -> Bool
  /// How many living observers are registered for a key, or for none.
  func count(for key: Key?) -> Int
}
