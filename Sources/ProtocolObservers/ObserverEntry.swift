/// One registration of a protocol observer, which is held weakly.
final class ObserverEntry: Sendable {
  // The reference is set once, and reading a weak reference is thread-safe. The context decides
  // where the object itself may be used.
  nonisolated(unsafe) weak let object: AnyObject?
  /// The identifier of the observer; after its death another object may have it.
  let identifier: ObjectIdentifier
  /// The number that distinguishes this registration from others; later ones have higher numbers.
  let number: UInt64
  /// The context of the calls; nil for calls in place, by the notification.
  let context: DeliveryContext?

  init(_ object: AnyObject, number: UInt64, context: DeliveryContext?) {
    self.object = object
    identifier = ObjectIdentifier(object)
    self.number = number
    self.context = context
  }
}

/// Objects that were removed from a table, or kept alive while they were examined.
///
/// Releasing them may run the program's code, which may use the table. So they are released only
/// when the table is not in use.
typealias Remains = [Any]

/// Registrations under one key, or under no key: one for each observer.
struct ObserverEntries: Sendable {
  private var entries: [ObjectIdentifier: ObserverEntry] = [:]
  /// The entries in order of registration; computed on demand.
  private var ordered: [ObserverEntry]?

  /// The number of entries, including those whose observers have died.
  var count: Int { entries.count }
  /// The number of entries with living observers.
  var livingCount: Int { entries.values.count { $0.object != nil } }

  /// Adds an entry; returns false where the observer is registered already.
  mutating func add(
    _ observer: AnyObject, number: UInt64, context: DeliveryContext?, _ remains: inout Remains
  ) -> Bool {
    let key = ObjectIdentifier(observer)
    if let entry = entries[key] {
      if entry.object != nil { return false }
      // Another observer, which has died, had the same address.
      remains.append(entry)
    }
    entries[key] = ObserverEntry(observer, number: number, context: context)
    ordered = nil
    return true
  }

  mutating func remove(_ observer: AnyObject, _ remains: inout Remains) -> Bool {
    guard let entry = entries.removeValue(forKey: ObjectIdentifier(observer)) else { return false }
    ordered = nil
    remains.append(entry)
    return entry.object != nil
  }

  /// Removes an entry, which the caller keeps alive.
  mutating func remove(_ entry: ObserverEntry) {
    guard contains(entry) else { return }
    entries[entry.identifier] = nil
    ordered = nil
  }

  func contains(_ entry: ObserverEntry) -> Bool { entries[entry.identifier] === entry }

  /// The entries to be notified, in order of registration.
  ///
  /// - Complexity: O(*n* log *n*) after a change, O(1) otherwise.
  mutating func inOrder() -> [ObserverEntry] {
    if let ordered { return ordered }
    let sorted = entries.values.sorted { $0.number < $1.number }
    ordered = sorted
    return sorted
  }

  /// Removes observers that have died.
  mutating func sweep(_ remains: inout Remains) {
    let before = entries
    entries = entries.filter { _, entry in
      guard let object = entry.object else { return false }
      remains.append(object)
      return true
    }
    if entries.count == before.count { return }
    ordered = nil
    remains.append(before)
  }
}
