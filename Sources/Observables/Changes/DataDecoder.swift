/// Makes objects from the data of changes, by `init(from:)`.
struct DataDecoder: Decoder {
  let value: ChangeValue?
  var codingPath: [any CodingKey] = []
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let fields = value?.fields else { throw misfit("an object") }
    return KeyedDecodingContainer(Fields(fields: fields, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    switch value {
    case .list(let elements): return Elements(elements: elements, codingPath: codingPath)
    case .map(let fields) where fields.isEmpty:
      return Elements(elements: [], codingPath: codingPath)
    default: throw misfit("a list")
    }
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { Single(decoder: self) }

  func misfit(_ expected: String) -> DecodingError {
    DecodingError.typeMismatch(
      ChangeValue.self,
      .init(codingPath: codingPath, debugDescription: "\(expected) expected"))
  }

  /// Decodes the value as a type.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    for case let candidate? in value?.candidates ?? [] {
      if let value = candidate as? Value { return value }
    }
    return try Value(from: self)
  }

  private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: [String: ChangeValue]
    let codingPath: [any CodingKey]
    var allKeys: [Key] { fields.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }
    func decodeNil(forKey key: Key) -> Bool { fields[key.stringValue] == nil }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      guard fields[key.stringValue] != nil else {
        throw DecodingError.keyNotFound(
          key, .init(codingPath: codingPath, debugDescription: "no '\(key.stringValue)' is given"))
      }
      return try decoder(key).decode(type)
    }
    private func decoder(_ key: any CodingKey) -> DataDecoder {
      DataDecoder(value: fields[key.stringValue], codingPath: codingPath + [key])
    }
    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try decoder(key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder {
      DataDecoder(value: .map(fields), codingPath: codingPath)
    }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder(key) }
  }

  private struct Elements: UnkeyedDecodingContainer {
    let elements: [ChangeValue]
    let codingPath: [any CodingKey]
    var currentIndex = 0
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    init(elements: [ChangeValue], codingPath: [any CodingKey]) {
      (self.elements, self.codingPath) = (elements, codingPath)
    }

    private mutating func next() throws -> DataDecoder {
      guard !isAtEnd else {
        throw DecodingError.valueNotFound(
          ChangeValue.self, .init(codingPath: codingPath, debugDescription: "the list ends"))
      }
      defer { currentIndex += 1 }
      return DataDecoder(value: elements[currentIndex], codingPath: codingPath)
    }
    mutating func decodeNil() -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try next().decode(type)
    }
    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try next().container(keyedBy: type) }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
      try next().unkeyedContainer()
    }
    mutating func superDecoder() throws -> any Decoder { try next() }
  }

  private struct Single: SingleValueDecodingContainer {
    let decoder: DataDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    func decodeNil() -> Bool { decoder.value == nil }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      for case let candidate? in decoder.value?.candidates ?? [] {
        if let value = candidate as? Value { return value }
      }
      throw decoder.misfit("\(type)")
    }
  }
}

extension ChangeValue {
  /// The properties in an object's data.
  fileprivate var fields: [String: ChangeValue]? {
    switch self {
    case .map(let fields): fields
    case .list(let elements) where elements.isEmpty: [:]
    default: nil
    }
  }
}
