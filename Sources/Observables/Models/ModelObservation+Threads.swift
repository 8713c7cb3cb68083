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
/// Any thread can read and write. Watchers are called on the thread of their loop (T8). A write on
/// that thread is delivered at the end of its turn. A write on another thread wakes the loop, which
/// delivers it in a new turn. Writes that arrive together are one change, and immediate watchers
/// get them without values. Register and stop watchers on the thread of their loop, or use
/// `observe(_:on:)`. After a loop has read the model in a turn, the model lives at least to the end
/// of that turn.
extension ModelObservation {
  /// Runs `body` while no other thread is inside this call for the same model.
  ///
  /// `body` should only read and write the stored values. Calls can be nested.
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

  /// Reports a write to the property in `slot`, on any thread.
  ///
  /// Equal values are not a change (T5). Call it after the value is stored, and outside the lock.
  public func didSet<Value: Equatable>(
    _ slot: Int, of model: some ObservableModel & Sendable, from old: Value, to new: Value
  ) {
    report(slot, of: model, old, new, isSame: isSame(old, new))
  }

  /// Reports a write to the property in `slot`, which holds an object.
  ///
  /// The same object is not a change.
  public func didSet<Value: AnyObject>(
    _ slot: Int, of model: some ObservableModel & Sendable, from old: Value?, to new: Value?
  ) {
    report(slot, of: model, old, new, isSame: old === new)
  }

  /// Reports a write to the property in `slot`, which holds an object with a custom `==`.
  ///
  /// The same object is not a change. An equal but different object is one, because wiring depends
  /// on identity (P6).
  public func didSet<Value: AnyObject & Equatable>(
    _ slot: Int, of model: some ObservableModel & Sendable, from old: Value?, to new: Value?
  ) {
    report(slot, of: model, old, new, isSame: old === new)
  }

  /// Reports a write to the property in `slot`, whose static type doesn't say how to compare its
  /// values.
  ///
  /// Such a type is a parameter of a generic class, or a protocol. The values are compared by their
  /// dynamic type: objects by identity, others by `==`. If the values cannot be compared, each
  /// write is a change.
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
