public import Observation

/// The object by which a model with `@ObservableModel(.observable)` notifies the toolchain's
/// Observation, in files that do not import that.
@_documentation(visibility: internal)
public struct ModelRegistrar: Sendable {
  private let registrar = ObservationRegistrar()

  /// The registrar of a new model.
  public init() {}

  /// The property is being read.
  public func access<Model: Observation.Observable, Value>(
    _ model: Model, keyPath: KeyPath<Model, Value>
  ) { registrar.access(model, keyPath: keyPath) }

  /// The property is about to be written.
  public func willSet<Model: Observation.Observable, Value>(
    _ model: Model, keyPath: KeyPath<Model, Value>
  ) { registrar.willSet(model, keyPath: keyPath) }

  /// The property was written.
  public func didSet<Model: Observation.Observable, Value>(
    _ model: Model, keyPath: KeyPath<Model, Value>
  ) { registrar.didSet(model, keyPath: keyPath) }
}

/// The protocol to which such a model conforms.
@_documentation(visibility: internal)
public typealias FrameworkObservable = Observation.Observable
