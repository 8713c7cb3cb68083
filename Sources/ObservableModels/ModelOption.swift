/// The option of models that several threads use.
public enum ModelThreadSafety: Sendable {
  /// Several threads may read and write its properties (T8).
  case threadSafe
}

/// The option of models that another framework observes, too.
public enum ModelFramework: Sendable {
  /// The toolchain's Observation.
  case observable
}

/// An option of a model, as `@ObservableModel` passes it to the properties.
@_documentation(visibility: internal)
public enum ModelOption: Sendable {
  /// `ModelThreadSafety.threadSafe`.
  case threadSafe
  /// `ModelFramework.observable`.
  case observable
  /// An initializer of the class may give the property its first value.
  case initialized
  /// The class is a record: its store is notified of writes, too.
  case record
}
