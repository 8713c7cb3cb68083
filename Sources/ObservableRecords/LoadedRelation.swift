#if Records
  internal import Observables

  /// A property that lists rows of another table, once it is loaded.
  class LoadedRelation {
    let relation: RecordRelation
    weak var owner: RecordState?

    init(_ relation: RecordRelation, _ owner: RecordState) {
      (self.relation, self.owner) = (relation, owner)
    }

    /// The rows that are listed.
    var objects: [any ObservableRecord] { [] }
    /// Puts in a row that belongs to this one now.
    func insert(_ object: any ObservableRecord) {}
    /// Takes out a row that does not belong to this one any more.
    func remove(_ object: any ObservableRecord) {}
    /// Lists exactly these rows, by the smallest edits.
    func set(_ objects: [any ObservableRecord]) {}
    /// Handles what the program has put in and taken out.
    func synchronize() {}
    /// The turn in which the list was changed is over.
    func endEdit() {}
    /// Whether the rows, or their order, are others than those that are saved.
    var isReordered: Bool { false }
    /// Gives the rows the order that they had before unsaved changes.
    func restoreOrder() {}
    /// The rows are saved as they are.
    func forgetOrder() {}
    /// What is written to the list belongs to a transaction.
    func cover(by transaction: RecordTransaction) {}
    /// Notices from now on, at the end of turns, what the program puts in and takes out.
    func watch(in loop: Loop) throws {}
    /// Is a plain list from now on: the object has left its store.
    func unwatch() {}
  }

  /// The loaded property of one class of rows.
  ///
  /// The list is what the program sees and edits; `known` is what the store has handled of it. They
  /// differ by edits of the program that are still to be handled, in the order in which lists were
  /// edited. What the store puts in and takes out changes both, so that it handles no edit early.
  final class LoadedArray<Target: ObservableRecord>: LoadedRelation {
    let array: ObservableArray<Target>
    /// The rows that the store knows to be listed, each once.
    private var known: [Target]
    private var watchers: [Watcher] = []
    /// The rows as they were before unsaved changes, where there are any.
    private var saved: [Target]?
    /// The rows of the list while what the program has put in is handled: searching the list for
    /// each of them would take the square of its length.
    private var beingTaken: Set<ObjectIdentifier> = []
    /// Whether the program has changed the list in this turn.
    private var isEdited = false
    /// Whether the store has noted that the list was changed since it was looked at.
    private var isNoted = false

    init(_ relation: RecordRelation, _ owner: RecordState, _ array: ObservableArray<Target>) {
      self.array = array
      known = owner.table == nil ? [] : array.elements
      super.init(relation, owner)
    }

    deinit { unwatch() }

    override func unwatch() {
      for watcher in watchers { watcher.stop() }
      (watchers, isEdited, known, saved) = ([], false, [], nil)
    }

    override var objects: [any ObservableRecord] { array.elements }

    override func insert(_ object: any ObservableRecord) {
      guard let object = object as? Target, !beingTaken.contains(ObjectIdentifier(object)),
        !array.contains(where: { $0 === object })
      else { return }
      edit { known in
        array.append(object)
        known.append(object)
      }
    }

    override func remove(_ object: any ObservableRecord) {
      edit { known in
        while let index = array.lastIndex(where: { $0 === object }) { array.remove(at: index) }
        known.removeAll { $0 === object }
      }
    }

    override func set(_ objects: [any ObservableRecord]) {
      synchronize()
      array.become(objects.compactMap { $0 as? Target })
      known = array.elements
    }

    /// Changes the list for the store, in `body`, which does the same with the known rows.
    private func edit(_ body: (_ known: inout [Target]) -> Void) {
      noteOrder()
      let (isHandled, wasNoted) = (isSameMemory(array.elements, known), isNoted)
      isNoted = true
      body(&known)
      isNoted = wasNoted
      // Equal lists are found equal at once.
      if isHandled { known = array.elements }
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
          // Moves are edits that the other watcher does not hear of.
          self?.synchronize()
        },
      ]
    }

    /// Keeps the owner until the turn ends: no other object may hold it.
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

    private func noteOrder() { saved = saved ?? known }

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
      known = array.elements
    }

    override func cover(by transaction: RecordTransaction) { transaction.cover(array) }

    /// Handles what the program has put in and taken out.
    override func synchronize() {
      isNoted = false
      guard let owner, owner.store != nil, !isSameMemory(array.elements, known) else { return }
      noteOrder()
      let listed = Set(array.elements.map(ObjectIdentifier.init))
      if listed.count < array.count { removeDoubles() }
      let (former, now) = (known, array.elements)
      let wasListed = Set(former.map(ObjectIdentifier.init))
      known = now
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
      known = array.elements
    }

    /// Takes out rows that the list has already, further to the front.
    private func removeDoubles() {
      var seen: Set<ObjectIdentifier> = []
      array.become(array.filter { seen.insert(ObjectIdentifier($0)).inserted })
    }

    private func isSameMemory(_ a: [Target], _ b: [Target]) -> Bool {
      a.count == b.count
        && a.withUnsafeBufferPointer { a in
          b.withUnsafeBufferPointer { b in a.baseAddress == b.baseAddress }
        }
    }
  }

  extension RecordState {
    // MARK: What the database, or a column, says

    /// A row does not belong to this one any more.
    func lost(_ object: any ObservableRecord, _ relation: RecordRelation) {
      change(relation) { $0.remove(object) }
    }

    /// A row belongs to this one now.
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

    // MARK: What the program does with the list

    /// The program has put a row into a list of this one: the row gets the key of this one; false
    /// where it cannot.
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

    /// Checks that the row can be one that another row belongs to, or be in its list.
    func check(isIn store: RecordStore, for name: String) throws(RecordError) {
      if isDeleted {
        throw error(.deleted, "the row is deleted, and cannot be in '\(name)' of another one")
      }
      if let other = self.store, other !== store {
        throw error(.otherStore, "the row belongs to another store, and cannot be in '\(name)'")
      }
    }

    /// The program has taken a row out of a list of this one: the row loses the key of this one, or
    /// goes, if nothing else has got it by the end of the turn.
    func release(_ object: any ObservableRecord, _ relation: RecordRelation) {
      guard let store, !isDeleted, !object.isDeleted else { return }
      do {
        let target = try store.table(of: relation.target)
        guard let column = target.schema.slots[relation.column] else { return }
        let state = object.recordState
        if let parent = state.newParents[column.slot] {
          // Another row may have got it.
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
