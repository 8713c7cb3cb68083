extension LuaState {
  /// Converts any `Encodable` value to a Lua value: a structure becomes a new table of its
  /// properties.
  ///
  /// ``LuaEncodable`` types use their own conversion. Lists count from 1, nil leaves no entry, and
  /// keys with an integer value are integers.
  ///
  /// - Throws: `type` with the path to a part that Lua cannot represent; `memory`, `closed`.
  /// - Complexity: O(size of the value).
  public func encode(_ value: some Encodable) throws(LuaError) -> LuaValue {
    let encoded: Encoded
    do {
      encoded = try encode(value, at: [])
    } catch let error as LuaError {
      throw error
    } catch {
      throw LuaError(.type, "\(error)", underlying: error)
    }
    if case .value(let value) = encoded { return value }
    return try withStack { L throws(LuaError) in
      try push(encoded, to: L)
      return try self.value(at: -1, of: L)
    }
  }

  fileprivate func encode(_ value: some Encodable, at path: [any CodingKey]) throws -> Encoded {
    guard let plain = value as? any LuaEncodable else {
      let encoder = ValueEncoder(self, path)
      try value.encode(to: encoder)
      return .pending(encoder)
    }
    do throws(LuaError) { return .value(try plain.luaValue(in: self)) } catch {
      throw error.located(at: path)
    }
  }

  /// Pushes an encoded value. [-0, +1, -]
  private func push(_ encoded: Encoded, to L: LuaStack) throws(LuaError) {
    guard L.hasRoom() else { throw L.noRoom() }
    switch encoded {
    case .value(let value): try push(value, to: L)
    case .pending(let encoder): try push(encoder.encoded ?? .table(EncodedTable()), to: L)
    case .table(let table):
      try pushTable(elements: table.elements.count, fields: table.fields.count, to: L)
      for (index, element) in table.elements.enumerated() {
        try push(element, to: L)
        // The table was made with room for it, so this allocates nothing.
        L.rawSet(index: index + 1, at: -2)
      }
      for (key, value) in table.fields {
        try push(key, to: L)
        try push(value, to: L)
        try rawSet(of: L)
      }
    }
  }
}

/// An encoded value before it becomes a Lua value.
private enum Encoded {
  case value(LuaValue)
  case table(EncodedTable)
  /// The final value of an encoder that was passed to a type.
  case pending(ValueEncoder)
}

/// A table under construction.
private final class EncodedTable {
  var elements: [Encoded] = []
  var fields: [(key: LuaValue, value: Encoded)] = []
}

private final class ValueEncoder: Encoder {
  let state: LuaState
  let codingPath: [any CodingKey]
  var encoded: Encoded?
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ state: LuaState, _ path: [any CodingKey]) { (self.state, codingPath) = (state, path) }

  /// The table that all containers of this encoder fill: a class and its superclass share one.
  private func table() -> EncodedTable {
    if case .table(let table)? = encoded { return table }
    let table = EncodedTable()
    encoded = .table(table)
    return table
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(Fields<Key>(state: state, table: table(), codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    Elements(state: state, table: table(), codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }
}

private struct Fields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let state: LuaState
  let table: EncodedTable
  let codingPath: [any CodingKey]

  private func set(_ value: Encoded, _ key: any CodingKey) {
    table.fields.append((key.luaKey, value))
  }

  mutating func encodeNil(forKey key: Key) {}

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    set(try state.encode(value, at: codingPath + [key]), key)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    let nested = EncodedTable()
    set(.table(nested), key)
    return KeyedEncodingContainer(
      Fields<Nested>(state: state, table: nested, codingPath: codingPath + [key]))
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    let nested = EncodedTable()
    set(.table(nested), key)
    return Elements(state: state, table: nested, codingPath: codingPath + [key])
  }

  mutating func superEncoder() -> any Encoder { superEncoder(CodingName("super")) }
  mutating func superEncoder(forKey key: Key) -> any Encoder { superEncoder(key) }

  private func superEncoder(_ key: any CodingKey) -> any Encoder {
    let encoder = ValueEncoder(state, codingPath + [key])
    set(.pending(encoder), key)
    return encoder
  }
}

private struct Elements: UnkeyedEncodingContainer {
  let state: LuaState
  let table: EncodedTable
  let codingPath: [any CodingKey]
  var count: Int { table.elements.count }

  private var nextPath: [any CodingKey] { codingPath + [CodingName(index: count)] }

  mutating func encodeNil() throws {
    throw LuaError(.type, "nil cannot be an element of a list").located(at: nextPath)
  }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    table.elements.append(try state.encode(value, at: nextPath))
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    let (nested, path) = (EncodedTable(), nextPath)
    table.elements.append(.table(nested))
    return KeyedEncodingContainer(Fields<Nested>(state: state, table: nested, codingPath: path))
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    let (nested, path) = (EncodedTable(), nextPath)
    table.elements.append(.table(nested))
    return Elements(state: state, table: nested, codingPath: path)
  }

  mutating func superEncoder() -> any Encoder {
    let encoder = ValueEncoder(state, nextPath)
    table.elements.append(.pending(encoder))
    return encoder
  }
}

private struct Single: SingleValueEncodingContainer {
  let encoder: ValueEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  mutating func encodeNil() { encoder.encoded = .value(.nil) }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    encoder.encoded = try encoder.state.encode(value, at: codingPath)
  }
}
