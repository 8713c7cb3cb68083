public import Observation

/// The registrar by which a model with `@ObservableModel(.observable)` notifies the toolchain's
/// Observation, in files that do not import it.
@_documentation(visibility: internal)
public struct ModelRegistrar: Sendable {
  private let registrar = ObservationRegistrar()

  /// Creates the registrar of a new model.
  public init() {}

  /// Reports that the property is read.
  public func access<Model: Observation.Observable, Value>(
    _ model: Model, keyPath: KeyPath<Model, Value>
  ) { registrar.access(model, keyPath: keyPath) }

  /// Reports that the property is about to be written.
  public func willSet<Model: Observation.Observable, Value>(
    _ model: Model, keyPath: KeyPath<Model, Value>
  ) { registrar.willSet(model, keyPath: keyPath) }

  /// Reports that the property was written.
  public func didSet<Model: Observation.Observable, Value>(
    _ model: Model, keyPath: KeyPath<Model, Value>
  ) { registrar.didSet(model, keyPath: keyPath) }
}

/// The toolchain's protocol, to which such a model conforms.
@_documentation(visibility: internal)
public typealias FrameworkObservable = Observation.Observable
