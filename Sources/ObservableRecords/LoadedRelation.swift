#if Records
  internal import Observables

  /// A loaded property with rows of another table.
  class LoadedRelation {
    let relation: RecordRelation
    weak var owner: RecordState?

    init(_ relation: RecordRelation, _ owner: RecordState) {
      (self.relation, self.owner) = (relation, owner)
    }

    /// The listed rows.
    var objects: [any ObservableRecord] { [] }
    func contains(_ object: any ObservableRecord) -> Bool { false }
    /// Inserts a row that belongs to the owner now.
    func insert(_ object: any ObservableRecord) {}
    /// Removes a row that no longer belongs to the owner.
    func remove(_ object: any ObservableRecord) {}
    /// Sets the listed rows by the smallest edits.
    func set(_ objects: [any ObservableRecord]) {}
    /// Handles rows that the program has inserted into the list or removed.
    func synchronize() {}
    /// Ends the turn in which the list was changed.
    func endEdit() {}
    /// Whether the rows, or their order, differ from the saved rows.
    var isReordered: Bool { false }
    /// Restores the order from before the unsaved changes.
    func restoreOrder() {}
    /// Accepts the current order as saved.
    func forgetOrder() {}
    /// Makes writes to the list part of a transaction.
    func cover(by transaction: RecordTransaction) {}
    /// Observes the program's edits of the list from now on; they are handled at the end of turns.
    func watch(in loop: Loop) throws {}
    /// Turns the property into a plain list: the object has left its store.
    func unwatch() {}
  }

  /// The loaded property for rows of one class.
  ///
  /// The program reads and edits `array`; `known` has the rows that the store has handled. They
  /// differ by the program's edits that are not handled yet. Edits are handled in the order in
  /// which the lists were edited. The store changes both lists, so that its own changes do not
  /// handle an edit too early.
  final class LoadedArray<Target: ObservableRecord>: LoadedRelation {
    let array: ObservableArray<Target>
    /// The rows that the store has handled, without duplicates.
    private var known: KnownElements<Target>
    private var watchers: [Watcher] = []
    /// The rows before unsaved changes, if there are any.
    private var saved: [Target]?
    /// The identities of the list's rows while inserted rows are handled.
    ///
    /// Searching the list for each of them would take quadratic time.
    private var beingTaken: Set<ObjectIdentifier> = []
    /// Whether the program has changed the list in this turn.
    private var isEdited = false
    /// Whether the store has noted that the list has unhandled edits.
    private var isNoted = false

    init(_ relation: RecordRelation, _ owner: RecordState, _ array: ObservableArray<Target>) {
      self.array = array
      known = KnownElements(owner.table == nil ? [] : array.elements)
      super.init(relation, owner)
    }

    deinit { unwatch() }

    override func unwatch() {
      for watcher in watchers { watcher.stop() }
      (watchers, isEdited, saved) = ([], false, nil)
      known.set([])
    }

    override var objects: [any ObservableRecord] { array.elements }

    override func contains(_ object: any ObservableRecord) -> Bool {
      guard let object = object as? Target else { return false }
      return isHandled ? known.contains(object) : array.contains { $0 === object }
    }

    override func insert(_ object: any ObservableRecord) {
      guard let object = object as? Target, !beingTaken.contains(ObjectIdentifier(object)),
        !contains(object)
      else { return }
      edit {
        if isHandled { return known.append(object, to: array) }
        array.append(object)
        known.set(known.elements + [object])
      }
    }

    override func remove(_ object: any ObservableRecord) {
      guard let object = object as? Target, !isHandled || known.contains(object) else { return }
      edit {
        if isHandled, known.remove(object, from: array) { return }
        while let index = array.lastIndex(where: { $0 === object }) { array.remove(at: index) }
        known.set(known.elements.filter { $0 !== object })
      }
    }

    override func set(_ objects: [any ObservableRecord]) {
      synchronize()
      array.become(objects.compactMap { $0 as? Target })
      known.set(array.elements)
    }

    /// Whether the store has handled all edits of the program.
    private var isHandled: Bool { known.isSame(as: array.elements) }

    /// Changes the list for the store; `body` makes the same change in the known rows.
    private func edit(_ body: () -> Void) {
      noteOrder()
      let wasNoted = isNoted
      isNoted = true
      // Observers are called when both lists have the change.
      if let loop = owner?.store?.loop { loop.batch(body) } else { body() }
      isNoted = wasNoted
    }

    override func watch(in loop: Loop) throws {
      if !watchers.isEmpty { return }
      let isEdited = try array.observeImmediately("*", in: loop) { [weak self] _, _ in
        self?.noteEdit()
      }
      watchers = [
        isEdited,
        try array.observeEdits(in: loop) { [weak self] _, _ in
          self?.owner?.store?.relations.synchronizeEdited()
          // The other watcher does not report moves.
          self?.synchronize()
        },
      ]
    }

    /// Keeps the owner alive until the turn ends, as nothing else may hold it.
    private func noteEdit() {
      if !isNoted, let store = owner?.store {
        isNoted = true
        store.relations.noteFreshEdit(self)
      }
      if isEdited { return }
      isEdited = true
      owner?.store?.relations.keepUntilTurnEnd(self)
    }

    override func endEdit() { isEdited = false }

    private func noteOrder() { saved = saved ?? known.elements }

    override var isReordered: Bool { saved != nil }
    override func forgetOrder() { saved = nil }

    override func restoreOrder() {
      guard let saved else { return }
      let places = Dictionary(
        saved.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { $1 })
      func place(_ object: Target) -> Int { places[ObjectIdentifier(object)] ?? saved.count }
      array.become(
        array.enumerated().sorted {
          (place($0.element), $0.offset) < (place($1.element), $1.offset)
        }.map(\.element))
      known.set(array.elements)
    }

    override func cover(by transaction: RecordTransaction) { transaction.cover(array) }

    /// Handles rows that the program has inserted into the list or removed.
    override func synchronize() {
      isNoted = false
      guard let owner, owner.store != nil, !isHandled else { return }
      noteOrder()
      let listed = Set(array.elements.map(ObjectIdentifier.init))
      if listed.count < array.count { removeDoubles() }
      let (former, now) = (known.elements, array.elements)
      let wasListed = Set(former.map(ObjectIdentifier.init))
      known.set(now)
      for object in former where !listed.contains(ObjectIdentifier(object)) {
        owner.release(object, relation)
      }
      var refused: Set<ObjectIdentifier> = []
      beingTaken = listed
      defer { beingTaken = [] }
      for object in now where !wasListed.contains(ObjectIdentifier(object)) {
        if !owner.take(object, relation) { refused.insert(ObjectIdentifier(object)) }
      }
      if refused.isEmpty { return }
      array.removeAll { refused.contains(ObjectIdentifier($0)) }
      known.set(array.elements)
    }

    /// Removes rows that the list already has at a smaller index.
    private func removeDoubles() {
      var seen: Set<ObjectIdentifier> = []
      array.become(array.filter { seen.insert(ObjectIdentifier($0)).inserted })
    }
  }

  extension RecordState {
    // MARK: Changes by the database or a column

    /// Removes a row that no longer belongs to this one.
    func lost(_ object: any ObservableRecord, _ relation: RecordRelation) {
      change(relation) { $0.remove(object) }
    }

    /// Inserts a row that belongs to this one now.
    func gained(_ object: any ObservableRecord, _ relation: RecordRelation) {
      change(relation) { $0.insert(object) }
    }

    private func change(_ relation: RecordRelation, _ body: (LoadedRelation) -> Void) {
      switch relation.kind {
      case .many: if let list = relations[relation.name] { body(list) }
      case .one: try? object?.invalidate(relation.name)
      case .reference: break
      }
    }

    // MARK: Changes by the program

    /// Handles a row that the program has inserted into a list of this one.
    ///
    /// The row gets the key of this one. Returns false if that is not possible.
    func take(_ object: any ObservableRecord, _ relation: RecordRelation) -> Bool {
      guard let store else { return true }
      do {
        let target = try store.table(of: relation.target)
        guard let column = target.schema.slots[relation.column] else { return true }
        if isDeleted {
          throw error(.deleted, "the row is deleted: its '\(relation.name)' are not saved")
        }
        let state = object.recordState
        try state.check(isIn: store, for: relation.name)
        if state.table == nil { try store.insert(object) }
        if let key {
          if try state.newParents[column.slot] != nil || !isKey(column.read(object)) {
            _ = column.write?(object, key.value)
          }
        } else {
          state.setParent(self, column.slot, object)
        }
        return true
      } catch {
        store.report(error)
        return false
      }
    }

    /// Checks that the row can belong to another row, or have other rows in its list.
    func check(isIn store: RecordStore, for name: String) throws(RecordError) {
      if isDeleted {
        throw error(.deleted, "the row is deleted, and cannot be in '\(name)' of another one")
      }
      if let other = self.store, other !== store {
        throw error(.otherStore, "the row belongs to another store, and cannot be in '\(name)'")
      }
    }

    /// Handles a row that the program has removed from a list of this one.
    ///
    /// The row loses the key of this one. If its column cannot be NULL, it is deleted unless
    /// another row gets it by the end of the turn.
    func release(_ object: any ObservableRecord, _ relation: RecordRelation) {
      guard let store, !isDeleted, !object.isDeleted else { return }
      do {
        let target = try store.table(of: relation.target)
        guard let column = target.schema.slots[relation.column] else { return }
        let state = object.recordState
        if let parent = state.newParents[column.slot] {
          // Another row may have taken it over.
          guard parent === self else { return }
        } else {
          guard isKey(try column.read(object)) else { return }
        }
        if column.write?(object, .null) == true { return }
        state.newParents[column.slot] = nil
        store.unsaved.noteOrphan(object, column, of: self)
      } catch {
        store.report(error)
      }
    }
  }
#endif
