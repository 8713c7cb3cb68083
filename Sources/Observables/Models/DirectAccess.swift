/// How a bridge reads and writes a property whose values another language has, too: without `Any`,
/// and without a test of the type.
///
/// The object is of the class that declares the property, or of a subclass.
@usableFromInline
package enum DirectAccess {
  /// The property is only accessible by `Any`.
  case none
  case integer(get: (AnyObject) -> Int, set: ((AnyObject, Int) -> Void)?)
  case number(get: (AnyObject) -> Double, set: ((AnyObject, Double) -> Void)?)
  case boolean(get: (AnyObject) -> Bool, set: ((AnyObject, Bool) -> Void)?)
  case text(get: (AnyObject) -> String, set: ((AnyObject, String) -> Void)?)
  /// The property holds a value of one of these types or nil; `set` returns false where the value
  /// is of another one.
  case optional(get: (AnyObject) -> DirectValue, set: ((AnyObject, DirectValue) -> Bool)?)
  /// The property holds an object; `set` returns false where the value is of another one, or must
  /// not be nil.
  case object(get: (AnyObject) -> AnyObject?, set: ((AnyObject, AnyObject?) -> Bool)?)

  /// The case for the type, if there is one.
  @inlinable
  init<Model: AnyObject, Value>(
    _ get: @escaping (Model) -> Value, _ set: ((Model, Value) -> Void)?
  ) {
    // Where the type is known, the compiler removes the branches, and the casts in them. `map` is
    // not used over closures: its result would be called through one more.
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

  /// The access to a property whose type is `Wrapped?`.
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

  /// The access to a property that may hold an object; `set` takes nil if `isOptional`.
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

/// A value of a property that another language has, too.
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

/// A type whose values another language has, too.
@usableFromInline
protocol DirectlyAccessible {
  var direct: DirectValue { get }
  /// The value; nil where it is of another type.
  init?(direct: DirectValue)
}

extension Int: DirectlyAccessible {
  @inlinable var direct: DirectValue { .integer(self) }

  @inlinable init?(direct: DirectValue) {
    guard case .integer(let value) = direct else { return nil }
    self = value
  }
}

/// Integers count as numbers, as everywhere.
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
