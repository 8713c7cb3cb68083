/// Models that several threads use: `ModelObservation(.threadSafe)`.
///
/// ```swift
/// final class Counter: ObservableModel, @unchecked Sendable {
///   static let properties = ModelProperties(for: Counter.self) {
///     Property("count", get: { $0.count }, set: { $0.count = $1 })
///   }
///   let observation = ModelObservation(.threadSafe)
///   private var stored = 0
///   var count: Int {
///     get { observation.locked { stored } }
///     set {
///       let old = observation.locked {
///         defer { stored = newValue }
///         return stored
///       }
///       observation.didSet(0, of: self, from: old, to: newValue)
///     }
///   }
/// }
/// ```
///
/// Any thread may read and write. The watchers are called on the thread of their loop (T8): at the
/// end of the turn for a write on that thread, and for one that was made elsewhere in a turn for
/// which the loop wakes. Writes that arrive together are one change; immediate watchers get them
/// without values. Watchers are registered and stopped on the thread of their loop, or by
/// `observe(_:on:)`. The model lives at least as long as the turn in which a loop has looked at it.
extension ModelObservation {
  /// Runs `body` while no other thread is inside of this call for the same model.
  ///
  /// `body` reads and writes the stored values, and does nothing else. Calls may be nested.
  public func locked<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Keeps other threads out until `unlock()`, for accessors that cannot use `locked`.
  public func lock() { shared.lock.lock() }
  /// Lets other threads in again after `lock()`.
  public func unlock() { shared.lock.unlock() }

  /// The property in `slot` was written, on any thread; equal values are no change (T5).
  ///
  /// To be called after the value is stored, and outside of the lock.
  public func didSet<Value: Equatable>(
    _ slot: Int, of model: some ObservableModel & Sendable, from old: Value, to new: Value
  ) {
    report(slot, of: model, old, new, isSame: isSame(old, new))
  }

  /// The property in `slot`, which holds an object, was written; the same object is no change.
  public func didSet<Value: AnyObject>(
    _ slot: Int, of model: some ObservableModel & Sendable, from old: Value?, to new: Value?
  ) {
    report(slot, of: model, old, new, isSame: old === new)
  }

  /// The property in `slot`, which holds an object with `==` of its own, was written; the same
  /// object is no change, an equal one is: wiring is decided by identity (P6).
  public func didSet<Value: AnyObject & Equatable>(
    _ slot: Int, of model: some ObservableModel & Sendable, from old: Value?, to new: Value?
  ) {
    report(slot, of: model, old, new, isSame: old === new)
  }

  /// The property in `slot` was written, whose type does not say how its values are compared.
  ///
  /// Such a type is a parameter of a generic class, or a protocol. The values are compared by their
  /// dynamic type: objects by identity, others by their `==`; for values that cannot be compared
  /// each write is a change.
  @_disfavoredOverload
  public func didSet<Value>(
    _ slot: Int, of model: some ObservableModel & Sendable, from old: Value, to new: Value
  ) {
    report(slot, of: model, old, new, isSame: isSameUnknown(old, new))
  }

  private func report<Value>(
    _ slot: Int, of model: some ObservableModel & Sendable, _ old: Value, _ new: Value,
    isSame: Bool
  ) {
    for part in shared.everyPart {
      if part.isHere {
        part.observation.reportHere(slot, old, new, isSame: isSame)
      } else if !isSame {
        part.post(slot, of: model)
      }
    }
  }

  private var shared: ModelSharing {
    guard let sharing else {
      preconditionFailure(
        "The model is confined to one thread; make a ModelObservation(.threadSafe)")
    }
    return sharing
  }
}
