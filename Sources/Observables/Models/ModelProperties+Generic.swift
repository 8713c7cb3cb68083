import Synchronization

extension ModelProperties {
  /// The properties of a generic class, which has no place to store them: made once for each of its
  /// types.
  ///
  /// ```swift
  /// static var properties: ModelProperties {
  ///   .shared(for: Box.self) { Property("value", get: { $0.value }, set: { $0.value = $1 }) }
  /// }
  /// ```
  ///
  /// The first call declares the properties of `model`, after those of `parent`, if it inherits
  /// from a model; each further one gives the same list. May be called on any thread.
  public static func shared<Model: ObservableModel>(
    for model: Model.Type, inheriting parent: @autoclosure () -> ModelProperties? = nil,
    @PropertyListBuilder<Model> _ properties: () -> [Property<Model>]
  ) -> ModelProperties {
    let key = ObjectIdentifier(model)
    if let known = lists.withLock({ $0[key] }) { return known }
    // The list is made outside of the lock: the parent may be generic as well.
    let made = ModelProperties(for: model, inheriting: parent(), properties)
    return lists.withLock { lists in
      if let known = lists[key] { return known }
      lists[key] = made
      return made
    }
  }

  private static let lists = Mutex<[ObjectIdentifier: ModelProperties]>([:])
}
