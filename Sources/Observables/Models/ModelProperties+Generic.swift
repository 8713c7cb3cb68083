import Synchronization

extension ModelProperties {
  /// The properties of a generic class, which cannot store them: one list for each specialization.
  ///
  /// ```swift
  /// static var properties: ModelProperties {
  ///   .shared(for: Box.self) { Property("value", get: { $0.value }, set: { $0.value = $1 }) }
  /// }
  /// ```
  ///
  /// The first call declares the properties of `model`. They follow the properties of `parent`, if
  /// the class inherits from a model. Each further call returns the same list. Can be called on any
  /// thread.
  public static func shared<Model: ObservableModel>(
    for model: Model.Type, inheriting parent: @autoclosure () -> ModelProperties? = nil,
    @PropertyListBuilder<Model> _ properties: () -> [Property<Model>]
  ) -> ModelProperties {
    let key = ObjectIdentifier(model)
    if let known = lists.withLock({ $0[key] }) { return known }
    // The list is made outside the lock because the parent may be generic as well.
    let made = ModelProperties(for: model, inheriting: parent(), properties)
    return lists.withLock { lists in
      if let known = lists[key] { return known }
      lists[key] = made
      return made
    }
  }

  private static let lists = Mutex<[ObjectIdentifier: ModelProperties]>([:])
}
