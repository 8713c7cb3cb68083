/// Converts `value` to `Value`: the value itself, or the enumeration case with that raw value.
///
/// nil fits only optional types.
package func fitting<Value>(_ value: Any?, _ type: Value.Type = Value.self) -> Value? {
  // A cast to `Any` would succeed with the optional itself.
  guard let value else { return type is any OptionalValue.Type ? value as? Value : nil }
  if let value = value as? Value { return value }
  guard let type = unwrapped(type) as? any RawRepresentable.Type,
    let made = make(type, of: value)
  else { return nil }
  return made as? Value
}

/// Names the values that a property of a type accepts, for an error message.
package func expectation(of type: Any.Type) -> String {
  let type = unwrapped(type)
  guard let cases = type as? any CaseIterable.Type else { return "\(type)" }
  let values = rawValues(of: cases)
  return values.isEmpty ? "\(type)" : "\(type) (\(values.joined(separator: ", ")))"
}

private func make<Raw: RawRepresentable>(_ type: Raw.Type, of value: Any) -> Raw? {
  (value as? Raw.RawValue).flatMap(Raw.init)
}

private func rawValues<Cases: CaseIterable>(of type: Cases.Type) -> [String] {
  type.allCases.compactMap { ($0 as? any RawRepresentable).map { "\($0.rawValue)" } }
}

/// Removes all optional layers from a type.
package func unwrapped(_ type: Any.Type) -> Any.Type {
  (type as? any OptionalValue.Type)?.wrapped ?? type
}

/// Removes all optional layers from a value; nil if any layer is nil.
package func flattened(_ value: Any) -> Any? {
  // The common types that are not optional skip the protocol cast, which is slow.
  let type = type(of: value)
  if type is AnyClass || type == Int.self || type == String.self || type == Double.self
    || type == Bool.self
  {
    return value
  }
  if let optional = value as? any OptionalValue { return optional.flattened }
  return value
}

/// The object in a value of class type; nil if the type is not a class.
///
/// A value of class type is a pointer. A cast to `AnyObject` takes many times as long because it
/// may box the value.
@inline(__always)
func reference<Value>(of value: Value) -> AnyObject? {
  Value.self is AnyClass ? unsafeBitCast(value, to: AnyObject.self) : nil
}

/// The object in a value of unknown type; nil if the value is not an object.
func reference(to value: Any) -> AnyObject? {
  guard type(of: value) is AnyClass else { return nil }
  // The value may be an existential that contains the object.
  func object<Value>(_ value: Value) -> AnyObject { reference(of: value) ?? value as AnyObject }
  return _openExistential(value, do: object)
}

/// Tells whether a value of unknown type is an optional.
private protocol OptionalValue {
  static var wrapped: Any.Type { get }
  var flattened: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate static var wrapped: Any.Type {
    (Wrapped.self as? any OptionalValue.Type)?.wrapped ?? Wrapped.self
  }
  fileprivate var flattened: Any? {
    guard let self else { return nil }
    if let inner = self as? any OptionalValue { return inner.flattened }
    return self
  }
}
