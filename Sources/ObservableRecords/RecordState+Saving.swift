#if Records
  /// Changes of a row's state by a save, a revert or another user of the database.
  extension RecordState {
    /// Notes that a save of the row has begun.
    func begin(_ kind: SavePlan.Operation.Kind, _ number: Int) {
      savedNumber = number
      inFlight = changed
      changed = [:]
      switch kind {
      case .insert:
        flight = .insert
        phase = .saved
      case .update: flight = .update
      case .delete:
        flight = .delete
        phase = .deleted
      case .refused: flight = .refused
      }
    }

    /// Notes the key of the inserted row.
    func inserted(as value: StoredValue) {
      guard let table, let object, let key = table.key(value) else { return }
      if key != self.key {
        setKey(key)
        apply { _ = table.schema.key?.write?(object, value) }
      }
      table.answer(key)
    }

    /// Notes that the save has succeeded; `keys` has the keys of the rows that it has inserted.
    func end(_ operation: SavePlan.Operation, _ keys: [Int: StoredValue]) {
      flight = .none
      inFlight = [:]
      guard let table, let object else { return }
      if case .delete = operation.kind {
        table.forget(self)
        for list in relations.values { list.set([]) }
        return
      }
      var values = operation.values
      for (value, parent) in operation.parents {
        values[value] = keys[parent] ?? values[value]
        // A value that the program has written since differs from the key that was saved.
        let slot = operation.columns[value].slot
        if changed[slot] != nil { changed[slot] = values[value] }
      }
      for column in table.schema.stored {
        if let place = operation.columns.firstIndex(where: { $0 === column }) {
          storedValues[column.slot] = values[place]
        }
      }
      for (slot, parent) in newParents {
        guard let key = parent.key?.value, let column = table.column(slot) else { continue }
        let isSaved =
          operation.columns.firstIndex { $0 === column }.map { values[$0] == key } ?? false
        newParents[slot] = nil
        if isSaved {
          apply { _ = column.write?(object, key) }
        } else {
          _ = column.write?(object, key)
        }
      }
    }

    /// Notes that the save has failed: its changes are unsaved again.
    func takeBack() {
      changed.merge(inFlight) { $1 }
      inFlight = [:]
      switch flight {
      case .insert: phase = phase == .deleting ? .deleted : .new
      case .delete: phase = .deleting
      case .update, .refused, .none: break
      }
      flight = .none
    }

    /// Restores the values that were saved last.
    func restoreValues(_ object: any ObservableRecord) {
      guard let table else { return }
      let former = changed
      changed = [:]
      for slot in newParents.keys { leaveNewParent(slot, object) }
      for (slot, value) in former {
        guard let column = table.column(slot) else { continue }
        let now = (try? column.read(object)) ?? .null
        apply { _ = column.write?(object, value) }
        if table.isLink(slot), now != value {
          table.relink(object, slot, from: now, to: value)
        }
      }
    }

    /// Cancels the deletion: the object can be found by its key again.
    func undelete() {
      phase = .saved
      if let key { table?.enter(self, key) }
    }

    /// Takes over the values that the row has now, except columns with unsaved changes.
    func refresh(from fresh: any ObservableRecord, readAfter number: Int) {
      // A new object has no row, even if another user has inserted a row with its key.
      guard let table, let object, !isDeleted, phase != .new else { return }
      if savedNumber > number {
        // The row was read before the object was saved.
        return table.store.reads.readLater(key, of: table)
      }
      var conflicts: [String] = []
      for column in table.schema.plain {
        let slot = column.slot
        guard inFlight[slot] == nil, let value = try? column.read(fresh),
          let now = try? column.read(object)
        else { continue }
        if let former = changed[slot] {
          if value == former { continue }
          changed[slot] = value
          if value != now { conflicts.append(column.name) }
        } else if value != now {
          apply { column.copy?(fresh, object) }
          if table.isLink(slot) { table.relink(object, slot, from: now, to: value) }
        }
      }
      for (slot, value) in fresh.recordState.storedValues {
        storedValues[slot] = value
        if changed[slot] != nil { changed[slot] = value }
      }
      if !conflicts.isEmpty { table.store.reportConflict(object, conflicts) }
    }

    /// Notes that another user has deleted the row.
    func vanished() {
      guard let table, let object else { return }
      let hadChanges =
        phase == .saved && table.schema.plain.contains { changed[$0.slot] != nil }
      (changed, phase) = ([:], .deleted)
      table.forget(self)
      table.unlink(object)
      for list in relations.values { list.set([]) }
      table.store.reads.remove(object, of: table)
      updateKeeping()
      if hadChanges { table.store.reportConflict(object, table.schema.plain.map(\.name)) }
    }
  }
#endif
