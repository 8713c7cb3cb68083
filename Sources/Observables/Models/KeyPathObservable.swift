/// An object at which key paths can start: a model or a collection.
///
/// It is confined to the thread of the loop that observes it.
public protocol KeyPathObservable: AnyObject, ObservableReference {
  /// The place where the object is observed now; nil while it is not observed.
  @_documentation(visibility: internal)
  var currentObservation: ObservationToken? { get }
  /// The places where the loops of this thread observe the object.
  @_documentation(visibility: internal)
  var observationPlaces: ObservationPlaces { get }
}

/// A reference to an object that key paths can go through: a model, a collection, or a table of a
/// script.
public protocol ObservableReference {
  /// The place where the loop of `engine` observes the object; nil if it cannot.
  ///
  /// Called on the loop's thread.
  @_documentation(visibility: internal)
  func observationToken(in engine: ObservationCore.Engine) -> ObservationToken?
}

/// A place where an object is observed; code that implements a kind of observable object makes it.
@_documentation(visibility: internal)
public struct ObservationToken {
  package let node: NodeRef
  package init(node: NodeRef) { self.node = node }
}

/// The places where the loops of one thread observe an object; it is rarely more than one.
@_documentation(visibility: internal)
public enum ObservationPlaces {
  /// No loop observes the object.
  case none
  /// One loop observes it.
  case one(ObservationToken)
  /// Several loops observe it.
  case several([ObservationToken])

  var tokens: [ObservationToken] {
    switch self {
    case .none: []
    case .one(let token): [token]
    case .several(let tokens): tokens
    }
  }
}

extension KeyPathObservable {
  /// The places where the loops of this thread observe the object.
  @_documentation(visibility: internal)
  public var observationPlaces: ObservationPlaces {
    guard let token = currentObservation, token.node.engine.isHere else { return .none }
    return .one(token)
  }

  /// The node in the loop of `engine`; nil while that loop does not observe the object.
  package func currentNode(in engine: Engine) -> NodeRef? {
    if let model = self as? any ObservableModel {
      return model.existingObservation?.node(in: engine)
    }
    return currentObservation.flatMap { $0.node.engine === engine ? $0.node : nil }
  }
}

/// The node of `object` in this engine, if the object can be observed.
package func observedNode(of object: Any, in engine: Engine) -> Child {
  guard let token = (object as? any ObservableReference)?.observationToken(in: engine) else {
    return .none
  }
  return .node(token.node)
}
