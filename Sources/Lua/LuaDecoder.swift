internal import CLua

extension LuaValue {
  /// Converts a Lua value to any `Decodable` type: a table becomes a structure with its fields.
  ///
  /// ``LuaDecodable`` types use their own conversion. Lists count from 1; a field that is nil is
  /// absent.
  ///
  /// - Throws: `type` with the path to a part that does not fit, as in `address.zip: String
  ///   expected, got number`; `runtime` from a metamethod, `memory`, `closed`.
  /// - Complexity: O(size of the value).
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(LuaError) -> Value {
    do {
      return try decoded(type, at: [])
    } catch let error as LuaError {
      throw error
    } catch let error as DecodingError {
      throw LuaError(decoding: error)
    } catch {
      throw LuaError(.type, "\(error)", underlying: error)
    }
  }

  fileprivate func decoded<Value: Decodable>(
    _ type: Value.Type, at path: [any CodingKey]
  ) throws -> Value {
    guard let plain = type as? any LuaDecodable.Type else {
      return try Value(from: ValueDecoder(value: self, type: type, codingPath: path))
    }
    do throws(LuaError) { return try plain.init(luaValue: self) as! Value } catch {
      guard error.isOfConversion else { throw error }
      let mismatch = LuaError.mismatch("\(type)", self)
      // An error about a value of the right type says more than the type.
      let isMismatch = error.message.hasSuffix("expected, got \(typeName)")
      throw (isMismatch ? mismatch : error).located(at: path)
    }
  }
}

extension LuaError {
  /// Makes the error for one that a `Decodable` type reported itself.
  fileprivate init(decoding error: DecodingError) {
    let context: DecodingError.Context
    switch error {
    case .typeMismatch(_, let found), .valueNotFound(_, let found), .keyNotFound(_, let found),
      .dataCorrupted(let found):
      context = found
    @unknown default:
      self.init(.type, "\(error)", underlying: error)
      return
    }
    self = LuaError(.type, context.debugDescription, underlying: error)
      .located(at: context.codingPath)
  }
}

private struct ValueDecoder: Decoder {
  let value: LuaValue
  let type: Any.Type
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// The maximum depth of nested tables: a script may pass a table that contains itself.
  private static var greatestDepth: Int { 200 }

  private func table() throws -> LuaTable {
    guard codingPath.count < ValueDecoder.greatestDepth else {
      throw LuaError(.type, "the table is nested deeper than \(ValueDecoder.greatestDepth) levels")
    }
    if case .table(let table) = value { return table }
    throw LuaError.mismatch("\(type)", value).located(at: codingPath)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Fields<Key>(table: try table(), codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let table = try table()
    let count = try table.length
    // A `__len` may return any number.
    guard count < 1 << 26 else {
      throw LuaError(.type, "\(count) elements are too many").located(at: codingPath)
    }
    do throws(LuaError) {
      try table.withTable { state, L throws(LuaError) in
        try state.checkList(lua_Integer(count), of: L)
      }
    } catch {
      throw error.isOfConversion ? error.located(at: codingPath) : error
    }
    return Elements(table: table, codingPath: codingPath, count: count)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    Single(value: value, codingPath: codingPath)
  }
}

private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let table: LuaTable
  let codingPath: [any CodingKey]

  var allKeys: [Key] {
    var keys: [Key] = []
    try? table.forEach { key, _ in
      switch key {
      case .string(let name):
        if let key = Key(stringValue: name.text ?? name.shown) { keys.append(key) }
      case .integer(let index): if let key = Key(intValue: Int(index)) { keys.append(key) }
      default: break
      }
    }
    return keys
  }

  private func value(_ key: any CodingKey) throws -> LuaValue { try table[key.luaKey] }

  func contains(_ key: Key) -> Bool { (try? value(key)) != .nil }
  func decodeNil(forKey key: Key) throws -> Bool { try value(key) == .nil }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try value(key).decoded(type, at: codingPath + [key])
  }

  private func decoder(_ key: any CodingKey, _ type: Any.Type) throws -> ValueDecoder {
    ValueDecoder(value: try value(key), type: type, codingPath: codingPath + [key])
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder(key, LuaTable.self).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key, LuaTable.self).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(CodingName("super"), LuaTable.self) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key, LuaTable.self) }
}

private struct Elements: UnkeyedDecodingContainer {
  let table: LuaTable
  let codingPath: [any CodingKey]
  let count: Int?
  private(set) var currentIndex = 0

  init(table: LuaTable, codingPath: [any CodingKey], count: Int) {
    (self.table, self.codingPath, self.count) = (table, codingPath, count)
  }

  var isAtEnd: Bool { currentIndex >= count ?? 0 }

  private var path: [any CodingKey] { codingPath + [CodingName(index: currentIndex)] }
  private func value() throws -> LuaValue { try table[currentIndex + 1] }

  mutating func decodeNil() throws -> Bool {
    guard try value() == .nil else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try value().decoded(type, at: path)
    currentIndex += 1
    return value
  }

  private mutating func next() throws -> ValueDecoder {
    let decoder = ValueDecoder(value: try value(), type: LuaTable.self, codingPath: path)
    currentIndex += 1
    return decoder
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try next().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try next() }
}

private struct Single: SingleValueDecodingContainer {
  let value: LuaValue
  let codingPath: [any CodingKey]

  func decodeNil() -> Bool { value == .nil }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try value.decoded(type, at: codingPath)
  }
}
