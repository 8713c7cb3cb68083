/// How the elements of a collection are compared and observed; found out once, when a collection is
/// observed for the first time.
struct ElementTraits<Element> {
  /// Whether two elements are the same (T5): identity for objects, `==` for other values, NaN
  /// equals NaN; values that cannot be compared never are.
  let same: (Element, Element) -> Bool
  /// Whether an element may be an object that paths go on through.
  let mayBeObservable: Bool

  init() {
    if Element.self is AnyClass {
      // Wiring is decided by identity, also where the class has an `==` of its own (P6).
      same = { reference(of: $0) === reference(of: $1) }
      mayBeObservable = true
    } else if let type = Element.self as? any Equatable.Type,
      !(Element.self is any AnyOptional.Type), !(Element.self is any CollectionValue.Type)
    {
      same = ElementTraits.comparison(of: type)
      mayBeObservable = Element.self is any ObservableReference.Type
    } else {
      same = { isSameValue($0, $1) }
      mayBeObservable = true
    }
  }

  private static func comparison<Value: Equatable>(
    of type: Value.Type
  ) -> (Element, Element) -> Bool {
    { a, b in
      // `Value` is `Element`, which the compiler can't know; a cast takes ten times as long.
      let (a, b) = (unsafeBitCast(a, to: Value.self), unsafeBitCast(b, to: Value.self))
      return a == b || (a != a && b != b)
    }
  }

  /// The node of an element, if that can be observed.
  func node(of element: Element, in engine: Engine) -> NodeRef? {
    guard mayBeObservable else { return nil }
    return (element as? any ObservableReference)?.observationToken(in: engine)?.node
  }

  func member(_ element: Element, in engine: Engine) -> Member {
    Member(value: Operand(element), node: node(of: element, in: engine))
  }
}

/// Lets a type be asked whether it is an optional.
private protocol AnyOptional {}
extension Optional: AnyOptional {}
