/// A Swift class whose properties can be observed by key path.
///
/// A model declares its properties once per class, holds a ``ModelObservation``, and reports each
/// write to it:
///
/// ```swift
/// final class Address: ObservableModel {
///   static let properties = ModelProperties(for: Address.self) {
///     Property("zip", get: { $0.zip }, set: { $0.zip = $1 })
///   }
///   let observation = ModelObservation()
///   var zip = "" { didSet { observation.didSet(0, from: oldValue, to: zip) } }
/// }
/// ```
///
/// The number given to `didSet` is the property's place in the declaration. A model may be an
/// `Observable` of the toolchain as well: its accessors notify both, which do not disturb each
/// other. Confined to one thread, whose loops may all observe it, except with
/// `ModelObservation(.threadSafe)`: <doc:Threads>.
public protocol ObservableModel: KeyPathObservable {
  /// The observable properties, the same for every instance.
  static var properties: ModelProperties { get }
  /// The record of the watchers of this instance.
  var observation: ModelObservation { get }
  /// The record of the watchers, where there is one already.
  @_documentation(visibility: internal)
  var existingObservation: ModelObservation? { get }
}

extension ObservableModel {
  /// The record of the watchers, which a model has from the beginning unless its class says
  /// otherwise.
  @_documentation(visibility: internal)
  public var existingObservation: ModelObservation? { observation }

  /// Where the model is observed by the loop of `engine`; nil for one that belongs to the loops of
  /// another thread.
  @_documentation(visibility: internal)
  public func observationToken(in engine: ObservationCore.Engine) -> ObservationToken? {
    if observation.isObserved(elsewhereThan: engine) {
      engine.wiring.hasMetForeign = true
      return nil
    }
    return ObservationToken(node: node(in: engine))
  }

  /// Where the model is observed now: by the loop whose turn is under way, or by another one of
  /// this thread.
  @_documentation(visibility: internal)
  public var currentObservation: ObservationToken? {
    existingObservation?.existingNode.map(ObservationToken.init(node:))
  }

  /// Where the model is observed by the loops of this thread.
  @_documentation(visibility: internal)
  public var observationPlaces: ObservationPlaces { existingObservation?.places ?? .none }
}
