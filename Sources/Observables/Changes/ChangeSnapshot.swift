/// The state that the next delivery of a watcher of changes continues, as data (X2).
///
/// ``Watcher/snapshot()`` makes it. The ``value`` has an object that is stored at several places at
/// the first of them; the ``references`` put it at the others, in a copy that was decoded from the
/// value.
public struct ChangeSnapshot: Codable, Equatable {
  /// The watched object, with all objects below it.
  public let value: ChangeValue
  /// Changes that store objects of the tree at their other places, too; paths lead from the root.
  public let references: [DeepChange]

  /// Makes a copy of the tree: decodes the ``value`` and applies the ``references``.
  ///
  /// - Throws: `DecodingError` if the class cannot be decoded from this data; ``ChangeError`` if a
  ///   reference does not fit what was decoded.
  /// - Complexity: O(size of the tree).
  public func copy<Model: KeyPathObservable & Decodable>(as type: Model.Type) throws -> Model {
    let copy = try DataDecoder(value: value).decode(type)
    try copy.apply(references)
    return copy
  }
}
