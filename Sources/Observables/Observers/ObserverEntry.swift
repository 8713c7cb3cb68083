/// One registration of a protocol observer: holds it weakly.
final class ObserverEntry: Sendable {
  // The reference is set once, and reading a weak one is thread-safe. Where the object itself may be used
  // is its context's matter.
  nonisolated(unsafe) weak let object: AnyObject?
  /// What tells it from other registrations, the earliest first.
  let number: UInt64
  /// Where it is called; nil for the caller's own place.
  let context: DeliveryContext?

  init(_ object: AnyObject, number: UInt64, context: DeliveryContext?) {
    self.object = object
    self.number = number
    self.context = context
  }
}

/// Registrations under one key, or under none: one for each observer.
struct ObserverEntries: Sendable {
  private var entries: [ObjectIdentifier: ObserverEntry] = [:]
  /// In order of registration; made when it is asked for.
  private var ordered: [ObserverEntry]?

  /// As many as there are, those included whose observers have died.
  var count: Int { entries.count }
  /// Those whose observers are alive.
  var livingCount: Int { entries.values.count { $0.object != nil } }

  /// False where the observer is registered already.
  mutating func add(_ observer: AnyObject, number: UInt64, context: DeliveryContext?) -> Bool {
    let key = ObjectIdentifier(observer)
    // One that died may have been at the same address.
    if entries[key]?.object != nil { return false }
    entries[key] = ObserverEntry(observer, number: number, context: context)
    ordered = nil
    return true
  }

  mutating func remove(_ observer: AnyObject) -> Bool {
    guard let entry = entries.removeValue(forKey: ObjectIdentifier(observer)) else { return false }
    ordered = nil
    return entry.object != nil
  }

  func contains(_ entry: ObserverEntry, of observer: AnyObject) -> Bool {
    entries[ObjectIdentifier(observer)] === entry
  }

  /// Those to be told, in order of registration.
  ///
  /// - Complexity: O(*n* log *n*) after a change, O(1) otherwise.
  mutating func inOrder() -> [ObserverEntry] {
    if let ordered { return ordered }
    let sorted = entries.values.sorted { $0.number < $1.number }
    ordered = sorted
    return sorted
  }

  /// Forgets observers that have died.
  mutating func sweep() {
    let count = entries.count
    entries = entries.filter { $0.value.object != nil }
    if entries.count != count { ordered = nil }
  }
}
