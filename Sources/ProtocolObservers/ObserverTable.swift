/// The registered observers of an object, for no key and for each key.
struct ObserverTable<Key: Hashable> {
  private var unkeyed = ObserverEntries()
  private var keyed: [Key: ObserverEntries] = [:]
  private var lastNumber: UInt64 = 0
  /// The number of registrations, including those whose observers have died.
  private(set) var total = 0
  /// The number of registrations at which dead ones are removed.
  private var sweepLimit = 16

  mutating func add(
    _ observer: AnyObject, for key: Key?, in context: DeliveryContext?, _ remains: inout Remains
  ) -> Bool {
    if total >= sweepLimit { sweep(&remains) }
    lastNumber += 1
    let before = entries(for: key).count
    let isNew =
      if let key {
        keyed[key, default: ObserverEntries()].add(
          observer, number: lastNumber, context: context, &remains)
      } else {
        unkeyed.add(observer, number: lastNumber, context: context, &remains)
      }
    total += entries(for: key).count - before
    return isNew
  }

  mutating func remove(_ observer: AnyObject, for key: Key?, _ remains: inout Remains) -> Bool {
    let before = entries(for: key).count
    let wasRegistered: Bool
    if let key {
      wasRegistered = keyed[key]?.remove(observer, &remains) ?? false
      forgetIfEmpty(key, &remains)
    } else {
      wasRegistered = unkeyed.remove(observer, &remains)
    }
    total -= before - entries(for: key).count
    return wasRegistered
  }

  func entries(for key: Key?) -> ObserverEntries {
    guard let key else { return unkeyed }
    return keyed[key] ?? ObserverEntries()
  }

  /// Returns the entries for a notification that begins now, in order of registration.
  mutating func inOrder(for key: Key?) -> [ObserverEntry] {
    guard let key else { return unkeyed.inOrder() }
    return keyed[key]?.inOrder() ?? []
  }

  /// Removes registrations for a key whose observers have died.
  ///
  /// The caller keeps the entries alive.
  mutating func remove(_ dead: [ObserverEntry], for key: Key?, _ remains: inout Remains) {
    let before = entries(for: key).count
    if let key {
      for entry in dead { keyed[key]?.remove(entry) }
      forgetIfEmpty(key, &remains)
    } else {
      for entry in dead { unkeyed.remove(entry) }
    }
    total -= before - entries(for: key).count
  }

  private mutating func forgetIfEmpty(_ key: Key, _ remains: inout Remains) {
    guard let index = keyed.index(forKey: key), keyed.values[index].count == 0 else { return }
    remains.append(keyed.remove(at: index))
  }

  private mutating func sweep(_ remains: inout Remains) {
    unkeyed.sweep(&remains)
    // The values are accessed by position, as a key that is not equal to itself, such as NaN,
    // cannot be looked up.
    for index in keyed.indices { keyed.values[index].sweep(&remains) }
    remains.append(Array(keyed.keys))
    keyed = keyed.filter { $0.value.count > 0 }
    total = keyed.values.reduce(unkeyed.count) { $0 + $1.count }
    sweepLimit = max(16, 2 * total)
  }
}

extension ObserverTable: Sendable where Key: Sendable {}
