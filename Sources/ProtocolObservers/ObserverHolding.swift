/// The common part of ``ProtocolObservable`` and ``SharedProtocolObservable``: ending and counting
/// registrations.
public protocol ObserverHolding: AnyObject {
  /// The type of the keys for which observers register; `Never` for objects without keys.
  associatedtype ObserverKey
  /// The type of its registry.
  associatedtype Observers: ObserverList<ObserverKey>
  /// The registered observers.
  var observers: Observers { get }
}

extension ObserverHolding {
  /// Ends the registration of an observer: notifications that begin later do not call it.
  ///
  /// Its registrations for keys stay.
  ///
  /// - Returns: false if it was not registered, which is harmless.
  @discardableResult
  public func removeObserver(_ observer: AnyObject) -> Bool { observers.remove(observer, for: nil) }

  /// Ends the registrations of several observers.
  public func removeObservers(_ observers: some Sequence<AnyObject>) {
    for observer in observers { removeObserver(observer) }
  }

  /// How many living observers are registered for no key.
  ///
  /// - Complexity: O(*n*)
  public var observerCount: Int { observers.count(for: nil) }

  // MARK: For keys

  /// Ends the registration of an observer for one key.
  ///
  /// - Returns: false if it was not registered for the key, which is harmless.
  @discardableResult
  public func removeObserver(_ observer: AnyObject, for key: ObserverKey) -> Bool {
    observers.remove(observer, for: key)
  }

  /// Ends the registrations of an observer for several keys.
  public func removeObserver(_ observer: AnyObject, for keys: some Sequence<ObserverKey>) {
    for key in keys { removeObserver(observer, for: key) }
  }

  /// Ends the registrations of several observers for one key.
  public func removeObservers(_ observers: some Sequence<AnyObject>, for key: ObserverKey) {
    for observer in observers { removeObserver(observer, for: key) }
  }

  /// Ends the registrations of several observers for several keys each.
  public func removeObservers(
    _ observers: some Sequence<AnyObject>, for keys: some Collection<ObserverKey>
  ) {
    for observer in observers { removeObserver(observer, for: keys) }
  }

  /// How many living observers are registered for a key.
  ///
  /// - Complexity: O(*n*)
  public func observerCount(for key: ObserverKey) -> Int { observers.count(for: key) }
}
