/// Whether two values of unknown type are the same (T5).
///
/// Objects are compared by identity and other values by `==`, except that NaN equals NaN.
/// Collections of objects are the same if they hold the same objects, whatever their `==` says
/// (P6). Values that cannot be compared are never the same, but nil is the same as nil.
func isSameValue(_ a: Any, _ b: Any) -> Bool {
  switch (flattened(a), flattened(b)) {
  case (nil, nil): return true
  case (let a?, let b?):
    if let a = reference(to: a), let b = reference(to: b) { return a === b }
    if let collection = a as? any CollectionValue, type(of: collection).mayHoldObjects {
      return collection.holdsSame(as: b)
    }
    guard let first = a as? any Equatable else { return false }
    return isEqual(first, b)
  default: return false
  }
}

private func isEqual<Value: Equatable>(_ a: Value, _ b: Any) -> Bool {
  guard let b = b as? Value else { return false }
  return a == b || (a != a && b != b)
}

/// Whether values of the type may be objects, or collections of objects.
///
/// For an optional, the wrapped type counts. The result is false only if this is impossible.
func mayHoldObjects(_ type: Any.Type) -> Bool {
  let type = unwrapped(type)
  if type is AnyClass { return true }
  if let collection = type as? any CollectionValue.Type { return collection.mayHoldObjects }
  // No existential type `any P` conforms to `Equatable`.
  return !(type is any Equatable.Type)
}

/// Whether values of the type are compared by `==` alone.
///
/// If the type is known, the compiler replaces the call by its result.
@inlinable @inline(__always)
func isPlain<Value>(_ type: Value.Type) -> Bool {
  type == Int.self || type == Double.self || type == Bool.self || type == String.self
}

/// Whether a value is the same as before (T5).
///
/// This is for values whose static type has `==`. In a generic class they may still be objects, and
/// collections may hold objects.
@inlinable @inline(__always)
func isSame<Value: Equatable>(_ a: Value, _ b: Value) -> Bool {
  // Two values that don't equal themselves are the same: NaN equals NaN.
  (a == b || (a != a && b != b)) && (isPlain(Value.self) || holdsSameObjects(a, b))
}

/// Whether two equal values hold the same objects, if they hold any (P6).
@usableFromInline @inline(never)
func holdsSameObjects<Value: Equatable>(_ a: Value, _ b: Value) -> Bool {
  !mayHoldObjects(Value.self) || isSameValue(a, b)
}
