/// How a bridge reads and writes a property whose values another language has, too: without `Any`, and
/// without asking for the type.
///
/// The object is one of the class that declares the property, or inherits from it.
@usableFromInline
package enum DirectAccess {
  /// There is no other way than by `Any`.
  case none
  case integer(get: (AnyObject) -> Int, set: ((AnyObject, Int) -> Void)?)
  case number(get: (AnyObject) -> Double, set: ((AnyObject, Double) -> Void)?)
  case boolean(get: (AnyObject) -> Bool, set: ((AnyObject, Bool) -> Void)?)
  case text(get: (AnyObject) -> String, set: ((AnyObject, String) -> Void)?)
  /// A class; writing has to ask for it.
  case object(get: (AnyObject) -> AnyObject?)

  /// The case for the type, if there is one.
  @inlinable
  init<Model: AnyObject, Value>(
    _ get: @escaping (Model) -> Value, _ set: ((Model, Value) -> Void)?
  ) {
    // Each branch is gone where the type is known, and with it the casts.
    if Value.self == Int.self {
      self = .integer(
        get: { get(unsafeDowncast($0, to: Model.self)) as! Int },
        set: set.map { set in { set(unsafeDowncast($0, to: Model.self), $1 as! Value) } })
    } else if Value.self == Double.self {
      self = .number(
        get: { get(unsafeDowncast($0, to: Model.self)) as! Double },
        set: set.map { set in { set(unsafeDowncast($0, to: Model.self), $1 as! Value) } })
    } else if Value.self == Bool.self {
      self = .boolean(
        get: { get(unsafeDowncast($0, to: Model.self)) as! Bool },
        set: set.map { set in { set(unsafeDowncast($0, to: Model.self), $1 as! Value) } })
    } else if Value.self == String.self {
      self = .text(
        get: { get(unsafeDowncast($0, to: Model.self)) as! String },
        set: set.map { set in { set(unsafeDowncast($0, to: Model.self), $1 as! Value) } })
    } else {
      self = .none
    }
  }

  /// That of a property that may hold an object.
  init<Model: AnyObject, Value: ObservableReference>(reference get: @escaping (Model) -> Value?) {
    guard Value.self is AnyClass else {
      self = .none
      return
    }
    self = .object { get(unsafeDowncast($0, to: Model.self)) as AnyObject? }
  }
}
