#if Records
  internal import Observables

  /// The relations of a store's rows: the loaded lists with their edits, and the rows that were
  /// loaded in advance for several rows.
  final class LoadedRelations {
    private struct WeakList { weak var list: LoadedRelation? }

    /// The key of rows that were loaded in advance, for one property of several rows.
    private struct PrefetchKey: Hashable {
      let table: ObjectIdentifier
      let name: String
    }

    private unowned let store: RecordStore
    private var lists: [WeakList] = []
    private var listLimit = 64
    /// Objects whose lists the program has read in this turn.
    private var keptInTurn: [any ObservableRecord] = []
    /// Lists that the program has changed in this turn, with their objects.
    private var editedLists: [(list: LoadedRelation, object: any ObservableRecord)] = []
    /// Lists that the program has changed since they were last synchronized.
    private var freshlyEdited: [LoadedRelation] = []
    private var prefetched: [PrefetchKey: [RecordKey: [any ObservableRecord]]] = [:]

    init(_ store: RecordStore) { self.store = store }

    /// Releases all objects when the store is closed.
    func close() { (editedLists, keptInTurn, freshlyEdited, prefetched) = ([], [], [], [:]) }

    // MARK: Lists

    /// The loaded lists that are still in memory.
    var all: [LoadedRelation] { lists.compactMap(\.list) }

    /// Registers a loaded list.
    func note(_ list: LoadedRelation) {
      if lists.count >= listLimit {
        lists.removeAll { $0.list == nil }
        listLimit = max(64, 2 * lists.count)
      }
      lists.append(WeakList(list: list))
    }

    /// Notes a list that the program has changed; called once until the list is synchronized.
    func noteFreshEdit(_ list: LoadedRelation) { freshlyEdited.append(list) }

    /// Handles the rows that the program has inserted into lists or removed since the last call.
    ///
    /// The lists are handled in the order in which they were edited: a row that was inserted into
    /// several lists belongs to the last one.
    func synchronizeEdited() {
      let lists = freshlyEdited
      freshlyEdited = []
      for list in lists { list.synchronize() }
    }

    /// Handles all rows that the program has inserted into lists or removed so far.
    func synchronize() {
      synchronizeEdited()
      for list in lists { list.list?.synchronize() }
    }

    /// Keeps an object until the edits of its list have been handled.
    func keepUntilTurnEnd(_ list: LoadedRelation) {
      guard let object = list.owner?.object else { return }
      editedLists.append((list, object))
      store.saves.askForTurnEnd()
    }

    /// Keeps an object until the turn ends.
    ///
    /// In `find(…)!.items.append(…)`, nothing else may hold the object whose list changes.
    func keepUntilTurnEnd(_ object: any ObservableRecord) {
      let state = object.recordState
      if state.isKeptInTurn || !state.hasObject { return }
      state.isKeptInTurn = true
      keptInTurn.append(object)
      store.saves.askForTurnEnd()
    }

    /// Handles the rows that the program has inserted into lists or removed in this turn.
    func endTurn() {
      synchronizeEdited()
      let edited = editedLists
      editedLists = []
      for (list, _) in edited {
        list.synchronize()
        list.endEdit()
      }
      let kept = keptInTurn
      keptInTurn = []
      for object in kept { object.recordState.isKeptInTurn = false }
    }

    /// Accepts the current order of all lists as saved.
    func forgetOrders() { for list in all { list.forgetOrder() } }

    // MARK: Rows

    /// Returns the saved rows that refer to a row.
    ///
    /// Rows that came in one query are asked for together, by one query.
    func rows<Target: ObservableRecord>(
      _ relation: RecordRelation, in target: RecordTable, to key: RecordKey,
      of table: RecordTable, _ state: RecordState
    ) throws -> [Target] {
      let name = PrefetchKey(table: ObjectIdentifier(table), name: relation.name)
      let column = target.schema.slots[relation.column]
      if prefetched[name]?[key] == nil {
        let siblings = siblings(of: state).filter { sibling in
          relation.kind == .one || sibling.relations[relation.name] == nil
        }
        let keys = [key] + siblings.prefix(9_999).compactMap(\.key)
        let rows = try store.read {
          try Target.rows(with: keys, in: relation.column, table.layout.collation, from: $0)
        }
        var lists = Dictionary(
          keys.map { ($0, [any ObservableRecord]()) }, uniquingKeysWith: { $1 })
        let owners = rows.map { row in
          column.flatMap { try? $0.read(row) }.flatMap(table.key)
        }
        let group = FetchGroup(target)
        for (row, owner) in zip(rows, owners) {
          guard let owner, let object = target.adopt(row, readAfter: store.saves.number) else {
            continue
          }
          if target.hasOneLink { object.recordState.mayBeUnlisted = false }
          lists[owner]?.append(object)
          object.recordState.join(group)
        }
        prefetched[name, default: [:]].merge(lists) { $1 }
        store.saves.askForTurnEnd()
      }
      let rows = prefetched[name]?.removeValue(forKey: key) ?? []
      return rows.compactMap { $0 as? Target }.filter { object in
        !object.isDeleted && state.isKey(try? column?.read(object))
      }
    }

    /// Returns the row to which a column refers.
    func row<Target: ObservableRecord>(
      of record: Target.Type, _ key: RecordKey, _ column: RecordColumn, by state: RecordState
    ) throws -> Target? {
      let target = try store.table(of: record)
      if let known = target.state(key) { return known.object as? Target }
      let name = PrefetchKey(table: ObjectIdentifier(target), name: "")
      if prefetched[name]?[key] != nil { return nil }
      var wanted: [RecordKey] = []
      var seen: Set<RecordKey> = []
      for sibling in [state] + siblings(of: state) {
        guard let object = sibling.object, let other = target.key(try column.read(object)),
          seen.insert(other).inserted, target.state(other) == nil, prefetched[name]?[other] == nil
        else { continue }
        wanted.append(other)
      }
      let keys = Array(wanted.prefix(10_000))
      let rows = try store.read { try record.rows(with: keys, from: $0) }
      // The objects stay until the end of the turn, as their siblings will probably be asked for
      // next. So does the knowledge of missing rows.
      prefetched[name, default: [:]].merge(keys.map { ($0, [any ObservableRecord]()) }) { $1 }
      for object in target.adopt(rows, readAfter: store.saves.number) {
        if let key = object.recordState.key { prefetched[name, default: [:]][key] = [object] }
      }
      store.saves.askForTurnEnd()
      return target.state(key)?.object as? Target
    }

    /// Drops prefetched rows, which do not have the values that are saved now or change next.
    func forgetPrefetched() { prefetched = [:] }

    /// The other rows that came in the same query.
    private func siblings(of state: RecordState) -> [RecordState] {
      (state.group?.states ?? []).filter { sibling in
        sibling !== state && sibling.hasObject && !sibling.isDeleted
      }
    }
  }
#endif
