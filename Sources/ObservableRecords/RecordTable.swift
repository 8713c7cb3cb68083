#if Records
  internal import Observables

  /// The objects of one class in a store: one for each row in memory.
  final class RecordTable {
    let schema: RecordSchema
    /// The layout of the table in the database.
    let layout: TableLayout
    unowned let store: RecordStore
    /// The columns with foreign keys in the database.
    let foreignKeys: [(column: RecordColumn, key: ForeignKey)]
    /// The states of the objects that have keys; each leaves when its object is released.
    @exclusivity(unchecked) private var live = RowIndex()
    /// The group of rows that came one by one.
    private(set) lazy var loners = FetchGroup(self, areAlone: true)
    /// The states of new and deleted objects, which are not found by a key.
    private var strays: [ObjectIdentifier: Unmanaged<RecordState>] = [:]
    private var awaited = AwaitedRows()
    /// The slots of columns that the database computes.
    let generated: Set<Int>
    /// The affinities of columns that may convert the values written to them, by slot.
    private let affinities: [Int: ColumnAffinity]
    /// The properties of other classes that list rows of this class, by the slot of the column.
    private(set) var incoming: [Int: [IncomingLink]] = [:]
    /// The stored properties that depend on rows of this class.
    private(set) var dependents: [StoredDependency] = []

    /// A property of another class that lists rows of this class.
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
      generated = Set(schema.columns.filter { layout.isGenerated($0.name) }.map(\.slot))
      foreignKeys = layout.foreignKeys.compactMap { key in
        record.recordSchema.columns.first { $0.name.lowercased() == key.column.lowercased() }
          .map { ($0, key) }
      }
    }

    var record: any ObservableRecord.Type { schema.recordType }
    var name: String { layout.name }
    /// Whether SQLite gives new rows their key.
    var hasAutomaticKey: Bool { layout.hasAutomaticKey }

    /// Returns the key that is stored as `value`; nil for NULL.
    func key(_ value: StoredValue) -> RecordKey? { RecordKey(value, layout.collation) }

    /// Returns the current key of an object.
    func key(of object: any ObservableRecord) -> RecordKey? {
      guard let column = schema.key, let value = try? column.read(object) else { return nil }
      return key(value)
    }

    /// Returns the key of an object that was just read from the current row of a statement.
    ///
    /// The statement is nil unless its columns are the columns of the class in the same order.
    func key(of object: any ObservableRecord, in statement: SQLiteStatement?) -> RecordKey? {
      // Asking the object is slower, with the same result.
      if let statement, let place = schema.integerKeyPlace,
        case .int64(let number) = DatabaseValue(
          sqliteStatement: statement, index: CInt(place)
        ).storage
      {
        return .integer(number)
      }
      return key(of: object)
    }

    /// Casts an object of the class to a record.
    func typed(_ object: AnyObject) -> any ObservableRecord {
      func typed<Record: ObservableRecord>(_ record: Record.Type) -> any ObservableRecord {
        unsafeDowncast(object, to: Record.self)
      }
      return typed(record)
    }

    /// Returns the value of a column as SQLite gets it, if it can be read back.
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

    /// Removes all objects from the table, when the store is closed.
    func close() {
      let states = live.states + strays.values.map { $0.takeUnretainedValue() }
      (live, strays) = (RowIndex(), [:])
      for state in states { state.leave() }
    }

    // MARK: Rows

    /// Enters an object by its key; an object that had the key is not found by it any more.
    func enter(_ state: RecordState, _ key: RecordKey) {
      if let former = live.enter(state, key) { addStray(former) }
      if !strays.isEmpty { strays[ObjectIdentifier(state)] = nil }
    }

    /// Notes an object that has no key yet, or whose row is deleted.
    func addStray(_ state: RecordState) {
      strays[ObjectIdentifier(state)] = .passUnretained(state)
    }

    /// Ends the lookup of an object by its key.
    func forget(_ state: RecordState) {
      guard live.has(state) else { return }
      live.remove(state)
      addStray(state)
    }

    /// Removes an object that no longer belongs to the table.
    func drop(_ state: RecordState) {
      live.remove(state)
      if !strays.isEmpty { strays[ObjectIdentifier(state)] = nil }
    }

    /// Returns the state of the row with this key, if its object is alive.
    func state(_ key: RecordKey) -> RecordState? {
      guard let state = live.state(key), state.hasObject else { return nil }
      return state
    }

    /// Whether the row has an object, even one that is being released.
    func isKnown(_ key: RecordKey) -> Bool { live.state(key) != nil }

    var liveKeys: [RecordKey] { live.keys }
    var isAnythingObserved: Bool { live.contains { $0.isObserved } }

    func column(_ slot: Int) -> RecordColumn? { schema.column(slot) }

    /// Returns the one object for a row: `fresh`, or the existing object, which gets the values.
    ///
    /// nil if the row is deleted here.
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

    /// Returns the one object for each of the rows, which came in one read.
    ///
    /// Code of the program is called afterwards. If it reads newer rows, older ones do not follow.
    func adopt<Record: ObservableRecord>(_ rows: [Record], readAfter number: Int) -> [Record] {
      let group = FetchGroup(self)
      return store.delayingCallbacks {
        rows.compactMap { row in
          guard let object = adopt(row, readAfter: number) else { return nil }
          object.recordState.join(group)
          return unsafeDowncast(object, to: Record.self)
        }
      }
    }

    // MARK: Missing rows

    /// Notes a property whose column refers to a row that does not exist.
    func await(_ key: RecordKey, _ referrer: Referrer) { awaited.add(key, referrer) }

    /// Invalidates the properties that refer to a row, which exists now.
    func answer(_ key: RecordKey) { awaited.take(key)?.invalidate() }

    func isAwaited(_ key: RecordKey) -> Bool { awaited.contains(key) }
    var awaitedKeys: [RecordKey] { awaited.keys }

    // MARK: Links

    func add(_ link: IncomingLink, at slot: Int) { incoming[slot, default: []].append(link) }

    func add(_ dependency: StoredDependency) { dependents.append(dependency) }

    /// Removes the entries of tables that cannot be used.
    func forget(_ tables: [RecordTable]) {
      func isForgotten(_ table: RecordTable) -> Bool { tables.contains { $0 === table } }
      incoming = incoming.compactMapValues { links in
        let others = links.filter { !isForgotten($0.owner) }
        return others.isEmpty ? nil : others
      }
      dependents.removeAll { isForgotten($0.root) }
    }

    /// Whether rows of this class are listed by at most one relation.
    var hasOneLink: Bool { incoming.count == 1 && incoming.values.first?.count == 1 }

    func isLink(_ slot: Int) -> Bool { !incoming.isEmpty && incoming[slot] != nil }

    /// Inserts an object into the lists of the row to which one of its columns refers.
    func link(_ object: any ObservableRecord, _ slot: Int) {
      let owner = column(slot).flatMap { try? $0.read(object) }
      relink(object, slot, from: .null, to: owner ?? .null)
    }

    /// Inserts an object into the lists of all rows to which it refers.
    func link(_ object: any ObservableRecord) {
      for slot in incoming.keys { link(object, slot) }
    }

    /// Moves an object from the lists of one row to the lists of another.
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

    /// Removes a deleted object from the properties that have it.
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
