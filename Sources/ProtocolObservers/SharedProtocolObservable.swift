/// An object that several threads use, and that calls methods of protocols on observers that
/// registered for them.
///
/// It works like ``ProtocolObservable``, but may be used on any thread. Each observer is called in
/// the context from which it registered, or in the context it asked for: the thread of its loop,
/// its actor, or inline, by the notifying code (K3). An observer that is called may add, remove and
/// notify, as no lock is held. Registrations that it adds or removes affect the next notification.
/// If an observer is removed while a call is on its way to another context, the call is not made.
///
/// ```swift
/// final class Store: SharedProtocolObservable {
///   let observers = SharedObserverRegistry<String>()
///   func set(_ value: Int, for key: String) {
///     …
///     withObservers(for: key) { (key, observer: any StoreObserver) in
///       observer.changed(key, to: value)
///     }
///   }
/// }
/// ```
public protocol SharedProtocolObservable: ObserverHolding, Sendable
where Observers == SharedObserverRegistry<ObserverKey>, ObserverKey: Sendable {}

extension SharedProtocolObservable {
  /// Registers an observer, which is held weakly, and called in `context`: by default the context
  /// of the caller.
  ///
  /// - Returns: false if it is registered already, which changes nothing.
  @discardableResult
  public func addObserver(
    _ observer: AnyObject, in context: DeliveryContext? = nil,
    isolation: (any Actor)? = #isolation
  ) -> Bool {
    observers.add(observer, for: nil, in: context ?? .current(isolation: isolation))
  }

  /// Registers several observers.
  public func addObservers(
    _ observers: some Sequence<AnyObject>, in context: DeliveryContext? = nil,
    isolation: (any Actor)? = #isolation
  ) {
    let context = context ?? .current(isolation: isolation)
    for observer in observers { addObserver(observer, in: context) }
  }

  /// Calls `body` with each observer that is an `Observer`, in order of registration, except
  /// observers that registered only for keys.
  ///
  /// Returns when the inline calls have returned.
  ///
  /// - Complexity: O(*n*), and O(*n* log *n*) after a registration.
  public func withObservers<Observer>(_ body: @escaping @Sendable (Observer) -> Void) {
    observers.notify(for: nil, body)
  }

  // MARK: For keys

  /// Registers an observer for one key.
  ///
  /// - Returns: false if it is registered for the key already.
  @discardableResult
  public func addObserver(
    _ observer: AnyObject, for key: ObserverKey, in context: DeliveryContext? = nil,
    isolation: (any Actor)? = #isolation
  ) -> Bool {
    observers.add(observer, for: key, in: context ?? .current(isolation: isolation))
  }

  /// Registers an observer for several keys.
  public func addObserver(
    _ observer: AnyObject, for keys: some Sequence<ObserverKey>,
    in context: DeliveryContext? = nil, isolation: (any Actor)? = #isolation
  ) {
    let context = context ?? .current(isolation: isolation)
    for key in keys { addObserver(observer, for: key, in: context) }
  }

  /// Registers several observers for one key.
  public func addObservers(
    _ observers: some Sequence<AnyObject>, for key: ObserverKey,
    in context: DeliveryContext? = nil, isolation: (any Actor)? = #isolation
  ) {
    let context = context ?? .current(isolation: isolation)
    for observer in observers { addObserver(observer, for: key, in: context) }
  }

  /// Registers several observers for several keys each.
  public func addObservers(
    _ observers: some Sequence<AnyObject>, for keys: some Collection<ObserverKey>,
    in context: DeliveryContext? = nil, isolation: (any Actor)? = #isolation
  ) {
    let context = context ?? .current(isolation: isolation)
    for observer in observers { addObserver(observer, for: keys, in: context) }
  }

  /// Calls `body` with the key and each observer that registered for it and is an `Observer`, in
  /// order of registration.
  ///
  /// - Complexity: O(*n*), and O(*n* log *n*) after a registration.
  public func withObservers<Observer>(
    for key: ObserverKey, _ body: @escaping @Sendable (ObserverKey, Observer) -> Void
  ) {
    observers.notify(for: key) { observer in body(key, observer) }
  }

  /// Calls `body` with each of several keys, one after the other, and each observer that registered
  /// for it and is an `Observer`.
  public func withObservers<Observer>(
    for keys: some Sequence<ObserverKey>,
    _ body: @escaping @Sendable (ObserverKey, Observer) -> Void
  ) {
    for key in keys { withObservers(for: key, body) }
  }
}
