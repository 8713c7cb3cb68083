/// Who is registered with an observable object, for no key and for each key.
struct ObserverTable<Key: Hashable> {
  private var unkeyed = ObserverEntries()
  private var keyed: [Key: ObserverEntries] = [:]
  private var lastNumber: UInt64 = 0
  /// All registrations, those included whose observers have died.
  private(set) var total = 0
  /// At so many registrations the dead ones are looked for.
  private var sweepLimit = 16

  mutating func add(_ observer: AnyObject, for key: Key?, in context: DeliveryContext?) -> Bool {
    if total >= sweepLimit { sweep() }
    lastNumber += 1
    let before = entries(for: key).count
    let isNew =
      if let key {
        keyed[key, default: ObserverEntries()].add(observer, number: lastNumber, context: context)
      } else {
        unkeyed.add(observer, number: lastNumber, context: context)
      }
    total += entries(for: key).count - before
    return isNew
  }

  mutating func remove(_ observer: AnyObject, for key: Key?) -> Bool {
    let before = entries(for: key).count
    let wasRegistered: Bool
    if let key {
      wasRegistered = keyed[key]?.remove(observer) ?? false
      if keyed[key]?.count == 0 { keyed[key] = nil }
    } else {
      wasRegistered = unkeyed.remove(observer)
    }
    total -= before - entries(for: key).count
    return wasRegistered
  }

  func entries(for key: Key?) -> ObserverEntries {
    guard let key else { return unkeyed }
    return keyed[key] ?? ObserverEntries()
  }

  /// Who is to be told in a notification that begins now.
  mutating func inOrder(for key: Key?) -> [ObserverEntry] {
    guard let key else { return unkeyed.inOrder() }
    return keyed[key]?.inOrder() ?? []
  }

  /// Forgets observers of a key that have died.
  mutating func sweep(_ key: Key?) {
    let before = entries(for: key).count
    if let key {
      keyed[key]?.sweep()
      if keyed[key]?.count == 0 { keyed[key] = nil }
    } else {
      unkeyed.sweep()
    }
    total -= before - entries(for: key).count
  }

  private mutating func sweep() {
    unkeyed.sweep()
    for key in keyed.keys { keyed[key]!.sweep() }
    keyed = keyed.filter { $0.value.count > 0 }
    total = keyed.values.reduce(unkeyed.count) { $0 + $1.count }
    sweepLimit = max(16, 2 * total)
  }
}

extension ObserverTable: Sendable where Key: Sendable {}
