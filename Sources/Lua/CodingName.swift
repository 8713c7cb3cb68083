/// A key of a table for which a coder has no `CodingKey`.
struct CodingName: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init(stringValue: String) { self.init(stringValue) }
  init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }

  /// The element at an index that counts from 0.
  init(index: Int) { self.init(intValue: index + 1) }
}

extension CodingKey {
  /// The key as a Lua value.
  var luaKey: LuaValue {
    intValue.map { .integer(Int64($0)) } ?? .string(LuaString(stringValue))
  }
}

extension LuaError {
  /// This error with the path to the value in front: `address.zip: String expected, got number`.
  func located(at path: [any CodingKey]) -> LuaError {
    guard !path.isEmpty else { return self }
    let place = path.map(\.stringValue).joined(separator: ".")
    return LuaError(code, "\(place): \(message)", underlying: underlying)
  }

  /// Returns this error with the part of the value in front if a conversion threw it, and otherwise
  /// the error itself.
  func located(in part: String) -> LuaError {
    isOfConversion ? LuaError(.type, "\(part): \(message)", underlying: underlying) : self
  }
}
