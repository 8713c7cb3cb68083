#if Records
  package import Observables

  /// What a store knows of one object: which row it is, what of it is not saved yet, and why it is
  /// kept.
  ///
  /// The macro gives each record one. Confined to the thread of the store's loop.
  public final class RecordState {
    /// What the row is to be.
    enum Phase {
      /// The object is in no store.
      case free
      /// The row is to be inserted.
      case new
      /// The row is in the database, or on the way.
      case saved
      /// The row is to be deleted.
      case deleting
      /// The row is not in the database any more, or soon.
      case deleted
    }

    /// What the save under way does with the row.
    enum Flight { case none, insert, update, delete, refused }

    private weak var reference: (any ObservableRecord)?
    /// The table, which clears this when the store is closed.
    private(set) unowned(unsafe) var table: RecordTable?
    var phase = Phase.free
    var flight = Flight.none
    private(set) var key: RecordKey?
    /// The columns that were written since the last save, by slot, with the values saved last.
    var changed: [Int: StoredValue] = [:]
    /// The number of the save that wrote the row last.
    var savedNumber = 0
    /// Whether the object is in the store's list of changed objects.
    var isListed = false
    /// Whether lists of other rows, loaded before the row was there, may lack it: it may have been
    /// read before the store has heard of it.
    var mayBeUnlisted = false
    /// Whether the store keeps the object until the turn is over.
    var isKeptInTurn = false
    /// What came with the object in one query.
    var group: FetchGroup?
    private var observedKeys = 0
    private var hasReportedDeletion = false
    /// The object itself, while it must not go.
    private var kept: (any ObservableRecord)?
    /// What most rows do not have.
    private var extra: Extra?
    /// Whether writes are to be noted.
    @usableFromInline var tracks = false

    /// The state of a new object, which belongs to no store yet.
    public init() {}

    deinit { table?.drop(self) }

    var object: (any ObservableRecord)? { reference }
    var store: RecordStore? { table?.store }
    var isDeleted: Bool { phase == .deleting || phase == .deleted }
    var isKeyless: Bool { key == nil }
    /// Whether a column with this value refers to the row.
    func isKey(_ value: StoredValue?) -> Bool {
      guard let key, let value else { return false }
      return table?.key(value) == key
    }

    var hasUnsavedChanges: Bool {
      !changed.isEmpty || flight != .none || phase == .new || phase == .deleting
        || !newParents.isEmpty && phase == .saved
    }

    /// How errors name the row.
    var title: String {
      guard let table else { return "an object of no store" }
      return "row \(key.map { "\($0)" } ?? "(new)") of '\(table.name)'"
    }

    // MARK: What most rows do not have

    private final class Extra {
      var inFlight: [Int: StoredValue] = [:]
      var storedValues: [Int: StoredValue] = [:]
      var newParents: [Int: RecordState] = [:]
      var keptParents: [Int: any ObservableRecord] = [:]
      var relations: [String: LoadedRelation] = [:]
      var referrers: [Referrer] = []
      var referrerLimit = 16
      var formerKeys: [Int: StoredValue] = [:]
    }

    private var madeExtra: Extra {
      if let extra { return extra }
      let made = Extra()
      extra = made
      return made
    }

    /// The columns of the save under way, with the values from before it.
    var inFlight: [Int: StoredValue] {
      get { extra?.inFlight ?? [:] }
      set { if extra != nil || !newValue.isEmpty { madeExtra.inFlight = newValue } }
    }
    /// The values of computed columns that the database has.
    var storedValues: [Int: StoredValue] {
      get { extra?.storedValues ?? [:] }
      set { if extra != nil || !newValue.isEmpty { madeExtra.storedValues = newValue } }
    }
    /// Rows without a key yet that columns of this one are to refer to, by slot.
    var newParents: [Int: RecordState] {
      get { extra?.newParents ?? [:] }
      set { if extra != nil || !newValue.isEmpty { madeExtra.newParents = newValue } }
    }
    /// Those of them that nothing else keeps, as the object is in no store yet.
    var keptParents: [Int: any ObservableRecord] {
      get { extra?.keptParents ?? [:] }
      set { if extra != nil || !newValue.isEmpty { madeExtra.keptParents = newValue } }
    }
    /// The properties that have rows of other tables, once they are loaded.
    var relations: [String: LoadedRelation] {
      get { extra?.relations ?? [:] }
      set { if extra != nil || !newValue.isEmpty { madeExtra.relations = newValue } }
    }
    /// Notes an object with a property that has this one as the row it refers to.
    func addReferrer(_ state: RecordState, _ name: String) {
      let extra = madeExtra
      if extra.referrers.count >= extra.referrerLimit {
        // Each time that the property is computed it is noted again; one note is enough.
        var seen: Set<Referrer.Identity> = []
        extra.referrers.removeAll { referrer in
          referrer.identity.map { !seen.insert($0).inserted } ?? true
        }
        extra.referrerLimit = max(16, 2 * extra.referrers.count)
      }
      extra.referrers.append(Referrer(state: state, name: name))
    }

    /// The objects that were noted, which are noted anew when they ask again.
    func takeReferrers() -> [Referrer] {
      let referrers = extra?.referrers ?? []
      extra?.referrers = []
      return referrers
    }

    /// What columns that refer to rows had before they were written.
    private var formerKeys: [Int: StoredValue] {
      get { extra?.formerKeys ?? [:] }
      set { if extra != nil || !newValue.isEmpty { madeExtra.formerKeys = newValue } }
    }

    // MARK: Joining a store

    /// Makes the object one of a table.
    func join(
      _ table: RecordTable, _ object: any ObservableRecord, _ phase: Phase, key: RecordKey?,
      isEntered: Bool = true
    ) {
      reference = object
      self.table = table
      self.phase = phase
      self.key = key
      tracks = true
      object.observation.setKeeper(self)
      if let key {
        if isEntered { table.enter(self, key) }
      } else {
        table.addStray(self)
      }
    }

    /// Notes the object of an object that is in no store, to which another one refers.
    func introduce(_ object: any ObservableRecord) {
      if reference == nil { reference = object }
    }

    /// Notes the key of a row that was inserted.
    func setKey(_ key: RecordKey) {
      table?.drop(self)
      self.key = key
      table?.enter(self, key)
    }

    /// Takes the object out of its store; its values stay, and what its lists have.
    func leave() {
      table?.drop(self)
      (table, key) = (nil, nil)
      phase = isDeleted ? .deleted : .free
      flight = .none
      (tracks, isListed, isKeptInTurn, hasReportedDeletion) = (false, false, false, false)
      (observedKeys, savedNumber) = (0, 0)
      (changed, group) = ([:], nil)
      if let former = extra {
        extra = nil
        relations = former.relations
        for list in former.relations.values { list.unwatch() }
      }
      reference?.observation.setKeeper(nil)
      let object = kept
      kept = nil
      withExtendedLifetime(object) {}
    }

    /// Keeps the object while it is observed or has changes, and only then.
    func updateKeeping() {
      let isNeeded = table != nil && (observedKeys > 0 || hasUnsavedChanges)
      if isNeeded == (kept != nil) { return }
      let object = kept
      kept = isNeeded ? reference : nil
      withExtendedLifetime(object) {}
    }

    var isObserved: Bool { observedKeys > 0 }

    // MARK: Writes

    /// The property in `slot` is about to be written.
    @inlinable
    public func willSet(_ slot: Int, of object: some ObservableRecord) {
      if tracks { noteWrite(slot, object) }
    }

    /// The property in `slot` was written.
    @inlinable
    public func didSet(_ slot: Int, of object: some ObservableRecord) {
      if tracks { noteWritten(slot, object) }
    }

    @usableFromInline
    func noteWrite(_ slot: Int, _ object: any ObservableRecord) {
      guard let table, let column = table.column(slot) else { return }
      if isDeleted {
        if !hasReportedDeletion {
          hasReportedDeletion = true
          table.store.report(
            RecordError(
              .deleted, table: table.name, column: column.name, row: key?.description,
              "the row is deleted: what is written to its object is not saved"))
        }
        return
      }
      let isLink = table.isLink(slot)
      let isKnown = phase == .new || changed[slot] != nil
      // What could not be saved is tried again with the next change.
      if isKnown { table.store.askForTurnEnd() }
      if !isLink, isKnown { return }
      let value = (try? column.read(object)) ?? .null
      if isLink { formerKeys[slot] = value }
      if isKnown { return }
      changed[slot] = value
      table.store.noteChange(of: self, object)
    }

    @usableFromInline
    func noteWritten(_ slot: Int, _ object: any ObservableRecord) {
      guard let table else { return }
      if newParents[slot] != nil {
        formerKeys[slot] = nil
        return leaveNewParent(slot, object)
      }
      guard let former = formerKeys.removeValue(forKey: slot) else { return }
      let now = table.column(slot).flatMap { try? $0.read(object) } ?? .null
      if now == former { return }
      table.relink(object, slot, from: former, to: now)
    }

    /// Sets values without noting them as changes of the program.
    func apply<Result>(_ body: () throws -> Result) rethrows -> Result {
      let tracked = tracks
      tracks = false
      defer { tracks = tracked }
      return try body()
    }
  }

  extension RecordState: ObservationKeeper {
    package var loop: Loop? { store?.loop }

    package func observedChanged(isObserved: Bool) {
      observedKeys += isObserved ? 1 : -1
      updateKeeping()
      if isObserved { table?.store.noteObservation() }
    }
  }

  // A state is confined to the thread of its store's loop.
  @available(*, unavailable)
  extension RecordState: Sendable {}

  /// The keys of the rows that one query has brought: what is loaded for one of them is loaded for
  /// all.
  final class FetchGroup {
    var keys: [RecordKey]
    init(_ keys: [RecordKey] = []) { self.keys = keys }
  }

  /// An object with a property that refers to another one.
  struct Referrer {
    weak var state: RecordState?
    let name: String

    struct Identity: Hashable {
      let state: ObjectIdentifier
      let name: String
    }

    /// nil where the object is gone.
    var identity: Identity? { state.map { Identity(state: ObjectIdentifier($0), name: name) } }
  }
#endif
