#if Records
  internal import Observables

  /// The objects of one class in a store: one for each row that is in memory.
  final class RecordTable {
    let schema: RecordSchema
    let record: any ObservableRecord.Type
    let name: String
    unowned let store: RecordStore
    /// Whether SQLite gives new rows their key.
    let hasAutomaticKey: Bool
    /// The states of the objects, which leave when their objects go.
    private var live: [RecordKey: Unmanaged<RecordState>] = [:]
    private let columnsBySlot: [RecordColumn?]
    /// The properties of other classes that list rows of this one, by the slot of the column.
    private(set) var incoming: [Int: [IncomingLink]] = [:]

    /// The stored properties of other classes that depend on rows of this one.
    private(set) var dependents: [StoredDependency] = []

    /// A property of another class that lists rows of this one.
    struct IncomingLink {
      unowned let owner: RecordTable
      let relation: RecordRelation
    }

    init(
      _ record: any ObservableRecord.Type, _ store: RecordStore, hasAutomaticKey: Bool
    ) {
      self.record = record
      self.store = store
      self.hasAutomaticKey = hasAutomaticKey
      schema = record.recordSchema
      name = schema.table
      let last = schema.columns.map(\.slot).max() ?? -1
      var columns = [RecordColumn?](repeating: nil, count: last + 1)
      for column in schema.columns { columns[column.slot] = column }
      columnsBySlot = columns
    }

    /// Makes the state of each object free: the store is closed.
    func close() {
      let states = live.values.map { $0.takeUnretainedValue() }
      live = [:]
      for state in states { state.leave() }
    }

    // MARK: Rows

    func enter(_ state: RecordState, _ key: RecordKey) {
      live[key] = .passUnretained(state)
    }

    /// Enters the states of rows that were just read; returns the places of those that are there
    /// already.
    func enter(
      _ states: [Unmanaged<RecordState>], _ keys: [RecordKey], except known: [Int]
    ) -> [Int] {
      reserve(keys.count)
      var others = known[...]
      var repeated: [Int] = []
      for place in keys.indices {
        if place == others.first {
          others = others.dropFirst()
        } else if let first = live.updateValue(states[place], forKey: keys[place]),
          first.takeUnretainedValue().object != nil
        {
          live[keys[place]] = first
          repeated.append(place)
        }
      }
      return repeated
    }

    /// Makes room for objects.
    func reserve(_ count: Int) {
      if count > live.count { live.reserveCapacity(live.count + count) }
    }

    func forget(_ state: RecordState) {
      guard let key = state.key, live[key]?.toOpaque() == Unmanaged.passUnretained(state).toOpaque()
      else { return }
      live[key] = nil
    }

    /// The state of the row with this key, if its object is there.
    func state(_ key: RecordKey) -> RecordState? {
      guard let state = live[key]?.takeUnretainedValue(), state.object != nil else { return nil }
      return state
    }

    /// Whether an object of the row is there, or goes just now.
    func isKnown(_ key: RecordKey) -> Bool { live[key] != nil }

    var liveKeys: [RecordKey] { Array(live.keys) }
    var hasLive: Bool { !live.isEmpty }
    var isAnythingObserved: Bool { live.values.contains { $0.takeUnretainedValue().isObserved } }

    func column(_ slot: Int) -> RecordColumn? {
      slot < columnsBySlot.count ? columnsBySlot[slot] : nil
    }

    /// The one object for a row: `fresh`, or the one that was there, which gets the values.
    ///
    /// nil where the row is deleted here.
    func adopt(_ fresh: any ObservableRecord, readAfter number: Int) -> (any ObservableRecord)? {
      guard let key = schema.key(of: fresh) else { return nil }
      if let state = state(key) {
        if state.isDeleted { return nil }
        store.refresh(state, from: fresh, readAfter: number)
        return state.object
      }
      fresh.recordState.join(self, fresh, .saved, key: key)
      return fresh
    }

    // MARK: Links

    func add(_ link: IncomingLink, at slot: Int) { incoming[slot, default: []].append(link) }

    func add(_ dependency: StoredDependency) { dependents.append(dependency) }

    func isLink(_ slot: Int) -> Bool { !incoming.isEmpty && incoming[slot] != nil }

    /// Takes an object out of the lists of one row, and puts it into those of another.
    func relink(_ object: any ObservableRecord, _ slot: Int, from: RecordKey?, to: RecordKey?) {
      for link in incoming[slot] ?? [] {
        if let from, let owner = link.owner.state(from) {
          owner.lost(object, link.relation)
        }
        if let to, let owner = link.owner.state(to), !object.isDeleted {
          owner.gained(object, link.relation)
        }
      }
    }

    /// Takes a deleted object out of the properties that have it.
    func unlink(_ object: any ObservableRecord) {
      for (slot, links) in incoming {
        let key = column(slot).flatMap { try? $0.read(object) }.flatMap(RecordKey.init)
        for link in links {
          if let key { link.owner.state(key)?.lost(object, link.relation) }
          object.recordState.newParents[slot]?.lost(object, link.relation)
        }
      }
      for referrer in object.recordState.takeReferrers() {
        try? referrer.state?.object?.invalidate(referrer.name)
      }
    }
  }
#endif
