/// The registered observers of an object: an ``ObserverRegistry`` or a ``SharedObserverRegistry``.
public protocol ObserverList<Key>: AnyObject {
  /// The type of the keys for which observers register; `Never` for objects without keys.
  associatedtype Key: Hashable
  /// Ends a registration for a key, or for no key; returns false if there was no registration.
  func remove(_ observer: AnyObject, for key: Key?) -> Bool
  /// Returns how many living observers are registered for a key, or for no key.
  func count(for key: Key?) -> Int
}
