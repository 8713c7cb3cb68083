extension Lazy where Value: Equatable {
  /// Makes a property for which equal values are not a change; NaN equals NaN (T5).
  public convenience init() { self.init(standIn: nil, isSame) }
  /// Makes a property for which equal values are not a change (T5).
  ///
  /// The initial value replaces values that fail.
  public convenience init(wrappedValue: Value) { self.init(standIn: wrappedValue, isSame) }
}

extension Lazy where Value: AnyObject {
  /// Makes a property for which the same object is not a change (T5).
  public convenience init() { self.init(standIn: nil) { $0 === $1 } }
  /// Makes a property for which the same object is not a change (T5).
  ///
  /// The initial object replaces values that fail.
  public convenience init(wrappedValue: Value) { self.init(standIn: wrappedValue) { $0 === $1 } }
}

extension Lazy where Value: AnyObject & Equatable {
  /// Makes a property for which the same object is not a change, whatever its `==` says (T5).
  public convenience init() { self.init(standIn: nil) { $0 === $1 } }
  /// Makes a property for which the same object is not a change, whatever its `==` says.
  ///
  /// The initial object replaces values that fail.
  public convenience init(wrappedValue: Value) { self.init(standIn: wrappedValue) { $0 === $1 } }
}

extension Lazy where Value: ExpressibleByNilLiteral {
  /// Makes a property whose values are compared by their dynamic type.
  ///
  /// Nil replaces values that fail.
  public convenience init() { self.init(standIn: .some(nil)) { isSameValue($0 as Any, $1 as Any) } }
}

extension Lazy where Value: ExpressibleByNilLiteral & Equatable {
  /// Makes a property for which equal values are not a change; nil replaces values that fail.
  public convenience init() { self.init(standIn: .some(nil), isSame) }
}

extension Lazy where Value: OptionalReference & ExpressibleByNilLiteral {
  /// Makes a property for which the same object, or nil again, is not a change.
  ///
  /// Nil replaces values that fail.
  public convenience init() { self.init(standIn: .some(nil)) { $0.reference === $1.reference } }
}

extension Lazy where Value: OptionalReference & ExpressibleByNilLiteral & Equatable {
  /// Makes a property for which the same object, or nil again, is not a change, whatever the
  /// object's `==` says.
  ///
  /// Nil replaces values that fail.
  public convenience init() { self.init(standIn: .some(nil)) { $0.reference === $1.reference } }
}

/// An optional object, which is compared by identity.
@_documentation(visibility: internal)
public protocol OptionalReference {
  /// The object.
  var reference: AnyObject? { get }
}

extension Optional: OptionalReference where Wrapped: AnyObject {
  /// The object, if there is one.
  @_documentation(visibility: internal)
  public var reference: AnyObject? { self }
}
