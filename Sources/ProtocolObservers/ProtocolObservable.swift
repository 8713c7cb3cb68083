/// An object that calls methods of protocols on observers that registered for them.
///
/// ```swift
/// protocol PriceObserver: AnyObject {
///   func price(of item: Item, changedFrom old: Int, to new: Int)
/// }
///
/// final class Item: ProtocolObservable {
///   let observers = ObserverRegistry<Never>()
///   var price = 0 {
///     didSet {
///       withObservers { (observer: any PriceObserver) in
///         observer.price(of: self, changedFrom: oldValue, to: price)
///       }
///     }
///   }
/// }
/// ```
///
/// An observer may conform to any number of protocols, and is notified through each of them. It is
/// held weakly, and called at once, on the thread of the object; all of this is confined to that
/// thread (K1, K3). Adding and removing observers during a notification affects the next one.
/// Notifications may be nested. With a key type other than `Never`, observers can register for some
/// keys only (K2).
///
/// ``SharedProtocolObservable`` does the same for objects that several threads use.
public protocol ProtocolObservable: ObserverHolding
where Observers == ObserverRegistry<ObserverKey> {}

extension ProtocolObservable {
  /// Registers an observer, which is held weakly.
  ///
  /// - Returns: false if it is registered already, which changes nothing.
  @discardableResult
  public func addObserver(_ observer: AnyObject) -> Bool { observers.add(observer, for: nil) }

  /// Registers several observers.
  public func addObservers(_ observers: some Sequence<AnyObject>) {
    for observer in observers { addObserver(observer) }
  }

  /// Calls `body` with each observer that is an `Observer`, in order of registration, except
  /// observers that registered only for keys.
  ///
  /// - Throws: any error of `body`; the observers after it are not called.
  /// - Complexity: O(*n*), and O(*n* log *n*) after a registration.
  public func withObservers<Observer>(_ body: (Observer) throws -> Void) rethrows {
    try observers.notify(for: nil, body)
  }

  // MARK: For keys

  /// Registers an observer for one key.
  ///
  /// - Returns: false if it is registered for the key already.
  @discardableResult
  public func addObserver(_ observer: AnyObject, for key: ObserverKey) -> Bool {
    observers.add(observer, for: key)
  }

  /// Registers an observer for several keys.
  public func addObserver(_ observer: AnyObject, for keys: some Sequence<ObserverKey>) {
    for key in keys { addObserver(observer, for: key) }
  }

  /// Registers several observers for one key.
  public func addObservers(_ observers: some Sequence<AnyObject>, for key: ObserverKey) {
    for observer in observers { addObserver(observer, for: key) }
  }

  /// Registers several observers for several keys each.
  public func addObservers(
    _ observers: some Sequence<AnyObject>, for keys: some Collection<ObserverKey>
  ) {
    for observer in observers { addObserver(observer, for: keys) }
  }

  /// Calls `body` with the key and each observer that registered for it and is an `Observer`, in
  /// order of registration.
  ///
  /// - Throws: any error of `body`; the observers after it are not called.
  /// - Complexity: O(*n*), and O(*n* log *n*) after a registration.
  public func withObservers<Observer>(
    for key: ObserverKey, _ body: (ObserverKey, Observer) throws -> Void
  ) rethrows {
    try observers.notify(for: key) { observer in try body(key, observer) }
  }

  /// Calls `body` with each of several keys, one after the other, and each observer that registered
  /// for it and is an `Observer`.
  ///
  /// - Throws: any error of `body`; the observers after it are not called.
  public func withObservers<Observer>(
    for keys: some Sequence<ObserverKey>, _ body: (ObserverKey, Observer) throws -> Void
  ) rethrows {
    for key in keys { try withObservers(for: key, body) }
  }
}
