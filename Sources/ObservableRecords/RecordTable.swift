#if Records
  internal import Observables

  /// The objects of one class in a store: one for each row that is in memory.
  final class RecordTable {
    let schema: RecordSchema
    /// What the database says of the table.
    let layout: TableLayout
    unowned let store: RecordStore
    /// The columns that refer to rows of other tables, as the database knows them.
    let foreignKeys: [(column: RecordColumn, key: ForeignKey)]
    /// The states of the objects, which leave when their objects go.
    @exclusivity(unchecked) private var live = RowIndex()
    /// The group of rows that came alone.
    private(set) lazy var loners = FetchGroup(self, areAlone: true)
    /// The states of objects that are not found by a key: new ones, and deleted ones.
    private var strays: [ObjectIdentifier: Unmanaged<RecordState>] = [:]
    private var awaited = AwaitedRows()
    /// What SQLite makes of values, by the slots of columns that may have other values than those
    /// which are written to them.
    private let affinities: [Int: ColumnAffinity]
    /// The properties of other classes that list rows of this one, by the slot of the column.
    private(set) var incoming: [Int: [IncomingLink]] = [:]
    /// The stored properties of other classes that depend on rows of this one.
    private(set) var dependents: [StoredDependency] = []

    /// A property of another class that lists rows of this one.
    struct IncomingLink {
      unowned let owner: RecordTable
      let relation: RecordRelation
    }

    init(_ record: any ObservableRecord.Type, _ store: RecordStore, _ layout: TableLayout) {
      self.store = store
      self.layout = layout
      schema = record.recordSchema
      var affinities: [Int: ColumnAffinity] = [:]
      for column in schema.columns {
        let affinity = layout.affinity(of: column.name)
        if !column.storage.isKept(by: affinity) { affinities[column.slot] = affinity }
      }
      self.affinities = affinities
      foreignKeys = layout.foreignKeys.compactMap { key in
        record.recordSchema.columns.first { $0.name.lowercased() == key.column.lowercased() }
          .map { ($0, key) }
      }
    }

    var record: any ObservableRecord.Type { schema.recordType }
    var name: String { layout.name }
    /// Whether SQLite gives new rows their key.
    var hasAutomaticKey: Bool { layout.hasAutomaticKey }

    /// The key that is stored as `value`; nil for NULL.
    func key(_ value: StoredValue) -> RecordKey? { RecordKey(value, layout.collation) }

    /// The key of an object as it is now.
    func key(of object: any ObservableRecord) -> RecordKey? {
      guard let column = schema.key, let value = try? column.read(object) else { return nil }
      return key(value)
    }

    /// The key of an object that was just read from the row at which a statement is, if that has
    /// the columns of the class in their order.
    func key(of object: any ObservableRecord, in statement: SQLiteStatement?) -> RecordKey? {
      // Asking the object takes longer, and gives the same.
      if let statement, let place = schema.integerKeyPlace,
        case .int64(let number) = DatabaseValue(
          sqliteStatement: statement, index: CInt(place)
        ).storage
      {
        return .integer(number)
      }
      return key(of: object)
    }

    /// An object of the class as a record.
    func typed(_ object: AnyObject) -> any ObservableRecord {
      func typed<Record: ObservableRecord>(_ record: Record.Type) -> any ObservableRecord {
        unsafeDowncast(object, to: Record.self)
      }
      return typed(record)
    }

    /// The value of a column as it crosses to SQLite: one that can be read again.
    func value(of column: RecordColumn, _ object: any ObservableRecord) throws -> StoredValue {
      func refused(_ reason: String) -> RecordError {
        RecordError(
          .notStorable, table: name, column: column.name,
          row: object.recordState.key?.description, reason)
      }
      let value: StoredValue
      do {
        value = try column.read(object)
      } catch {
        throw refused("\(error)")
      }
      if let obstacle = value.obstacle { throw refused(obstacle) }
      if let affinity = affinities[column.slot] {
        let stored = affinity.stored(value)
        if column.canonical(stored) != value {
          throw refused(
            "\(stored.described), as SQLite stores it, could not be read again as the same "
              + "'\(column.expectation)'")
        }
      }
      return value
    }

    /// Makes the state of each object free: the store is closed.
    func close() {
      let states = live.states + strays.values.map { $0.takeUnretainedValue() }
      (live, strays) = (RowIndex(), [:])
      for state in states { state.leave() }
    }

    // MARK: Rows

    /// The object is found by its key from now on; one that had the key is so no more.
    func enter(_ state: RecordState, _ key: RecordKey) {
      if let former = live.enter(state, key) { addStray(former) }
      if !strays.isEmpty { strays[ObjectIdentifier(state)] = nil }
    }

    /// Notes an object that has no key yet, or no row any more.
    func addStray(_ state: RecordState) {
      strays[ObjectIdentifier(state)] = .passUnretained(state)
    }

    /// The object is not found by its key any more.
    func forget(_ state: RecordState) {
      guard live.has(state) else { return }
      live.remove(state)
      addStray(state)
    }

    /// The object does not belong to the table any more.
    func drop(_ state: RecordState) {
      live.remove(state)
      if !strays.isEmpty { strays[ObjectIdentifier(state)] = nil }
    }

    /// The state of the row with this key, if its object is there.
    func state(_ key: RecordKey) -> RecordState? {
      guard let state = live.state(key), state.hasObject else { return nil }
      return state
    }

    /// Whether an object of the row is there, or goes just now.
    func isKnown(_ key: RecordKey) -> Bool { live.state(key) != nil }

    var liveKeys: [RecordKey] { live.keys }
    var isAnythingObserved: Bool { live.contains { $0.isObserved } }

    func column(_ slot: Int) -> RecordColumn? { schema.column(slot) }

    /// The one object for a row: `fresh`, or the one that was there, which gets the values.
    ///
    /// nil where the row is deleted here.
    func adopt(_ fresh: any ObservableRecord, readAfter number: Int) -> (any ObservableRecord)? {
      guard let key = key(of: fresh) else { return nil }
      if let state = state(key) {
        if state.isDeleted { return nil }
        state.refresh(from: fresh, readAfter: number)
        return state.object
      }
      fresh.recordState.join(self, fresh, .saved, key: key)
      fresh.recordState.mayBeUnlisted = true
      return fresh
    }

    /// The one object for each of the rows that were just read, which came together.
    func adopt<Record: ObservableRecord>(_ rows: [Record], readAfter number: Int) -> [Record] {
      let group = FetchGroup(self)
      return rows.compactMap { row in
        guard let object = adopt(row, readAfter: number) else { return nil }
        object.recordState.join(group)
        return unsafeDowncast(object, to: Record.self)
      }
    }

    // MARK: Rows that are missing

    /// Notes a property whose column refers to a row that is not there.
    func await(_ key: RecordKey, _ referrer: Referrer) { awaited.add(key, referrer) }

    /// A row is there now: properties that refer to it are computed anew.
    func answer(_ key: RecordKey) { awaited.take(key)?.invalidate() }

    func isAwaited(_ key: RecordKey) -> Bool { awaited.contains(key) }
    var awaitedKeys: [RecordKey] { awaited.keys }

    // MARK: Links

    func add(_ link: IncomingLink, at slot: Int) { incoming[slot, default: []].append(link) }

    func add(_ dependency: StoredDependency) { dependents.append(dependency) }

    /// Forgets what belongs to tables that cannot be used.
    func forget(_ tables: [RecordTable]) {
      func isForgotten(_ table: RecordTable) -> Bool { tables.contains { $0 === table } }
      incoming = incoming.compactMapValues { links in
        let others = links.filter { !isForgotten($0.owner) }
        return others.isEmpty ? nil : others
      }
      dependents.removeAll { isForgotten($0.root) }
    }

    /// Whether rows of this class are in lists of one relation at most.
    var hasOneLink: Bool { incoming.count == 1 && incoming.values.first?.count == 1 }

    func isLink(_ slot: Int) -> Bool { !incoming.isEmpty && incoming[slot] != nil }

    /// Puts an object into the lists of the row that one of its columns refers to.
    func link(_ object: any ObservableRecord, _ slot: Int) {
      let owner = column(slot).flatMap { try? $0.read(object) }
      relink(object, slot, from: .null, to: owner ?? .null)
    }

    /// Puts an object into the lists of all rows that it refers to.
    func link(_ object: any ObservableRecord) {
      for slot in incoming.keys { link(object, slot) }
    }

    /// Takes an object out of the lists of one row, and puts it into those of another.
    func relink(_ object: any ObservableRecord, _ slot: Int, from: StoredValue, to: StoredValue) {
      for link in incoming[slot] ?? [] {
        let (from, to) = (link.owner.key(from), link.owner.key(to))
        if from == to { continue }
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
        let value = column(slot).flatMap { try? $0.read(object) } ?? .null
        for link in links {
          link.owner.key(value).flatMap(link.owner.state)?.lost(object, link.relation)
          object.recordState.newParents[slot]?.lost(object, link.relation)
        }
      }
      object.recordState.invalidateReferrers()
    }
  }
#endif
