extension KeyPathObservable {
  /// Reads the value at the end of a path that the compiler has checked: a property, an element, or
  /// the value of an operator (C9).
  ///
  /// - Throws: ``PathError`` if the path leads to nothing and `Value` is not optional, for a value
  ///   of another type, and for a value that an operator cannot accept. Also rethrows the errors of
  ///   getters.
  /// - Complexity: O(length of the path), and O(members) for an operator that is not observed.
  public func value<Value>(at path: KeyPathTo<Self, Value>) throws -> Value {
    try value(at: path.path, as: Value.self)
  }

  /// Reads the value at the end of `path` as a type.
  ///
  /// Numeric results of operators are converted to that type.
  ///
  /// - Throws: ``PathError`` if the path leads to nothing and `Value` is not optional, for a value
  ///   of another type, and for a value that an operator cannot accept. Also rethrows the errors of
  ///   getters.
  /// - Complexity: O(length of the path), and O(members) for an operator that is not observed.
  public func value<Value>(at path: Path, as type: Value.Type) throws -> Value {
    if let value = try existingValue(at: path, as: type) { return value }
    throw PathError(
      .unsupported, path: path.description, component: path.components.count,
      detail: "there is no value; expected one of type \(Value.self)")
  }

  /// Reads the value at the end of `path`; nil if it leads to nothing and `Value` is not optional.
  func existingValue<Value>(at path: KeyPathTo<Self, Value>) throws -> Value? {
    try existingValue(at: path.path, as: Value.self)
  }

  func existingValue<Value>(at path: Path, as type: Value.Type) throws -> Value? {
    let value = try value(at: path)
    if let value = fitting(value, Value.self) ?? number(value, as: Value.self) { return value }
    if let value { throw PathError(value, at: path, isNo: Value.self) }
    return nil
  }
}

extension PathError {
  /// Makes the error for a value of an unexpected type.
  init<Value>(_ value: Any, at path: Path, isNo type: Value.Type) {
    self.init(
      .unsupported, path: path.description, component: path.components.count,
      detail: "the value is of type \(Swift.type(of: value)), not \(type)")
  }
}

/// Converts an operator's `Int` or `Double` to the numeric type of the properties.
private func number<Value>(_ value: Any?, as type: Value.Type) -> Value? {
  let number: any Numeric
  switch (value, unwrapped(type)) {
  case (let value as Int, let type as any BinaryInteger.Type):
    guard let exact = exactly(value, type) else { return nil }
    number = exact
  case (let value as Int, let type as any BinaryFloatingPoint.Type): number = type.init(value)
  case (let value as Double, let type as any BinaryFloatingPoint.Type): number = type.init(value)
  default: return nil
  }
  return number as? Value
}

private func exactly<Number: BinaryInteger>(_ value: Int, _ type: Number.Type) -> Number? {
  Number(exactly: value)
}
