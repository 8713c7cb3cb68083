/// A collection that a property holds as a value: `[Item]`, `[String: Int]`, `Set<String>`.
///
/// Paths may lead into it. For them there is an observable collection with the same elements, as
/// long as the value is the same; another value is another collection (C12).
protocol CollectionValue {
  /// The same elements in an observable collection; nil where there is no collection.
  var observable: (any KeyPathObservable)? { get }
  /// Where the elements are stored: two that live at the same time and have the same storage are
  /// equal.
  var storageAddress: UInt { get }
  /// Elements may be objects, which are told apart by identity, or be unable to be compared.
  static var mayHoldObjects: Bool { get }
  /// The other one is of the same type, and its elements are the same (T5).
  func holdsSame(as other: Any) -> Bool
}

extension Array: CollectionValue {
  var observable: (any KeyPathObservable)? { ObservableArray(self) }
  // One pointer, to a buffer that is copied before it changes while somebody else holds it.
  var storageAddress: UInt { unsafeBitCast(self, to: UInt.self) }
  static var mayHoldObjects: Bool { Observables.mayHoldObjects(Element.self) }

  func holdsSame(as other: Any) -> Bool {
    guard let other = other as? Self, count == other.count else { return false }
    if storageAddress == other.storageAddress { return true }
    if Element.self is AnyClass {
      // References are compared as what they are: addresses.
      return withUnsafeBytes { own in other.withUnsafeBytes { own.elementsEqual($0) } }
    }
    let same = ElementTraits<Element>().same
    return zip(self, other).allSatisfy { same($0, $1) }
  }
}

extension Dictionary: CollectionValue {
  var observable: (any KeyPathObservable)? { ObservableDictionary(self) }
  // One pointer, as of an array.
  var storageAddress: UInt { unsafeBitCast(self, to: UInt.self) }
  static var mayHoldObjects: Bool { Observables.mayHoldObjects(Value.self) }

  func holdsSame(as other: Any) -> Bool {
    guard let other = other as? Self, count == other.count else { return false }
    if storageAddress == other.storageAddress { return true }
    let same = ElementTraits<Value>().same
    return allSatisfy { key, value in other[key].map { same(value, $0) } ?? false }
  }
}

extension Set: CollectionValue {
  var observable: (any KeyPathObservable)? { ObservableSet(self) }
  // One pointer, as of an array.
  var storageAddress: UInt { unsafeBitCast(self, to: UInt.self) }
  static var mayHoldObjects: Bool { Observables.mayHoldObjects(Element.self) }

  func holdsSame(as other: Any) -> Bool {
    guard let other = other as? Self, count == other.count else { return false }
    if storageAddress == other.storageAddress { return true }
    let same = ElementTraits<Element>().same
    return allSatisfy { member in
      other.firstIndex(of: member).map { same(member, other[$0]) } ?? false
    }
  }
}

extension Optional: CollectionValue where Wrapped: CollectionValue {
  var observable: (any KeyPathObservable)? { self?.observable }
  var storageAddress: UInt { self?.storageAddress ?? 0 }
  static var mayHoldObjects: Bool { Wrapped.mayHoldObjects }
  func holdsSame(as other: Any) -> Bool { isSameValue(self as Any, other) }
}

/// The observable collection for a value that a property holds.
struct HeldCollection {
  /// Kept, so that its storage stays what it is.
  private let value: any CollectionValue
  private let object: any KeyPathObservable

  init?(_ value: any CollectionValue) {
    guard let object = value.observable else { return nil }
    (self.value, self.object) = (value, object)
  }

  func isFor(_ other: any CollectionValue) -> Bool {
    value.storageAddress == other.storageAddress
  }

  func node(in engine: Engine) -> NodeRef? { object.observationToken(in: engine)?.node }
}

extension ModelObservation {
  /// Where the collection is observed that a property holds as a value.
  func node(
    of value: any CollectionValue, heldAs property: ObjectIdentifier, in engine: Engine
  ) -> NodeRef? {
    guard let part = part(in: engine) else { return nil }
    if part.heldCollections[property]?.isFor(value) != true {
      // The one of before goes after this one is there: its memory must not be taken for new.
      let old = part.heldCollections[property]
      part.heldCollections[property] = HeldCollection(value)
      withExtendedLifetime(old) {}
    }
    return part.heldCollections[property]?.node(in: engine)
  }

  /// Where the value of a property is observed that may be anything: an object, a collection,
  /// nothing that can be observed.
  func node(
    ofAny value: Any, heldAs property: ObjectIdentifier, in engine: Engine
  ) -> NodeRef? {
    let value = flattened(value)
    let object = value as? any ObservableReference
    if object == nil, let collection = value as? any CollectionValue {
      return node(of: collection, heldAs: property, in: engine)
    }
    if let part = part(in: engine), !part.heldCollections.isEmpty {
      part.heldCollections[property] = nil
    }
    return object?.observationToken(in: engine)?.node
  }
}
