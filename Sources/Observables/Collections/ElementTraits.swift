/// The way in which the elements of a collection are compared and observed.
///
/// It is determined once, when a collection is first observed.
struct ElementTraits<Element> {
  /// Whether two elements are the same (T5).
  ///
  /// Objects are compared by identity and other values by `==`, except that NaN equals NaN. Values
  /// that cannot be compared are never the same.
  let same: (Element, Element) -> Bool
  /// Whether an element may be an object through which paths continue.
  let mayBeObservable: Bool

  init() {
    if Element.self is AnyClass {
      // Wiring depends on identity, even if the class has a custom `==` (P6).
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
      // `Value` is `Element`, but the compiler doesn't know. A cast would take ten times as long.
      let (a, b) = (unsafeBitCast(a, to: Value.self), unsafeBitCast(b, to: Value.self))
      return a == b || (a != a && b != b)
    }
  }

  /// The node of an element, if the element can be observed.
  func node(of element: Element, in engine: Engine) -> NodeRef? {
    guard mayBeObservable else { return nil }
    return (element as? any ObservableReference)?.observationToken(in: engine)?.node
  }

  func member(_ element: Element, in engine: Engine) -> Member {
    Member(value: Operand(element), node: node(of: element, in: engine))
  }
}

/// Tells whether a type is an optional.
private protocol AnyOptional {}
extension Optional: AnyOptional {}
