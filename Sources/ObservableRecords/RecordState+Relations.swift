#if Records
  public import Observables

  /// The implementation of the relation getters that the macro writes.
  extension RecordState {
    /// Returns the rows that refer to this one; the same list each time.
    ///
    /// - Throws: errors of reading the database.
    @_documentation(visibility: internal)
    public func loadMany<Target: ObservableRecord>(
      _ name: String, of owner: some ObservableRecord
    ) throws -> ObservableArray<Target> {
      if let loaded = relations[name] as? LoadedArray<Target> { return loaded.array }
      let array = ObservableArray<Target>()
      guard let relation = type(of: owner).recordSchema.relation(name) else { return array }
      array.owner = owner
      if let store {
        try store.delayingCallbacks {
          array.append(contentsOf: try rows(relation, store))
          let loaded = LoadedArray(relation, self, array)
          relations[name] = loaded
          try loaded.watch(in: store.loop)
          store.relations.note(loaded)
        }
      } else {
        relations[name] = LoadedArray(relation, self, array)
      }
      return array
    }

    /// Returns the one row that refers to this one, or to which this one refers.
    ///
    /// - Throws: errors of reading the database.
    @_documentation(visibility: internal)
    public func loadOne<Target: ObservableRecord>(
      _ name: String, of owner: some ObservableRecord
    ) throws -> Target? {
      guard let relation = type(of: owner).recordSchema.relation(name) else { return nil }
      guard relation.kind == .reference else {
        guard let store else { return nil }
        if relations[name] == nil {
          let loaded = LoadedRelation(relation, self)
          relations[name] = loaded
          store.relations.note(loaded)
        }
        return try (rows(relation, store) as [Target]).first
      }
      guard let column = type(of: owner).recordSchema.slots[relation.column] else { return nil }
      let found: Target?
      if let parent = newParents[column.slot] {
        found = parent.object as? Target
      } else if let store, let key = try store.table(of: Target.self).key(column.read(owner)) {
        found = try store.relations.row(of: Target.self, key, column, by: self)
        if found == nil {
          try store.table(of: Target.self).await(key, Referrer(state: self, name: name))
        }
      } else {
        found = nil
      }
      guard let found else { return nil }
      found.recordState.addReferrer(self, name)
      return found.isDeleted ? nil : found
    }

    /// Returns the rows that refer to this one now, including unsaved changes.
    private func rows<Target: ObservableRecord>(
      _ relation: RecordRelation, _ store: RecordStore
    ) throws -> [Target] {
      let target = try store.table(of: Target.self)
      if isDeleted { return [] }
      guard let key, let table else { return store.unsaved.rows(relation, in: target, of: self) }
      let saved: [Target] = try store.relations.rows(relation, in: target, to: key, of: table, self)
      let known = Set(saved.map(ObjectIdentifier.init))
      return saved
        + store.unsaved.rows(relation, in: target, of: self).filter {
          !known.contains(ObjectIdentifier($0))
        }
    }

    /// Sets the column of a relation to the key of another row, or to nil if that is possible.
    func refer(_ owner: some ObservableRecord, _ name: String, to other: (any ObservableRecord)?) {
      guard let column = type(of: owner).recordSchema.slots[name], let write = column.write else {
        return
      }
      do {
        guard let other else {
          guard column.isOptional else {
            throw error(
              .wrongValue, column: name,
              "the row must refer to another row: its column cannot be NULL")
          }
          if table == nil { (newParents[column.slot], keptParents[column.slot]) = (nil, nil) }
          _ = write(owner, .null)
          return
        }
        let parent = other.recordState
        parent.introduce(other)
        if table == nil { (newParents[column.slot], keptParents[column.slot]) = (nil, nil) }
        if let store {
          try parent.check(isIn: store, for: name)
          if parent.table == nil { try store.insert(other) }
        }
        if let key = parent.key {
          if !write(owner, key.value) {
            throw error(.wrongValue, column: name, "the column cannot have the key \(key)")
          }
        } else if !isDeleted {
          setParent(parent, column.slot, owner)
        }
      } catch {
        if let store { store.report(error) }
      }
    }

    /// Makes a column refer to a row that has no key yet.
    func setParent(_ parent: RecordState, _ slot: Int, _ object: any ObservableRecord) {
      let former = newParents[slot]
      if former === parent { return }
      newParents[slot] = parent
      parent.hasBeenNewParent = true
      guard let table else {
        // Nothing else keeps the parent until both objects are in a store.
        keptParents[slot] = parent.object
        return invalidateReferences(slot, object)
      }
      for link in table.incoming[slot] ?? [] {
        if let former {
          former.lost(object, link.relation)
        } else if let value = table.column(slot).flatMap({ try? $0.read(object) }) {
          link.owner.key(value).flatMap(link.owner.state)?.lost(object, link.relation)
        }
        parent.gained(object, link.relation)
      }
      invalidateReferences(slot, object)
      table.store.unsaved.note(self, object)
    }

    /// Ends the reference of a column to a row without a key: the column has the written value now.
    func leaveNewParent(_ slot: Int, _ object: any ObservableRecord) {
      guard let table, let parent = newParents.removeValue(forKey: slot) else { return }
      for link in table.incoming[slot] ?? [] { parent.lost(object, link.relation) }
      table.link(object, slot)
      invalidateReferences(slot, object)
    }

    /// Invalidates properties whose column refers to another row while its value stays the same.
    private func invalidateReferences(_ slot: Int, _ object: any ObservableRecord) {
      let schema = type(of: object).recordSchema
      for relation in schema.relations
      where relation.kind == .reference && schema.slots[relation.column]?.slot == slot {
        try? object.invalidate(relation.name)
      }
    }

    /// The key of the row, if it has one.
    package var keyValue: DatabaseValue? { key?.databaseValue }

    /// Makes a property refer to a row.
    package func refer(
      _ owner: some ObservableRecord, _ reference: (name: String, object: any ObservableRecord)
    ) {
      if let column = type(of: owner).recordSchema.relation(reference.name)?.column {
        refer(owner, column, to: reference.object)
      }
    }
  }
#endif
