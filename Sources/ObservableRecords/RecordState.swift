#if Records
  public import Observables

  /// The state of one object in a store: its row, its unsaved changes, and the reasons to keep it.
  ///
  /// Each record has one, in a ``RecordHold``. It is confined to the thread of the store's loop.
  public final class RecordState {
    /// The row that the object will have after the next save.
    enum Phase {
      /// The object is in no store.
      case free
      /// The row will be inserted.
      case new
      /// The row is in the database, or being inserted.
      case saved
      /// The row will be deleted.
      case deleting
      /// The row is deleted, or being deleted.
      case deleted
    }

    /// The operation of the save under way.
    enum Flight { case none, insert, update, delete, refused }

    // Each row in memory has a state. In this order, its properties take 40 bytes: the small ones
    // fill the word in which the key ends.

    /// The object; nil after its end.
    private var reference: Unmanaged<AnyObject>?
    private(set) var key: RecordKey?
    var phase = Phase.free
    /// Whether lists of other rows that were loaded earlier may not contain the row.
    ///
    /// The row may have been read before the store has received the transaction that inserted it.
    var mayBeUnlisted = false
    /// Whether writes are noted.
    @usableFromInline @exclusivity(unchecked) var tracks = false
    private var place: FetchGroup.Place = 0
    /// The rows that came in the same query; nil for an object without a store.
    private(set) var group: FetchGroup?
    /// The rarely used part of the state; nil for a row that is only read.
    @usableFromInline @exclusivity(unchecked) var extra: Extra?

    /// Creates the state of a new object, which has no store yet.
    init() {}

    deinit {
      table?.drop(self)
      group?.remove(place)
    }

    /// The table; nil for an object without a store, or whose store is closed.
    var table: RecordTable? { group?.table }

    /// The object; nil once its `deinit` has begun.
    var object: (any ObservableRecord)? {
      guard hasObject, let object = reference?.takeUnretainedValue() else { return nil }
      return table?.typed(object) ?? object as? any ObservableRecord
    }

    /// Whether the object is alive: during its `deinit`, it must not be retained.
    var hasObject: Bool { reference.map { !DyingObjects.contain($0) } ?? false }

    /// Notes the end of the object, and ends its observation.
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

    /// The name of the row in errors.
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

    // MARK: The rarely used part

    /// The additional state of a row that is observed, written, or asked for relations.
    ///
    /// Its many properties share one block of memory, for rows that need any of them.
    @usableFromInline
    final class Extra {
      /// The watchers of the object.
      @usableFromInline @exclusivity(unchecked) var observation: ModelObservation?
      fileprivate var observedKeys = 0
      fileprivate var savedNumber = 0
      /// The object itself, while it must stay alive.
      fileprivate var kept: (any ObservableRecord)?
      fileprivate var flight = Flight.none
      fileprivate var isListed = false
      fileprivate var isKeptInTurn = false
      fileprivate var hasReportedDeletion = false
      fileprivate var hasBeenNewParent = false
      fileprivate var changed: [Int: StoredValue] = [:]
      fileprivate var inFlight: [Int: StoredValue] = [:]
      fileprivate var storedValues: [Int: StoredValue] = [:]
      fileprivate var newParents: [Int: RecordState] = [:]
      fileprivate var keptParents: [Int: any ObservableRecord] = [:]
      fileprivate var relations: [String: LoadedRelation] = [:]
      fileprivate var referrers = Referrers()
      /// The values that columns with references had before they were written.
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
    /// Whether a column of another row has referred to this row before it had a key.
    var hasBeenNewParent: Bool {
      get { extra?.hasBeenNewParent ?? false }
      set { madeExtra.hasBeenNewParent = newValue }
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
    /// Rows without a key to which columns of this row will refer, by slot.
    var newParents: [Int: RecordState] {
      get { extra?.newParents ?? [:] }
      set { if extra != nil || !newValue.isEmpty { madeExtra.newParents = newValue } }
    }
    /// The new parents that nothing else keeps alive, as the object is not in a store yet.
    var keptParents: [Int: any ObservableRecord] {
      get { extra?.keptParents ?? [:] }
      set { if extra != nil || !newValue.isEmpty { madeExtra.keptParents = newValue } }
    }
    /// The loaded properties with rows of other tables.
    var relations: [String: LoadedRelation] {
      get { extra?.relations ?? [:] }
      set { if extra != nil || !newValue.isEmpty { madeExtra.relations = newValue } }
    }
    /// Notes an object with a property that refers to this row.
    func addReferrer(_ state: RecordState, _ name: String) {
      madeExtra.referrers.add(Referrer(state: state, name: name))
    }

    /// Invalidates the properties that refer to the row; they are noted again when they are
    /// computed.
    func invalidateReferrers() {
      guard let referrers = extra?.referrers else { return }
      extra?.referrers = Referrers()
      referrers.invalidate()
    }

    // MARK: Joining a store

    /// Adds the object to a table, with the other rows of its query.
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

    /// Notes the object of a parent that is not in a store yet.
    func introduce(_ object: any ObservableRecord) {
      if reference == nil { reference = .passUnretained(object) }
    }

    /// Notes the rows that came in the same query.
    func join(_ group: FetchGroup) {
      self.group?.remove(place)
      self.group = group
      place = group.add(self)
    }

    /// Sets the key of a row that was inserted.
    func setKey(_ key: RecordKey) {
      table?.drop(self)
      self.key = key
      table?.enter(self, key)
    }

    /// Removes the object from its store; it keeps its values and the contents of its lists.
    func leave() {
      table?.drop(self)
      group?.remove(place)
      (group, key) = (nil, nil)
      phase = isDeleted ? .deleted : .free
      tracks = false
      guard let former = extra else { return }
      let rest = Extra()
      (rest.observation, rest.relations) = (former.observation, former.relations)
      rest.hasBeenNewParent = former.hasBeenNewParent
      extra = rest
      for list in rest.relations.values { list.unwatch() }
      rest.observation?.setKeeper(nil)
      // Releasing this may release the object.
      withExtendedLifetime(former) {}
    }

    /// Keeps the object alive while it is observed or has changes.
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

    /// The watchers of the object, created on demand: most rows never have any.
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

    /// Reports that the property in `slot` is read: a running tracked computation depends on it.
    @inlinable
    public func access(_ slot: Int, of object: some ObservableRecord) {
      if ModelObservation.areReadsNoted { noteRead(slot, object) }
    }

    @usableFromInline
    func noteRead(_ slot: Int, _ object: some ObservableRecord) {
      observation.access(slot, of: object)
    }

    // MARK: Writes

    /// Reports that the property in `slot` is about to be written.
    @inlinable
    public func willSet(_ slot: Int, of object: some ObservableRecord) {
      if tracks { noteWrite(slot, object) }
    }

    /// Reports that the property in `slot` was written.
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
              "the row is deleted: writes to its object are not saved"))
        }
        return
      }
      let isLink = table.isLink(slot)
      if table.generated.contains(slot) {
        madeExtra.formerKeys[slot] = (try? column.read(object)) ?? .null
        return
      }
      let isKnown = phase == .new || changed[slot] != nil
      // Changes that could not be saved are saved again with the next change.
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
      if table.generated.contains(slot) { return restoreGenerated(slot, to: former, object) }
      let now = table.column(slot).flatMap { try? $0.read(object) } ?? .null
      if now == former { return }
      table.relink(object, slot, from: former, to: now)
    }

    /// Undoes a write to a column that the database computes.
    private func restoreGenerated(
      _ slot: Int, to former: StoredValue, _ object: any ObservableRecord
    ) {
      guard let table, let column = table.column(slot) else { return }
      apply { _ = column.write?(object, former) }
      table.store.report(
        error(.notStorable, column: column.name, TableLayout.generatedRefusal))
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

  /// An object's hold of its state, by which the state notices the object's end.
  ///
  /// The macro gives one to each record.
  public struct RecordHold: ~Copyable {
    /// The state of the object in its store.
    public let state = RecordState()

    /// Creates the hold of a new object.
    public init() {}

    deinit { state.objectEnds() }
  }

  /// The rows of a table that came in one query: relations are loaded for all of them at once.
  final class FetchGroup {
    typealias Place = UInt32
    /// The table, from which all rows are removed when the store is closed.
    unowned(unsafe) let table: RecordTable
    private let areAlone: Bool
    /// The states are not retained; each leaves the group before its end.
    @exclusivity(unchecked) private var members: [Unmanaged<RecordState>?] = []

    /// Creates a group; a group of single rows does not list them.
    init(_ table: RecordTable, areAlone: Bool = false) {
      (self.table, self.areAlone) = (table, areAlone)
    }

    /// The rows that are alive, in the order of the query.
    var states: [RecordState] { members.compactMap { $0?.takeUnretainedValue() } }

    /// Adds a row; if the group has no place left, the row is treated as a single row.
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
