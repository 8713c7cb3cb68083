/// A handle of a lazy property of a model: `model.$full`.
///
/// It has everything but plain reads and writes, and keeps the model alive. Do not store it in that
/// model, because neither would be freed. Confined to the thread of the loop that observes the
/// model.
public struct LazyHandle<Value> {
  @usableFromInline let storage: Lazy<Value>
  private let model: AnyObject

  /// Makes the property from its storage, which is bound to the model.
  @usableFromInline
  package init(_ storage: Lazy<Value>, of model: AnyObject) {
    (self.storage, self.model) = (storage, model)
  }

  /// Returns the value, computed if it is invalid.
  ///
  /// - Throws: the error of the getter (Z8), and ``LazyError`` for a cycle (Z11), for a chain of
  ///   tracked getters that is too deep (Z13), and for a getter that writes to one of its
  ///   dependencies. The property stays invalid, and the next read computes it again.
  public func get() throws -> Value { try withExtendedLifetime(model) { try storage.get() } }

  /// The value if it is valid; nothing is computed, tracked or created (Z7).
  public var peek: Value? { withExtendedLifetime(model) { storage.peek } }

  /// Whether the value is up to date, so that reading it computes nothing.
  public var isValid: Bool { withExtendedLifetime(model) { storage.isValid } }

  /// Makes the next read compute the value again.
  ///
  /// Watchers are called if the value then differs. Does nothing if the property is invalid.
  public func invalidate() { withExtendedLifetime(model) { storage.invalidate() } }
}
