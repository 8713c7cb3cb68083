/// Reads and writes the values that an object stores, whatever kind of object it is.
struct TreeAccess {
  let object: AnyObject

  init(_ object: AnyObject) { self.object = object }

  typealias Misfit = ChangePlan.Misfit

  /// Reads the value under a key; nil without a value.
  func value(_ key: DeepChange.Key) throws -> Any? {
    if let array = object as? any DynamicArray {
      guard case .index(let position) = key, position >= 1, position <= array.valueCount else {
        return nil
      }
      return array.dynamicElement(at: position - 1)
    }
    if let dictionary = object as? any DynamicDictionary {
      return dictionary.fitKey(key.value.candidates).flatMap { dictionary.dynamicValue(of: $0) }
    }
    guard let model = object as? any ObservableModel else { return nil }
    let properties = type(of: model).properties
    do {
      let slot = try properties.slot(of: key.description)
      guard let read = properties.plainRead(slot) else {
        throw Misfit(reason: "'\(key)' is computed")
      }
      return try read(object).flatMap { flattened($0) }
    } catch let error as ModelError { throw Misfit(reason: error.description) }
  }

  /// Stores a value, or nil, under a key.
  func store(_ value: Any?, _ key: DeepChange.Key) throws {
    let candidates = (value as? ChangeValue)?.candidates ?? [value]
    switch object {
    case let dictionary as any DynamicDictionary:
      guard let name = dictionary.fitKey(key.value.candidates) else {
        throw Misfit(reason: "the dictionary has keys of type \(dictionary.keyType)")
      }
      guard value != nil else { return dictionary.dynamicSet(nil, of: name) }
      guard let value = dictionary.fit(candidates) else {
        throw Misfit(reason: "the dictionary has values of type \(dictionary.elementType)")
      }
      dictionary.dynamicSet(value, of: name)
    case let model as any ObservableModel: try store(candidates, key.description, in: model)
    default: throw Misfit(reason: "\(type(of: object)) has no keys")
    }
  }

  private func store(
    _ candidates: [Any?], _ name: String, in model: some ObservableModel
  ) throws {
    let properties = type(of: model).properties
    var failure: ModelError?
    for candidate in candidates {
      do {
        return try properties.set(name, of: model, to: candidate)
      } catch {
        failure = failure ?? error
        if error.code != .wrongType { break }
      }
    }
    // A value of a decodable type is made from data.
    if let data = candidates.first.flatMap({ $0 }), failure?.code == .wrongType,
      let type = try? unwrapped(properties.valueType(of: name)) as? any Decodable.Type,
      let value = try? DataDecoder(value: ChangeValue(data)).decode(type)
    {
      do { return try properties.set(name, of: model, to: value) } catch { failure = error }
    }
    if let failure { throw Misfit(reason: failure.description) }
  }

  /// Makes the value that data represents under a key; it is an object if the property or the
  /// elements are of a class.
  func made(of data: ChangeValue, _ key: DeepChange.Key, isObject: Bool) throws -> Any {
    let declared: Any.Type
    switch object {
    case let collection as any DynamicCollection: declared = unwrapped(collection.elementType)
    case let model as any ObservableModel:
      declared =
        (try? unwrapped(type(of: model).properties.valueType(of: key.description)))
        ?? Any.self
    default: declared = Any.self
    }
    guard declared is AnyClass else { return data }
    guard let type = declared as? any Decodable.Type else {
      throw Misfit(reason: "\(declared) cannot be made from data: it has no init(from:)")
    }
    do {
      return try DataDecoder(value: data).decode(type)
    } catch let error as DecodingError {
      throw Misfit(reason: "\(declared) cannot be made from this data: \(error.sentence)")
    }
  }

  /// Converts a value to data; an object's data has all its contents, except for objects that
  /// occurred before.
  ///
  /// `elements` returns the future elements of an array with pending edits; nil for other arrays.
  static func data(
    of value: Any, elements: @escaping (AnyObject) -> [Any?]? = { _ in nil }
  ) -> ChangeValue {
    guard isTreeObject(value) else { return ChangeValue(value) }
    let reader = TreeReader(keepsObjects: true, elements: elements)
    let root = reader.entry(of: value as AnyObject).entry
    var contents: [TreeEntry: TreeContents] = [:]
    let (walk, entries) = TreeWalk.walk(from: root) { entry in
      if let known = contents[entry] { return known }
      let made = entry.object.map { reader.contents(of: $0) } ?? entry.contents
      contents[entry] = made
      return made
    }
    let known = contents
    let side = TreeDifference.Side(
      walk: walk, contents: { known[$0] ?? $0.contents }, only: Set(entries))
    return side.data(root, at: 0)
  }
}

extension DecodingError {
  /// The bare message of the error.
  fileprivate var sentence: String {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .keyNotFound(_, let context), .dataCorrupted(let context):
      context.debugDescription
    @unknown default: "\(self)"
    }
  }
}
