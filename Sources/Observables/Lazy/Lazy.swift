/// A property of a model that is computed when it is read, and kept until it is invalidated (Z1).
///
/// The class declares it with `@Lazy var`. Its `properties` contain the getter and the paths that
/// the value depends on:
///
/// ```swift
/// Property("full", lazy: { $0.$full }, from: ["first", "last"]) { "\($0.first) \($0.last)" }
/// ```
///
/// Reading returns the value. Assigning overrides it until a dependency changes (Z5). The
/// declaration can have an initial value (`@Lazy var size = 0`). A plain read returns it if the
/// getter fails and there is no previous value. Without an initial value, such a read is a
/// programming error and traps. `$full` gives access to everything else: `try $full.get()`,
/// `isValid`, `invalidate()`, `peek`.
///
/// It is confined to the thread of the loop that observes the model.
@propertyWrapper
public final class Lazy<Value>: LazyStorage {
  /// The value that was computed or assigned last.
  @usableFromInline @exclusivity(unchecked) var stored: Value?
  /// The value that was delivered last, while the engine needs it.
  @usableFromInline @exclusivity(unchecked) var base: Value?
  private let standIn: Value?
  @usableFromInline let isEqual: (Value, Value) -> Bool

  init(standIn: Value?, _ isEqual: @escaping (Value, Value) -> Bool) {
    (self.standIn, self.isEqual) = (standIn, isEqual)
    super.init(unbound: ())
  }

  /// Makes a property whose values are compared by their dynamic type: objects by identity, others
  /// by `==`.
  ///
  /// If the values cannot be compared, each computation is a change.
  public convenience init() { self.init(standIn: nil) { isSameValue($0 as Any, $1 as Any) } }
  /// Makes a property whose values are compared by their dynamic type.
  ///
  /// The initial value replaces values that fail.
  public convenience init(wrappedValue: Value) {
    self.init(standIn: wrappedValue) { isSameValue($0 as Any, $1 as Any) }
  }

  /// Unavailable, because only a property of a model can be lazy.
  @available(*, unavailable, message: "@Lazy is for properties of classes that are ObservableModel")
  public var wrappedValue: Value {
    get { fatalError("@Lazy is for properties of models") }
    set { _ = newValue }
  }

  /// The value of the property in a model.
  @inlinable
  public static subscript<Model: ObservableModel>(
    _enclosingInstance model: Model,
    wrapped wrapped: ReferenceWritableKeyPath<Model, Value>,
    storage storage: ReferenceWritableKeyPath<Model, Lazy>
  ) -> Value {
    get { model[keyPath: storage].value(in: model) }
    set { model[keyPath: storage].assign(newValue, in: model) }
  }

  /// A handle of the property, which keeps the model alive.
  @inlinable
  public static subscript<Model: ObservableModel>(
    _enclosingInstance model: Model,
    projected projected: KeyPath<Model, LazyHandle<Value>>,
    storage storage: ReferenceWritableKeyPath<Model, Lazy>
  ) -> LazyHandle<Value> {
    let lazy = model[keyPath: storage]
    lazy.bind(to: model)
    return LazyHandle(lazy, of: model)
  }

  /// Unavailable, because only a property of a model can be lazy.
  @available(*, unavailable, message: "@Lazy is for properties of classes that are ObservableModel")
  public var projectedValue: LazyHandle<Value> {
    fatalError("@Lazy is for properties of models")
  }

  // MARK: Reading

  /// Returns the value; the caller keeps the model alive.
  func get() throws -> Value {
    noteRead()
    if validity.pointee, let stored { return stored }
    try update()
    return stored!
  }

  var peek: Value? { isValid ? stored : nil }

  /// The value that was kept last, if there was one.
  var last: Value? { stored }

  /// The value in a model; the property is bound to the model if it is not yet bound.
  @inlinable @inline(__always)
  func value(in model: some ObservableModel) -> Value {
    if validity.pointee, trackingStamp.pointee == 0, let stored { return stored }
    return valueSlowly(in: model)
  }

  // The fast path calls nothing, so that it doesn't retain the property.
  @inlinable @inline(never)
  func valueSlowly(in model: some ObservableModel) -> Value {
    bind(to: model)
    if validity.pointee, let stored {
      noteRead()
      return stored
    }
    return computedValue(in: model)
  }

  /// Finds the declaration of the property, which was made by a wrapper other than `@Lazy`.
  package func join(_ model: some ObservableModel) { bind(to: model) }

  /// Returns the value in a model.
  ///
  /// If it cannot be computed, the result is the value of `fail`, which has to report the error
  /// unless `isHeard` is true. `isHeard` is true if a getter reads the property: that getter then
  /// fails with the error.
  package func value(
    in model: some ObservableModel, orIfItFails fail: (_ error: any Error, _ isHeard: Bool) -> Value
  ) -> Value {
    bind(to: model)
    do {
      return try get()
    } catch {
      return fail(error, failReader(error))
    }
  }

  @usableFromInline @inline(never)
  func computedValue(in model: some ObservableModel) -> Value {
    do {
      return try get()
    } catch {
      // A plain read has no caller to throw to.
      guard let value = stored ?? standIn else {
        preconditionFailure("\(type(of: model)): \(error)")
      }
      noteUnheard(error)
      return value
    }
  }

  // MARK: Writing

  @usableFromInline
  func assign(_ value: Value, in model: some ObservableModel) {
    bind(to: model)
    assign(value)
  }

  /// Assigns the value of a property that is bound already.
  func assign(_ value: Value) {
    declaration.checkWritable(title)
    if isLoading {
      loaded(with: keep(value))
    } else if declaration.isArmedByNil, isNone(value) {
      invalidate()
    } else {
      attachIfHeard()
      prepareToAssign()
      willAssign()
      overridden(keep(value))
    }
  }

  private func isNone(_ value: Value) -> Bool { flattened(value) == nil }

  /// Makes a value the current one; returns how it compares with the previous one.
  @inlinable
  func keep(_ value: Value) -> Computation {
    guard let old = stored else {
      if beginReplacing().isFlawed { return .failed }
      stored = value
      return .changed
    }
    if isEqual(old, value) { return .same }
    let replacing = beginReplacing()
    // The result is not a value if a replacement value was used in computing it, or if a dependency
    // changed during the computation.
    if replacing.isFlawed { return .failed }
    if replacing.isBased, let base, isEqual(base, value) {
      stored = value
      return .restored
    }
    if replacing.keepsBase { base = old }
    stored = value
    return .changed
  }

  override func anyValue() throws -> Any? { flattened(try get()) }
  override var anyPeek: Any? { peek.flatMap { flattened($0) } }

  @_documentation(visibility: internal)
  public override func forgetBase(of lazy: ObservationCore.WatcherRef) { base = nil }

  @_documentation(visibility: internal)
  public override func value(of lazy: ObservationCore.WatcherRef, isBase: Bool) -> AnyObject? {
    (isBase ? base : stored).map(LastValue.init)
  }

  @_documentation(visibility: internal)
  public override func recordValue(
    of lazy: ObservationCore.WatcherRef, in lines: inout RunLines
  ) {
    guard let stored else { return lines.addUnknown() }
    lines.add(valueBy: { $0.add(value: flattened(stored)) })
  }

  @_documentation(visibility: internal)
  public override func has(_ value: AnyObject, as lazy: ObservationCore.WatcherRef) -> Bool {
    guard let value = value as? LastValue, let stored else { return false }
    return isEqual(value.value, stored)
  }

  @_documentation(visibility: internal)
  public override func assign(_ value: AnyObject, to lazy: ObservationCore.WatcherRef) {
    guard let value = value as? LastValue else { return }
    willAssign()
    overridden(keep(value.value))
  }

  @_documentation(visibility: internal)
  public override func change(of lazy: ObservationCore.WatcherRef, from old: AnyObject?)
    -> AnyObject?
  {
    SavedWrite(
      ModelWrite(
        ObservedValues(
          key: declaration.key, old: (old as? LastValue).flatMap { flattened($0.value) },
          new: stored.flatMap { flattened($0) }), key: declaration.name))
  }

  private final class LastValue {
    let value: Value
    init(_ value: Value) { self.value = value }
  }
}
