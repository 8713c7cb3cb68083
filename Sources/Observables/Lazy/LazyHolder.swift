/// The lazy properties of an object, which a bridge accesses by name (Z14).
package protocol LazyHolder {
  var validNames: [String] { get }
  var invalidNames: [String] { get }
  func isValid(_ name: String) throws -> Bool
  func invalidate(_ name: String) throws
  func peekAny(_ name: String) throws -> Any?
  func force() throws
}

extension DictionaryModel: LazyHolder {
  package func peekAny(_ name: String) -> Any? { peek(name).flatMap { flattened($0) } }
}

private struct ModelLazies: LazyHolder {
  let model: any ObservableModel

  var validNames: [String] { model.validNames }
  var invalidNames: [String] { model.invalidNames }
  func isValid(_ name: String) throws -> Bool { try model.isValid(name) }
  func invalidate(_ name: String) throws { try model.invalidate(name) }
  func peekAny(_ name: String) throws -> Any? { try model.peek(name) }
  func force() throws { try model.force() }
}

/// Returns the lazy properties of an object, if it may have some.
package func lazyHolder(_ object: AnyObject) -> (any LazyHolder)? {
  if let model = object as? any ObservableModel { return ModelLazies(model: model) }
  return object as? any LazyHolder
}
