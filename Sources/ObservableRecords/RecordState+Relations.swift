#if Records
  public import Observables

  /// What the getters of relations, which the macro writes, ask for.
  extension RecordState {
    /// The rows that refer to this one; the same list each time.
    ///
    /// - Throws: what reading the database throws.
    @_documentation(visibility: internal)
    public func loadMany<Target: ObservableRecord>(
      _ name: String, of owner: some ObservableRecord
    ) throws -> ObservableArray<Target> {
      if let loaded = relations[name] as? LoadedArray<Target> { return loaded.array }
      let array = ObservableArray<Target>()
      guard let relation = type(of: owner).recordSchema.relation(name) else { return array }
      array.owner = owner
      if let store, let slot = try store.slot(of: relation) {
        array.append(contentsOf: try rows(relation, slot, store))
        let loaded = LoadedArray(relation, self, array)
        relations[name] = loaded
        try loaded.watch(in: store.loop)
        store.note(loaded)
      } else {
        relations[name] = LoadedArray(relation, self, array)
      }
      return array
    }

    /// The one row that refers to this one, or that this one refers to.
    ///
    /// - Throws: what reading the database throws.
    @_documentation(visibility: internal)
    public func loadOne<Target: ObservableRecord>(
      _ name: String, of owner: some ObservableRecord
    ) throws -> Target? {
      guard let store, let relation = type(of: owner).recordSchema.relation(name) else {
        return nil
      }
      guard relation.kind == .reference else {
        guard let slot = try store.slot(of: relation) else { return nil }
        return try (rows(relation, slot, store) as [Target]).first
      }
      guard let column = table?.schema.slots[relation.column] else { return nil }
      let found: Target?
      if let parent = newParents[column.slot] {
        found = parent.object as? Target
      } else if let key = RecordKey(try column.read(owner)) {
        found = try store.referenced(Target.self, key, column, by: self)
      } else {
        found = nil
      }
      guard let found else { return nil }
      found.recordState.addReferrer(self, name)
      return found.isDeleted ? nil : found
    }

    /// The rows that refer to this one, as they are now: what is not saved yet counts.
    private func rows<Target: ObservableRecord>(
      _ relation: RecordRelation, _ slot: Int, _ store: RecordStore
    ) throws -> [Target] {
      if isDeleted { return [] }
      guard let key, let table else { return store.unsaved(Target.self, slot, of: self) }
      let saved: [Target] = try store.related(relation, slot, to: key, of: table, self)
      let known = Set(saved.map(ObjectIdentifier.init))
      return saved
        + store.unsaved(Target.self, slot, of: self).filter {
          !known.contains(ObjectIdentifier($0))
        }
    }

    /// Sets the column of a relation to the key of another row; to nil where that is possible.
    func refer(_ owner: some ObservableRecord, _ name: String, to other: (any ObservableRecord)?) {
      guard let column = type(of: owner).recordSchema.slots[name], let write = column.write else {
        return
      }
      guard let other else {
        newParents[column.slot] = nil
        if !write(owner, .null) {
          store?.report(
            RecordError(
              .wrongValue, table: table?.name ?? "", column: name, row: key?.description,
              "the row has to refer to another one: its column cannot be NULL"))
        }
        return
      }
      if let store, other.recordState.table == nil {
        do { try store.insert(other) } catch { return store.report(error) }
      }
      if let key = other.recordState.key {
        _ = write(owner, key.databaseValue)
      } else if !other.isDeleted {
        setParent(other.recordState, column.slot, owner)
        for link in table?.incoming[column.slot] ?? [] {
          other.recordState.gained(owner, link.relation)
        }
        for relation in type(of: owner).recordSchema.relations
        where relation.kind == .reference && relation.column == name {
          try? owner.invalidate(relation.name)
        }
      }
    }

    /// A column refers to a row that has no key yet.
    func setParent(_ parent: RecordState, _ slot: Int, _ object: any ObservableRecord) {
      newParents[slot] = parent
      store?.noteChange(of: self, object)
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
