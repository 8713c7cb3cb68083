/// Says that several threads use a model.
public enum ModelThreadSafety: Sendable {
  /// Several threads may read and write its properties (T8).
  case threadSafe
}

/// Says that another framework observes a model, too.
public enum ModelFramework: Sendable {
  /// The toolchain's Observation.
  case observable
}

/// One of these options, or another one, as `@ObservableModel` hands it on to the properties.
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
