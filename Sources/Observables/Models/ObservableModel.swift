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
/// The first argument of `didSet` is the property's position in the declaration. A model can also
/// be an `Observable` of Swift's Observation module. Its accessors then notify both mechanisms,
/// which are independent. A model is confined to one thread, and all loops of that thread can
/// observe it. `ModelObservation(.threadSafe)` lifts this restriction: <doc:Threads>.
public protocol ObservableModel: KeyPathObservable {
  /// The observable properties, the same for every instance.
  static var properties: ModelProperties { get }
  /// The record of this instance's watchers.
  var observation: ModelObservation { get }
  /// The record of this instance's watchers, if it exists already.
  @_documentation(visibility: internal)
  var existingObservation: ModelObservation? { get }
}

extension ObservableModel {
  /// The record of the watchers.
  ///
  /// A model has it from the beginning, unless its class overrides this property.
  @_documentation(visibility: internal)
  public var existingObservation: ModelObservation? { observation }

  /// The place where the loop of `engine` observes the model; nil if the model belongs to loops of
  /// another thread.
  @_documentation(visibility: internal)
  public func observationToken(in engine: ObservationCore.Engine) -> ObservationToken? {
    if observation.isObserved(elsewhereThan: engine) {
      engine.wiring.hasMetForeign = true
      return nil
    }
    return ObservationToken(node: node(in: engine))
  }

  /// The place where the model is observed now: in the loop whose turn is under way, or in another
  /// loop of this thread.
  @_documentation(visibility: internal)
  public var currentObservation: ObservationToken? {
    existingObservation?.existingNode.map(ObservationToken.init(node:))
  }

  /// The places where the loops of this thread observe the model.
  @_documentation(visibility: internal)
  public var observationPlaces: ObservationPlaces { existingObservation?.places ?? .none }
}
