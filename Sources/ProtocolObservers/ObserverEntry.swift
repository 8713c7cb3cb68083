/// One registration of a protocol observer: holds it weakly.
final class ObserverEntry: Sendable {
  // The reference is set once, and reading a weak one is thread-safe. Where the object itself may
  // be used is its context's matter.
  nonisolated(unsafe) weak let object: AnyObject?
  /// Of the observer, also when it is gone; another one may have it then.
  let identifier: ObjectIdentifier
  /// What tells it from other registrations, the earliest first.
  let number: UInt64
  /// Where it is called; nil for the caller's own place.
  let context: DeliveryContext?

  init(_ object: AnyObject, number: UInt64, context: DeliveryContext?) {
    self.object = object
    identifier = ObjectIdentifier(object)
    self.number = number
    self.context = context
  }
}

/// What was taken out of a table, or kept alive for a look at it.
///
/// Letting go of it may run code of the program, which may use the table: not before that is free
/// again.
typealias Remains = [Any]

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
  mutating func add(
    _ observer: AnyObject, number: UInt64, context: DeliveryContext?, _ remains: inout Remains
  ) -> Bool {
    let key = ObjectIdentifier(observer)
    if let entry = entries[key] {
      if entry.object != nil { return false }
      // One that died was at the same address.
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

  /// The caller keeps the entry.
  mutating func remove(_ entry: ObserverEntry) {
    guard contains(entry) else { return }
    entries[entry.identifier] = nil
    ordered = nil
  }

  func contains(_ entry: ObserverEntry) -> Bool { entries[entry.identifier] === entry }

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
