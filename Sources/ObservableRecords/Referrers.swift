#if Records
  /// An object with a property that refers to a row.
  struct Referrer {
    weak var state: RecordState?
    let name: String

    fileprivate struct Identity: Hashable {
      let state: ObjectIdentifier
      let name: String
    }

    /// nil if the object is released.
    fileprivate var identity: Identity? {
      state.map { Identity(state: ObjectIdentifier($0), name: name) }
    }
  }

  /// The objects with properties that refer to one row.
  struct Referrers {
    private var list: [Referrer] = []
    private var limit = 16

    var areGone: Bool { !list.contains { $0.state != nil } }

    mutating func add(_ referrer: Referrer) {
      if list.count >= limit {
        // A property is noted again each time it is computed; one note is enough.
        var seen: Set<Referrer.Identity> = []
        list.removeAll { $0.identity.map { !seen.insert($0).inserted } ?? true }
        limit = max(16, 2 * list.count)
      }
      list.append(referrer)
    }

    /// Invalidates each of the properties once.
    func invalidate() {
      var seen: Set<Referrer.Identity> = []
      for referrer in list where referrer.identity.map({ seen.insert($0).inserted }) == true {
        try? referrer.state?.object?.invalidate(referrer.name)
      }
    }
  }

  /// Properties that refer to missing rows, by the keys of the rows.
  struct AwaitedRows {
    private var referrers: [RecordKey: Referrers] = [:]
    private var limit = 64

    var keys: [RecordKey] { Array(referrers.keys) }

    func contains(_ key: RecordKey) -> Bool { referrers[key] != nil }

    mutating func add(_ key: RecordKey, _ referrer: Referrer) {
      if referrers.count >= limit {
        referrers = referrers.filter { !$0.value.areGone }
        limit = max(64, 2 * referrers.count)
      }
      referrers[key, default: Referrers()].add(referrer)
    }

    mutating func take(_ key: RecordKey) -> Referrers? {
      referrers.isEmpty ? nil : referrers.removeValue(forKey: key)
    }
  }
#endif
