#if Records
  public import Observables

  /// What a store knows of one object: which row it is, what of it is not saved yet, and why it is
  /// kept.
  ///
  /// A ``RecordHold`` gives each record one. Confined to the thread of the store's loop.
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

    // Each row in memory has a state. In this order its properties take 40 bytes: the small ones
    // fill the word in which the key ends.

    /// The object, until its own end.
    private var reference: Unmanaged<AnyObject>?
    private(set) var key: RecordKey?
    var phase = Phase.free
    /// Whether lists of other rows, loaded before the row was there, may lack it: it may have been
    /// read before the store has heard of it.
    var mayBeUnlisted = false
    /// Whether writes are to be noted.
    @usableFromInline @exclusivity(unchecked) var tracks = false
    private var place: FetchGroup.Place = 0
    /// What came with the object in one query; nil for an object of no store.
    private(set) var group: FetchGroup?
    /// What rows do not have while they are only read.
    @usableFromInline @exclusivity(unchecked) var extra: Extra?

    /// The state of a new object, which belongs to no store yet.
    init() {}

    deinit {
      table?.drop(self)
      group?.remove(place)
    }

    /// The table; nil for an object of no store, also where that was closed.
    var table: RecordTable? { group?.table }

    /// The object; nil once that ends.
    var object: (any ObservableRecord)? {
      guard hasObject, let object = reference?.takeUnretainedValue() else { return nil }
      return table?.typed(object) ?? object as? any ObservableRecord
    }

    /// Whether the object is there: one whose `deinit` runs must not be retained any more.
    var hasObject: Bool { reference.map { !DyingObjects.contain($0) } ?? false }

    /// The object ends, and what observes it does.
    func objectEnds() {
      reference = nil
      let observation = extra?.observation
      extra?.observation = nil
      withExtendedLifetime(observation) {}
    }

    var store: RecordStore? { table?.store }
    var isDeleted: Bool { phase == .deleting || phase == .deleted }
    var isKeyless: Bool { key == nil }
    /// Whether a column with this value refers to the row.
    func isKey(_ value: StoredValue?) -> Bool {
      guard let key, let value else { return false }
      return table?.key(value) == key
    }

    var hasUnsavedChanges: Bool {
      if phase == .new || phase == .deleting { return true }
      guard let extra else { return false }
      return !extra.changed.isEmpty || extra.flight != .none
        || !extra.newParents.isEmpty && phase == .saved
    }

    /// How errors name the row.
    var title: String {
      guard let table else { return "an object of no store" }
      return "row \(key.map { "\($0)" } ?? "(new)") of '\(table.name)'"
    }

    /// An error of the row.
    func error(
      _ code: RecordError.Code, column: String? = nil, _ detail: String
    ) -> RecordError {
      RecordError(
        code, table: table?.name ?? "", column: column, row: key?.description, detail)
    }

    // MARK: What most rows do not have

    /// What is known of a row that is observed, written, or asked for others.
    ///
    /// It has many properties, as they are one block of memory for rows that need any of them.
    @usableFromInline
    final class Extra {
      /// The watchers of the object.
      @usableFromInline @exclusivity(unchecked) var observation: ModelObservation?
      fileprivate var observedKeys = 0
      fileprivate var savedNumber = 0
      /// The object itself, while it must not go.
      fileprivate var kept: (any ObservableRecord)?
      fileprivate var flight = Flight.none
      fileprivate var isListed = false
      fileprivate var isKeptInTurn = false
      fileprivate var hasReportedDeletion = false
      fileprivate var changed: [Int: StoredValue] = [:]
      fileprivate var inFlight: [Int: StoredValue] = [:]
      fileprivate var storedValues: [Int: StoredValue] = [:]
      fileprivate var newParents: [Int: RecordState] = [:]
      fileprivate var keptParents: [Int: any ObservableRecord] = [:]
      fileprivate var relations: [String: LoadedRelation] = [:]
      fileprivate var referrers = Referrers()
      /// What columns that refer to rows had before they were written.
      fileprivate var formerKeys: [Int: StoredValue] = [:]
    }

    private var madeExtra: Extra {
      if let extra { return extra }
      let made = Extra()
      extra = made
      return made
    }

    /// The number of the save that wrote the row last.
    var savedNumber: Int {
      get { extra?.savedNumber ?? 0 }
      set { madeExtra.savedNumber = newValue }
    }
    var flight: Flight {
      get { extra?.flight ?? .none }
      set { if extra != nil || newValue != .none { madeExtra.flight = newValue } }
    }
    /// Whether the object is in the store's list of changed objects.
    var isListed: Bool {
      get { extra?.isListed ?? false }
      set { if extra != nil || newValue { madeExtra.isListed = newValue } }
    }
    /// Whether the store keeps the object until the turn is over.
    var isKeptInTurn: Bool {
      get { extra?.isKeptInTurn ?? false }
      set { if extra != nil || newValue { madeExtra.isKeptInTurn = newValue } }
    }
    /// The columns that were written since the last save, by slot, with the values saved last.
    var changed: [Int: StoredValue] {
      get { extra?.changed ?? [:] }
      set { if extra != nil || !newValue.isEmpty { madeExtra.changed = newValue } }
      _modify { yield &madeExtra.changed }
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
      madeExtra.referrers.add(Referrer(state: state, name: name))
    }

    /// Has properties that refer to the row computed anew: they are noted again when they are.
    func invalidateReferrers() {
      guard let referrers = extra?.referrers else { return }
      extra?.referrers = Referrers()
      referrers.invalidate()
    }

    // MARK: Joining a store

    /// Makes the object one of a table, with others of one query.
    func join(
      _ table: RecordTable, _ object: AnyObject, _ phase: Phase, key: RecordKey?,
      with group: FetchGroup? = nil
    ) {
      reference = .passUnretained(object)
      join(group ?? table.loners)
      self.phase = phase
      self.key = key
      tracks = true
      extra?.observation?.setKeeper(self)
      if let key {
        table.enter(self, key)
      } else {
        table.addStray(self)
      }
    }

    /// Notes the object of an object that is in no store, to which another one refers.
    func introduce(_ object: any ObservableRecord) {
      if reference == nil { reference = .passUnretained(object) }
    }

    /// Notes what came with the object in one query.
    func join(_ group: FetchGroup) {
      self.group?.remove(place)
      self.group = group
      place = group.add(self)
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
      group?.remove(place)
      (group, key) = (nil, nil)
      phase = isDeleted ? .deleted : .free
      tracks = false
      guard let former = extra else { return }
      let rest = Extra()
      (rest.observation, rest.relations) = (former.observation, former.relations)
      extra = rest
      for list in rest.relations.values { list.unwatch() }
      rest.observation?.setKeeper(nil)
      // The object may go with it.
      withExtendedLifetime(former) {}
    }

    /// Keeps the object while it is observed or has changes, and only then.
    func updateKeeping() {
      let isNeeded = table != nil && (isObserved || hasUnsavedChanges)
      if isNeeded == (extra?.kept != nil) { return }
      let object = extra?.kept
      madeExtra.kept = isNeeded ? self.object : nil
      withExtendedLifetime(object) {}
    }

    var isObserved: Bool { extra.map { $0.observedKeys > 0 } ?? false }

    // MARK: Watchers

    var existingObservation: ModelObservation? { extra?.observation }

    /// The watchers of the object; most rows never have one.
    var observation: ModelObservation {
      if let made = extra?.observation { return made }
      let made = ModelObservation()
      madeExtra.observation = made
      if table != nil { made.setKeeper(self) }
      return made
    }

    /// Whether a write of the property in `slot` would be reported.
    @inlinable
    public func isObserved(_ slot: @autoclosure () -> Int) -> Bool {
      extra?.observation?.isObserved(slot()) ?? false
    }

    /// The property in `slot` is being read: a tracked computation that is running depends on it.
    @inlinable
    public func access(_ slot: Int, of object: some ObservableRecord) {
      if ModelObservation.areReadsNoted { noteRead(slot, object) }
    }

    @usableFromInline
    func noteRead(_ slot: Int, _ object: some ObservableRecord) {
      observation.access(slot, of: object)
    }

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
        if !madeExtra.hasReportedDeletion {
          madeExtra.hasReportedDeletion = true
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
      if isKnown { table.store.saves.askForTurnEnd() }
      if !isLink, isKnown { return }
      let value = (try? column.read(object)) ?? .null
      if isLink { madeExtra.formerKeys[slot] = value }
      if isKnown { return }
      changed[slot] = value
      table.store.unsaved.note(self, object)
    }

    @usableFromInline
    func noteWritten(_ slot: Int, _ object: any ObservableRecord) {
      guard let table else { return }
      if newParents[slot] != nil {
        extra?.formerKeys[slot] = nil
        return leaveNewParent(slot, object)
      }
      guard let former = extra?.formerKeys.removeValue(forKey: slot) else { return }
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
      madeExtra.observedKeys += isObserved ? 1 : -1
      updateKeeping()
      if isObserved, let store { store.reads.polling.start(store) }
    }
  }

  // A state is confined to the thread of its store's loop.
  @available(*, unavailable)
  extension RecordState: Sendable {}

  /// What an object holds of its state, which hears by this of the object's end.
  ///
  /// The macro gives each record one.
  public struct RecordHold: ~Copyable {
    /// What the store knows of the object.
    public let state = RecordState()

    /// The hold of a new object.
    public init() {}

    deinit { state.objectEnds() }
  }

  /// The rows of a table that one query has brought: what is loaded for one of them is loaded for
  /// all.
  final class FetchGroup {
    typealias Place = UInt32
    /// The table, which has rows leave when the store is closed.
    unowned(unsafe) let table: RecordTable
    private let areAlone: Bool
    /// They are not retained: each leaves before its end.
    @exclusivity(unchecked) private var members: [Unmanaged<RecordState>?] = []

    /// A group of a table; one of rows that are alone does not know them.
    init(_ table: RecordTable, areAlone: Bool = false) {
      (self.table, self.areAlone) = (table, areAlone)
    }

    /// The rows that are there, in the order of the query.
    var states: [RecordState] { members.compactMap { $0?.takeUnretainedValue() } }

    /// Adds a row; one for which there is no place is alone.
    fileprivate func add(_ state: RecordState) -> Place {
      guard !areAlone, let place = Place(exactly: members.count) else { return .max }
      members.append(.passUnretained(state))
      return place
    }

    fileprivate func remove(_ place: Place) {
      if place < members.count { members[Int(place)] = nil }
    }
  }
#endif
