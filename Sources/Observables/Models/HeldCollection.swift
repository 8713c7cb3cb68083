/// A collection that a property holds as a value: `[Item]`, `[String: Int]`, `Set<String>`.
///
/// Paths may lead into it. For them there is an observable collection with the same elements, as long
/// as the value is the same; another value is another collection (C12).
protocol CollectionValue {
  /// The same elements in an observable collection; nil where there is no collection.
  var observable: (any KeyPathObservable)? { get }
  /// Where the elements are stored: two that live at the same time and have the same storage are equal.
  var storageAddress: UInt { get }
}

extension Array: CollectionValue {
  var observable: (any KeyPathObservable)? { ObservableArray(self) }
  // One pointer, to a buffer that is copied before it changes while somebody else holds it.
  var storageAddress: UInt { unsafeBitCast(self, to: UInt.self) }
}

extension Dictionary: CollectionValue {
  var observable: (any KeyPathObservable)? { ObservableDictionary(self) }
  // As above.
  var storageAddress: UInt { unsafeBitCast(self, to: UInt.self) }
}

extension Set: CollectionValue {
  var observable: (any KeyPathObservable)? { ObservableSet(self) }
  // As above.
  var storageAddress: UInt { unsafeBitCast(self, to: UInt.self) }
}

extension Optional: CollectionValue where Wrapped: CollectionValue {
  var observable: (any KeyPathObservable)? { self?.observable }
  var storageAddress: UInt { self?.storageAddress ?? 0 }
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
}
