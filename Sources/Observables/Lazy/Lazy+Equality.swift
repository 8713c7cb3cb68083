extension Lazy where Value: Equatable {
  /// A property for which equal values are no change; NaN equals NaN (T5).
  public convenience init() { self.init(standIn: nil, isSame) }
  /// A property for which equal values are no change (T5); the value stands in for errors.
  public convenience init(wrappedValue: Value) { self.init(standIn: wrappedValue, isSame) }
}

extension Lazy where Value: AnyObject {
  /// A property for which the same object is no change (T5).
  public convenience init() { self.init(standIn: nil) { $0 === $1 } }
  /// A property for which the same object is no change (T5); the object stands in for errors.
  public convenience init(wrappedValue: Value) { self.init(standIn: wrappedValue) { $0 === $1 } }
}

extension Lazy where Value: AnyObject & Equatable {
  /// A property for which the same object is no change, whatever its `==` says (T5).
  public convenience init() { self.init(standIn: nil) { $0 === $1 } }
  /// A property for which the same object is no change, whatever its `==` says; the object stands
  /// in for errors.
  public convenience init(wrappedValue: Value) { self.init(standIn: wrappedValue) { $0 === $1 } }
}

extension Lazy where Value: ExpressibleByNilLiteral {
  /// A property whose values are compared by their dynamic type; nil stands in for errors.
  public convenience init() { self.init(standIn: .some(nil)) { isSameValue($0 as Any, $1 as Any) } }
}

extension Lazy where Value: ExpressibleByNilLiteral & Equatable {
  /// A property for which equal values are no change; nil stands in for errors.
  public convenience init() { self.init(standIn: .some(nil), isSame) }
}

extension Lazy where Value: OptionalReference & ExpressibleByNilLiteral {
  /// A property for which the same object, or nil again, is no change; nil stands in for errors.
  public convenience init() { self.init(standIn: .some(nil)) { $0.reference === $1.reference } }
}

extension Lazy where Value: OptionalReference & ExpressibleByNilLiteral & Equatable {
  /// A property for which the same object, whatever its `==` says, or nil again, is no change; nil
  /// stands in for errors.
  public convenience init() { self.init(standIn: .some(nil)) { $0.reference === $1.reference } }
}

/// An object or nil, which are compared by identity.
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
