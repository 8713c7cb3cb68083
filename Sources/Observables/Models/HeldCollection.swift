/// A collection that a property holds as a value: `[Item]`, `[String: Int]`, `Set<String>`.
///
/// Paths can lead into it. They use an observable collection with the same elements as long as the
/// value is the same. A different value counts as a different collection (C12).
protocol CollectionValue {
  /// An observable collection with the same elements; nil if the value is nil.
  var observable: (any KeyPathObservable)? { get }
  /// The address of the storage; two values that are alive at the same time with the same storage
  /// are equal.
  var storageAddress: UInt { get }
  /// Whether elements can be objects, which are compared by identity, or values that cannot be
  /// compared.
  static var mayHoldObjects: Bool { get }
  /// Whether the other value has the same type and the same elements (T5).
  func holdsSame(as other: Any) -> Bool
}

extension Array: CollectionValue {
  var observable: (any KeyPathObservable)? { ObservableArray(self) }
  // The value is one pointer to a buffer, which is copied before a change if it has other
  // references.
  var storageAddress: UInt { unsafeBitCast(self, to: UInt.self) }
  static var mayHoldObjects: Bool { Observables.mayHoldObjects(Element.self) }

  func holdsSame(as other: Any) -> Bool {
    guard let other = other as? Self, count == other.count else { return false }
    if storageAddress == other.storageAddress { return true }
    if Element.self is AnyClass {
      // References are compared as addresses.
      return withUnsafeBytes { own in other.withUnsafeBytes { own.elementsEqual($0) } }
    }
    let same = ElementTraits<Element>().same
    return zip(self, other).allSatisfy { same($0, $1) }
  }
}

extension Dictionary: CollectionValue {
  var observable: (any KeyPathObservable)? { ObservableDictionary(self) }
  // The value is one pointer, as in an array.
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
  // The value is one pointer, as in an array.
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
  /// The value, retained so that its storage address is not reused.
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
  /// The node of the collection that a property holds as a value.
  func node(
    of value: any CollectionValue, heldAs property: ObjectIdentifier, in engine: Engine
  ) -> NodeRef? {
    guard let part = part(in: engine) else { return nil }
    if part.heldCollections[property]?.isFor(value) != true {
      // The previous collection is released after the new one exists, so that the two have
      // different addresses.
      let old = part.heldCollections[property]
      part.heldCollections[property] = HeldCollection(value)
      withExtendedLifetime(old) {}
    }
    return part.heldCollections[property]?.node(in: engine)
  }

  /// The node of a property's value, which can be an object, a collection, or something that cannot
  /// be observed.
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
