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
    } else {
      self = .none
    }
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
      guard let value = get(unsafeDowncast(object, to: Model.self)) else { return nil }
      // The type is a class, which the compiler can't see; a cast takes a hundred times as long.
      return unsafeBitCast(value, to: AnyObject.self)
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
