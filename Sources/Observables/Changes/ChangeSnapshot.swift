/// The state from which the next delivery of a watcher of changes continues, as data (X2).
///
/// ``Watcher/snapshot()`` makes it. If an object is stored at several places, the ``value``
/// contains it at the first one. The ``references`` insert it at the other places of a copy that
/// was decoded from the value.
public struct ChangeSnapshot: Codable, Equatable {
  /// The watched object, with all objects below it.
  public let value: ChangeValue
  /// Changes that store objects of the tree at their other places; paths start at the root.
  public let references: [DeepChange]

  /// Makes a copy of the tree: decodes the ``value`` and applies the ``references``.
  ///
  /// - Throws: `DecodingError` if the class cannot be decoded from this data; ``ChangeError`` if a
  ///   reference does not fit the decoded objects.
  /// - Complexity: O(size of the tree).
  public func copy<Model: KeyPathObservable & Decodable>(as type: Model.Type) throws -> Model {
    let copy = try DataDecoder(value: value).decode(type)
    try copy.apply(references)
    return copy
  }
}
