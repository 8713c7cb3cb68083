/// One observable property of a model class: its name, and how to read and write it by name.
public struct Property<Model: ObservableModel> {
  /// The name of the property in key paths.
  public let name: String
  let read: (Model) throws -> Any?
  let operand: (Model) -> Operand
  var write: ((Model, Any?) -> Bool)?
  /// Finds the node of the object that the property holds; the closure takes any object, so that
  /// models of different types need no wrapper.
  let child: ((AnyObject, Engine) -> NodeRef?)?
  let type: Any.Type
  /// How the property is computed, if it is lazy.
  let lazy: LazyDeclaration?
  /// Whether the property ends `**`.
  var isOpaque = false
  /// How a bridge accesses the property without `Any`.
  let direct: DirectAccess

  /// A copy of the property that is read-only by name; the class itself can still write it.
  public var readOnlyByName: Property {
    var property = self
    property.write = nil
    return property
  }

  /// A copy of the property whose objects `**` in a path does not follow (X1).
  public var opaque: Property {
    var property = self
    property.isOpaque = true
    return property
  }

  init(
    _ name: String, type: Any.Type, lazy: LazyDeclaration,
    read: @escaping (Model) throws -> Any?,
    operand: @escaping (Model) -> Operand, write: ((Model, Any?) -> Bool)?,
    child: @escaping (AnyObject, Engine) -> NodeRef?
  ) {
    (self.name, self.type, self.lazy, self.read) = (name, type, lazy, read)
    (self.operand, self.write, self.child) = (operand, write, child)
    direct = .none
  }

  /// Makes a property that holds a value.
  ///
  /// Paths lead into an array, a dictionary or a set as into an observable collection. Each write
  /// makes a different collection of it (C12). Paths also follow observable objects that the static
  /// type does not show: a type parameter of a generic class, a protocol, `Any`, or a superclass.
  /// They end at all other values (P7). An enumeration with raw values can also be set by a raw
  /// value.
  @inlinable
  public init<Value>(
    _ name: String, get: @escaping (Model) -> Value, set: ((Model, Value) -> Void)? = nil
  ) {
    // This is inlined: if the type is known, access by a script calls only `get` and `set`.
    self.init(name, value: get, set: set, direct: DirectAccess(get, set))
  }

  @usableFromInline
  init<Value>(
    _ name: String, value get: @escaping (Model) -> Value, set: ((Model, Value) -> Void)?,
    direct: DirectAccess
  ) {
    if let property = Property(reference: name, get: get, set: set) {
      self = property
      return
    }
    self.name = name
    self.type = Value.self
    self.direct = direct
    lazy = nil
    read = { flattened(get($0)) }
    operand = { Operand(get($0)) }
    write = set.map { set in
      { model, value in
        guard let value = fitting(value, Value.self) else { return false }
        set(model, value)
        return true
      }
    }
    let property = PropertyIdentity()
    if Value.self is any CollectionValue.Type {
      child = { object, engine in
        let model = unsafeDowncast(object, to: Model.self)
        guard let value = get(model) as? any CollectionValue else { return nil }
        return model.observation.node(of: value, heldAs: ObjectIdentifier(property), in: engine)
      }
    } else if mayHoldObjects(Value.self) {
      child = { object, engine in
        let model = unsafeDowncast(object, to: Model.self)
        return model.observation.node(
          ofAny: get(model), heldAs: ObjectIdentifier(property), in: engine)
      }
    } else {
      child = nil
    }
  }

  /// Makes a property whose type turns out to be a class or another reference.
  ///
  /// This is for generic classes, whose type parameters are only known at run time. Returns nil for
  /// all other types.
  private init?<Value>(
    reference name: String, get: @escaping (Model) -> Value, set: ((Model, Value) -> Void)?
  ) {
    guard let type = unwrapped(Value.self) as? any ObservableReference.Type,
      let property = Property.reference(type, name, get, set)
    else { return nil }
    self = property
  }

  private static func reference<Reference: ObservableReference, Value>(
    _ type: Reference.Type, _ name: String, _ get: @escaping (Model) -> Value,
    _ set: ((Model, Value) -> Void)?
  ) -> Property? {
    // The types are the same, but the compiler can't see that. A cast would take many times as
    // long.
    if Value.self == Reference.self {
      let get: (Model) -> Reference = { unsafeBitCast(get($0), to: Reference.self) }
      return Property(
        name, get: get,
        set: set.map { set in { model, value in set(model, unsafeBitCast(value, to: Value.self)) } }
      )
    }
    if Value.self == Reference?.self {
      let get: (Model) -> Reference? = { unsafeBitCast(get($0), to: Reference?.self) }
      return Property(
        name, get: get,
        set: set.map { set in { model, value in set(model, unsafeBitCast(value, to: Value.self)) } }
      )
    }
    return nil
  }

  /// Makes a property that may hold an observable object, which paths follow: a model, a
  /// collection, or a table of a script.
  public init<Value: ObservableReference>(
    _ name: String, get: @escaping (Model) -> Value?, set: ((Model, Value?) -> Void)? = nil
  ) {
    self.name = name
    self.type = Value.self
    lazy = nil
    direct = DirectAccess(reference: get, set, isOptional: true)
    read = { get($0) }
    operand = { Operand(get($0)) }
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
    child = { get(unsafeDowncast($0, to: Model.self))?.observationToken(in: $1)?.node }
  }

  /// Makes a property that always holds an observable object.
  public init<Value: ObservableReference>(
    _ name: String, get: @escaping (Model) -> Value, set: ((Model, Value) -> Void)? = nil
  ) {
    self.name = name
    self.type = Value.self
    lazy = nil
    direct = DirectAccess(
      reference: get, set.map { set in { if let value = $1 { set($0, value) } } }, isOptional: false
    )
    read = { get($0) }
    operand = { Operand(get($0)) }
    write = set.map { set in
      { model, value in
        guard let value = value as? Value else { return false }
        set(model, value)
        return true
      }
    }
    child = { get(unsafeDowncast($0, to: Model.self)).observationToken(in: $1)?.node }
  }
}

/// The identity of a property, which distinguishes it from others of its class.
final class PropertyIdentity {}
