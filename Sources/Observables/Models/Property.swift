/// One observable property of a model class: its name, and how it is read and written by name.
public struct Property<Model: ObservableModel> {
  /// What a key path calls it.
  public let name: String
  let read: (Model) -> Any?
  let write: ((Model, Any?) -> Bool)?
  /// Takes any object so that no wrapper is needed where kinds of models meet.
  let child: ((AnyObject, Engine) -> NodeRef?)?
  /// The type as an error names it.
  let type: Any.Type

  /// A property that holds a value; paths end there (P7).
  public init<Value>(
    _ name: String, get: @escaping (Model) -> Value, set: ((Model, Value) -> Void)? = nil
  ) {
    self.name = name
    self.type = Value.self
    read = { flattened(get($0)) }
    write = set.map { set in
      { model, value in
        guard let value = value as? Value else { return false }
        set(model, value)
        return true
      }
    }
    child = nil
  }

  /// A property that holds another model, which paths follow.
  public init<Value: ObservableModel>(
    _ name: String, get: @escaping (Model) -> Value?, set: ((Model, Value?) -> Void)? = nil
  ) {
    self.init(name, object: get, set: set) {
      get(unsafeDowncast($0, to: Model.self))?.node(in: $1)
    }
  }

  /// A property that holds another observable object, such as a table of a script.
  public init<Value: ObservableReference>(
    _ name: String, get: @escaping (Model) -> Value?, set: ((Model, Value?) -> Void)? = nil
  ) {
    self.init(name, object: get, set: set) {
      get(unsafeDowncast($0, to: Model.self))?.observationToken(in: $1)?.node
    }
  }

  private init<Value>(
    _ name: String, object get: @escaping (Model) -> Value?, set: ((Model, Value?) -> Void)?,
    child: @escaping (AnyObject, Engine) -> NodeRef?
  ) {
    self.name = name
    self.type = Value.self
    read = { get($0) }
    write = set.map { set in
      { model, value in
        if let value {
          guard let value = value as? Value else { return false }
          set(model, value)
        } else {
          set(model, nil)
        }
        return true
      }
    }
    self.child = child
  }
}

/// The value without the optional around it: nil is nil, however deep.
func flattened(_ value: Any) -> Any? {
  if let optional = value as? any OptionalValue { return optional.flattened }
  return value
}

/// Lets a value of unknown type be asked whether it is an optional.
private protocol OptionalValue {
  var flattened: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var flattened: Any? {
    guard let self else { return nil }
    if let inner = self as? any OptionalValue { return inner.flattened }
    return self
  }
}

/// A reference to an object that is observable without being a model: a table of a script.
public protocol ObservableReference {
  /// Where it is observed by the loop of `engine`; nil where it cannot be. On the loop's thread.
  func observationToken(in engine: Engine) -> ObservationToken?
}

/// Where an object is observed; made by those who implement a kind of observable object.
public struct ObservationToken {
  package let node: NodeRef
  package init(node: NodeRef) { self.node = node }
}
