/// An object that key paths can be rooted at: a model, or a collection.
///
/// Confined to the thread of the loop that observes it.
public protocol KeyPathObservable: AnyObject, ObservableReference {
  /// Where the object is observed now; nil while it is not.
  @_documentation(visibility: internal)
  var currentObservation: ObservationToken? { get }
  /// Where the object is observed by the loops of this thread.
  @_documentation(visibility: internal)
  var observationPlaces: ObservationPlaces { get }
}

/// A reference to an object that key paths can go through: a model, a collection, a table of a
/// script.
public protocol ObservableReference {
  /// Where the object is observed by the loop of `engine`; nil where it cannot be. Called on the
  /// loop's thread.
  @_documentation(visibility: internal)
  func observationToken(in engine: ObservationCore.Engine) -> ObservationToken?
}

/// Where an object is observed; made by code that implements a kind of observable object.
@_documentation(visibility: internal)
public struct ObservationToken {
  package let node: NodeRef
  package init(node: NodeRef) { self.node = node }
}

/// Where an object is observed by the loops of one thread: seldom by several.
@_documentation(visibility: internal)
public enum ObservationPlaces {
  /// By none.
  case none
  /// By one loop.
  case one(ObservationToken)
  /// By several loops.
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
  /// Where the object is observed by the loops of this thread.
  @_documentation(visibility: internal)
  public var observationPlaces: ObservationPlaces {
    guard let token = currentObservation, token.node.engine.isHere else { return .none }
    return .one(token)
  }

  /// The node in the loop of `engine`; nil while the object is not observed there.
  package func currentNode(in engine: Engine) -> NodeRef? {
    if let model = self as? any ObservableModel {
      return model.existingObservation?.node(in: engine)
    }
    return currentObservation.flatMap { $0.node.engine === engine ? $0.node : nil }
  }
}

/// Where `object` is observed in this engine, if it can be.
package func observedNode(of object: Any, in engine: Engine) -> Child {
  guard let token = (object as? any ObservableReference)?.observationToken(in: engine) else {
    return .none
  }
  return .node(token.node)
}
