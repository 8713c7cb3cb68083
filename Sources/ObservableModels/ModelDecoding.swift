/// Decodes the properties of a `Codable` model; used by the code that `@ObservableModel` writes for
/// a class with constants that have a value.
@_documentation(visibility: internal)
public struct ModelDecoding<Keys: CodingKey> {
  private let values: KeyedDecodingContainer<Keys>

  /// Begins to decode a model.
  public init(_ decoder: any Decoder, _ keys: Keys.Type) throws {
    values = try decoder.container(keyedBy: keys)
  }

  /// The value of a property; nil for a missing value of an optional property.
  public func value<Value: Decodable>(_ key: Keys) throws -> Value {
    if let optional = Value.self as? any ExpressibleByNilLiteral.Type,
      let none = optional.init(nilLiteral: ()) as? Value, try isMissing(key)
    {
      return none
    }
    return try values.decode(Value.self, forKey: key)
  }

  private func isMissing(_ key: Keys) throws -> Bool {
    try !values.contains(key) || values.decodeNil(forKey: key)
  }

  /// Replaces the contents of a constant array by the decoded ones, if there are any.
  public func fill<Element: Decodable>(_ array: ObservableArray<Element>, _ key: Keys) throws {
    if try !isMissing(key) { array.set(try values.decode([Element].self, forKey: key)) }
  }

  /// Replaces the contents of a constant dictionary by the decoded ones, if there are any.
  public func fill<Key: Decodable, Value: Decodable>(
    _ dictionary: ObservableDictionary<Key, Value>, _ key: Keys
  ) throws {
    if try !isMissing(key) { dictionary.set(try values.decode([Key: Value].self, forKey: key)) }
  }

  /// Replaces the contents of a constant set by the decoded ones, if there are any.
  public func fill<Element: Decodable>(_ set: ObservableSet<Element>, _ key: Keys) throws {
    if try !isMissing(key) { set.set(try values.decode(Set<Element>.self, forKey: key)) }
  }

  /// Leaves a constant model as it is: it cannot be replaced by the decoded one.
  @available(
    *, deprecated,
    message: "a constant model cannot be decoded: declare it as 'private(set) var', without 'let'"
  )
  public func fill(_ model: some ObservableModel, _ key: Keys) throws {}

  /// Leaves any other constant as it is, as the compiler does.
  @_disfavoredOverload
  public func fill<Value>(_ constant: Value, _ key: Keys) throws {}
}
