#if Records
  internal import Observables

  /// The relations of a store's rows: the lists that are loaded and what the program does with
  /// them, and the rows that are loaded for several rows at once.
  final class LoadedRelations {
    private struct WeakList { weak var list: LoadedRelation? }

    /// The rows that were loaded in advance for one property of several rows.
    private struct PrefetchKey: Hashable {
      let table: ObjectIdentifier
      let name: String
    }

    private unowned let store: RecordStore
    private var lists: [WeakList] = []
    private var listLimit = 64
    /// Objects whose lists the program has asked for in this turn.
    private var keptInTurn: [any ObservableRecord] = []
    /// Lists that the program has changed in this turn, with the objects that they belong to.
    private var editedLists: [(list: LoadedRelation, object: any ObservableRecord)] = []
    /// Lists that the program has changed since they were synchronized.
    private var freshlyEdited: [LoadedRelation] = []
    private var prefetched: [PrefetchKey: [RecordKey: [any ObservableRecord]]] = [:]

    init(_ store: RecordStore) { self.store = store }

    /// Releases all objects: the store is closed.
    func close() { (editedLists, keptInTurn, freshlyEdited, prefetched) = ([], [], [], [:]) }

    // MARK: Lists

    /// The lists that the program, or a row, still has.
    var all: [LoadedRelation] { lists.compactMap(\.list) }

    /// Notes a list of rows that is loaded.
    func note(_ list: LoadedRelation) {
      if lists.count >= listLimit {
        lists.removeAll { $0.list == nil }
        listLimit = max(64, 2 * lists.count)
      }
      lists.append(WeakList(list: list))
    }

    /// Notes a list that the program has changed, once until it is synchronized.
    func noteFreshEdit(_ list: LoadedRelation) { freshlyEdited.append(list) }

    /// Handles what the program has put into lists, and taken out, since this was done last, in the
    /// order in which the lists were edited: a row that is put into several belongs to the last.
    func synchronizeEdited() {
      let lists = freshlyEdited
      freshlyEdited = []
      for list in lists { list.synchronize() }
    }

    /// Handles what the program has put into lists, and taken out, in this turn so far.
    func synchronize() {
      synchronizeEdited()
      for list in lists { list.list?.synchronize() }
    }

    /// Keeps an object whose list the program has changed, until that was handled.
    func keepUntilTurnEnd(_ list: LoadedRelation) {
      guard let object = list.owner?.object else { return }
      editedLists.append((list, object))
      store.saves.askForTurnEnd()
    }

    /// Keeps an object until the turn ends: in `find(…)!.items.append(…)` no other code may hold
    /// the object whose list changes.
    func keepUntilTurnEnd(_ object: any ObservableRecord) {
      let state = object.recordState
      if state.isKeptInTurn || !state.hasObject { return }
      state.isKeptInTurn = true
      keptInTurn.append(object)
      store.saves.askForTurnEnd()
    }

    /// Handles what the program has put into lists, and taken out, in this turn.
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

    /// Lists are saved as they are.
    func forgetOrders() { for list in all { list.forgetOrder() } }

    // MARK: Rows

    /// Rows that refer to a row, as they are saved.
    ///
    /// What one query has brought is asked for together: one query for all.
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

    /// The row that a column refers to.
    func row<Target: ObservableRecord>(
      of record: Target.Type, _ key: RecordKey, _ column: RecordColumn, by state: RecordState
    ) throws -> Target? {
      let target = try store.table(of: record)
      if let known = target.state(key) { return known.object as? Target }
      var wanted: [RecordKey] = []
      var seen: Set<RecordKey> = []
      for sibling in [state] + siblings(of: state) {
        guard let object = sibling.object, let other = target.key(try column.read(object)),
          seen.insert(other).inserted, target.state(other) == nil
        else { continue }
        wanted.append(other)
      }
      let keys = Array(wanted.prefix(10_000))
      let rows = try store.read { try record.rows(with: keys, from: $0) }
      // The objects stay until the end of the turn, as their siblings ask for them next.
      let name = PrefetchKey(table: ObjectIdentifier(target), name: "")
      for object in target.adopt(rows, readAfter: store.saves.number) {
        if let key = object.recordState.key { prefetched[name, default: [:]][key] = [object] }
      }
      store.saves.askForTurnEnd()
      return target.state(key)?.object as? Target
    }

    /// Drops prefetched rows: they lack what is saved now or changes next.
    func forgetPrefetched() { prefetched = [:] }

    /// Other rows that came with one in a query.
    private func siblings(of state: RecordState) -> [RecordState] {
      (state.group?.states ?? []).filter { sibling in
        sibling !== state && sibling.hasObject && !sibling.isDeleted
      }
    }
  }
#endif
