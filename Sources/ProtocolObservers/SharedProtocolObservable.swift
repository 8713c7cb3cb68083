/// An object that several threads use, and that calls methods of protocols on observers that
/// registered for them.
///
/// All is as for ``ProtocolObservable``, except that it may be used on any thread, and that each
/// observer is called in the context that it registered from, or asked for: the thread of its loop,
/// its actor, or inline, by the code that makes the notification (K3). An observer that is called
/// may add, remove and notify: nothing is locked meanwhile, and registrations that it adds or
/// removes are for the next notification. A call that is still on its way to another context when
/// its observer is removed is not made.
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
  /// Registers an observer, which is held weakly, and is called in `context`: by default where this
  /// is called.
  ///
  /// - Returns: false where it is registered already, which changes nothing.
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

  /// Has `body` called with each observer that is an `Observer`, in order of registration, except
  /// those that registered for keys only.
  ///
  /// It returns when the observers that are called inline have returned.
  ///
  /// - Complexity: O(*n*), and O(*n* log *n*) after a registration.
  public func withObservers<Observer>(_ body: @escaping @Sendable (Observer) -> Void) {
    observers.notify(for: nil, body)
  }

  // MARK: For keys

  /// Registers an observer for one key.
  ///
  /// - Returns: false where it is registered for that already.
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

  /// Has `body` called with the key and each observer that registered for it and is an `Observer`,
  /// in order of registration.
  ///
  /// - Complexity: O(*n*), and O(*n* log *n*) after a registration.
  public func withObservers<Observer>(
    for key: ObserverKey, _ body: @escaping @Sendable (ObserverKey, Observer) -> Void
  ) {
    observers.notify(for: key) { observer in body(key, observer) }
  }

  /// Has `body` called with each of several keys, one after the other, and each observer that
  /// registered for it and is an `Observer`.
  public func withObservers<Observer>(
    for keys: some Sequence<ObserverKey>,
    _ body: @escaping @Sendable (ObserverKey, Observer) -> Void
  ) {
    for key in keys { withObservers(for: key, body) }
  }
}
