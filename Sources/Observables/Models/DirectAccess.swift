/// Accessors by which a bridge reads and writes a property without `Any` and without testing its
/// type.
///
/// They exist for types that the other language also has. The object passed in is of the class that
/// declares the property, or of a subclass.
@usableFromInline
package enum DirectAccess {
  /// The property can only be accessed through `Any`.
  case none
  case integer(get: (AnyObject) -> Int, set: ((AnyObject, Int) -> Void)?)
  case number(get: (AnyObject) -> Double, set: ((AnyObject, Double) -> Void)?)
  case boolean(get: (AnyObject) -> Bool, set: ((AnyObject, Bool) -> Void)?)
  case text(get: (AnyObject) -> String, set: ((AnyObject, String) -> Void)?)
  /// The property holds an optional value of one of these types.
  ///
  /// `set` returns false if the value has another type.
  case optional(get: (AnyObject) -> DirectValue, set: ((AnyObject, DirectValue) -> Bool)?)
  /// The property holds an object.
  ///
  /// `set` returns false if the value is of another class, or if it is nil and the property cannot
  /// be nil.
  case object(get: (AnyObject) -> AnyObject?, set: ((AnyObject, AnyObject?) -> Bool)?)

  /// Chooses the case for the type, or `none`.
  @inlinable
  init<Model: AnyObject, Value>(
    _ get: @escaping (Model) -> Value, _ set: ((Model, Value) -> Void)?
  ) {
    // If the type is known, the compiler removes the branches and their casts. `map` is avoided for
    // closures because it would add another closure call.
    if Value.self == Int.self {
      self = .integer(
        get: { get(unsafeDowncast($0, to: Model.self)) as! Int },
        set: set == nil ? nil : { set!(unsafeDowncast($0, to: Model.self), $1 as! Value) })
    } else if Value.self == Double.self {
      self = .number(
        get: { get(unsafeDowncast($0, to: Model.self)) as! Double },
        set: set == nil ? nil : { set!(unsafeDowncast($0, to: Model.self), $1 as! Value) })
    } else if Value.self == Bool.self {
      self = .boolean(
        get: { get(unsafeDowncast($0, to: Model.self)) as! Bool },
        set: set == nil ? nil : { set!(unsafeDowncast($0, to: Model.self), $1 as! Value) })
    } else if Value.self == String.self {
      self = .text(
        get: { get(unsafeDowncast($0, to: Model.self)) as! String },
        set: set == nil ? nil : { set!(unsafeDowncast($0, to: Model.self), $1 as! Value) })
    } else if Value.self == Int?.self {
      self.init(optional: Int.self, get, set)
    } else if Value.self == Double?.self {
      self.init(optional: Double.self, get, set)
    } else if Value.self == Bool?.self {
      self.init(optional: Bool.self, get, set)
    } else if Value.self == String?.self {
      self.init(optional: String.self, get, set)
    } else {
      self = .none
    }
  }

  /// Access to a property whose type is `Wrapped?`.
  @inlinable @inline(__always)
  init<Model: AnyObject, Value, Wrapped: DirectlyAccessible>(
    optional type: Wrapped.Type, _ get: @escaping (Model) -> Value, _ set: ((Model, Value) -> Void)?
  ) {
    self = .optional(
      get: { (get(unsafeDowncast($0, to: Model.self)) as! Wrapped?)?.direct ?? .nothing },
      set: set == nil
        ? nil
        : { object, value in
          let wrapped = Wrapped(direct: value)
          if wrapped == nil, !value.isNothing { return false }
          set!(unsafeDowncast(object, to: Model.self), wrapped as! Value)
          return true
        })
  }

  /// Access to a property that may hold an object; `set` accepts nil if `isOptional`.
  init<Model: AnyObject, Value: ObservableReference>(
    reference get: @escaping (Model) -> Value?, _ set: ((Model, Value?) -> Void)?, isOptional: Bool
  ) {
    guard let type = Value.self as? AnyClass else {
      self = .none
      return
    }
    let getObject: (AnyObject) -> AnyObject? = { object in
      get(unsafeDowncast(object, to: Model.self)).flatMap { reference(of: $0) }
    }
    guard let set else {
      self = .object(get: getObject, set: nil)
      return
    }
    self = .object(get: getObject) { object, value in
      let model = unsafeDowncast(object, to: Model.self)
      guard let value else {
        if isOptional { set(model, nil) }
        return isOptional
      }
      if Swift.type(of: value) == type {
        set(model, unsafeBitCast(value, to: Value.self))
      } else {
        guard let value = value as? Value else { return false }
        set(model, value)
      }
      return true
    }
  }
}

/// A property's value, of a type that the other language also has.
@frozen @usableFromInline
package enum DirectValue {
  case nothing
  case integer(Int)
  case number(Double)
  case boolean(Bool)
  case text(String)

  @inlinable var isNothing: Bool {
    if case .nothing = self { true } else { false }
  }
}

/// A type that the other language also has.
@usableFromInline
protocol DirectlyAccessible {
  var direct: DirectValue { get }
  /// Converts a value; nil if it has another type.
  init?(direct: DirectValue)
}

extension Int: DirectlyAccessible {
  @inlinable var direct: DirectValue { .integer(self) }

  @inlinable init?(direct: DirectValue) {
    guard case .integer(let value) = direct else { return nil }
    self = value
  }
}

/// Integers are accepted as numbers, as everywhere.
extension Double: DirectlyAccessible {
  @inlinable var direct: DirectValue { .number(self) }

  @inlinable init?(direct: DirectValue) {
    switch direct {
    case .number(let value): self = value
    case .integer(let value): self = Double(value)
    default: return nil
    }
  }
}

extension Bool: DirectlyAccessible {
  @inlinable var direct: DirectValue { .boolean(self) }

  @inlinable init?(direct: DirectValue) {
    guard case .boolean(let value) = direct else { return nil }
    self = value
  }
}

extension String: DirectlyAccessible {
  @inlinable var direct: DirectValue { .text(self) }

  @inlinable init?(direct: DirectValue) {
    guard case .text(let value) = direct else { return nil }
    self = value
  }
}
