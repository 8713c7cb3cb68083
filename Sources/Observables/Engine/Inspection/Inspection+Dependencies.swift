/// A dependency of a lazy property.
package struct Dependence {
  /// The object at which the path begins; nil if it is not observed.
  package let root: NodeRef?
  package let path: String
}

/// Answers questions about lazy properties, without computing or wiring anything.
extension Inspection {
  /// The dependencies of a lazy property: its declared paths, or the keys that the last run of its
  /// getter read, in that order.
  package func dependencies(
    of lazy: WatcherRef, naming name: (SlotRef) -> String
  ) -> [Dependence] {
    guard lazy.pointee.traits.contains(.tracking) else {
      return lazy.pointee.receiver.takeUnretainedValue().dependencies(of: lazy).map { declared in
        Dependence(
          root: declared.isForeign ? declared.root : lazy.pointee.root,
          path: declared.path.description)
      }
    }
    var dependencies: [Dependence] = []
    forEachTrackedLink(of: lazy) { link in
      guard let slot = link.pointee.slot else { return }
      dependencies.append(
        Dependence(
          root: slot.pointee.node, path: slot.pointee.isEvery ? link.wholeName : name(slot)))
    }
    return dependencies
  }

  /// The lazy properties that depend on the key of `slot`, each once, in the order of their
  /// declaration; `name` identifies a key in the slot of a whole object.
  package func dependents(of slot: SlotRef, name: String? = nil) -> [WatcherRef] {
    var dependents: [UInt64: WatcherRef] = [:]
    slot.forEachLinkOfAny { link in
      let watcher = link.pointee.wire.pointee.watcher
      guard watcher.pointee.traits.contains(.lazy), watcher.slot != nil else { return }
      if let name, slot.pointee.isEvery, link.wholeName != name { return }
      dependents[watcher.pointee.id] = watcher
    }
    return dependents.values.sorted { $0.pointee.id < $1.pointee.id }
  }

  /// The keys of `node` that lazy properties depend on; `name` is as in `ObservedKey`.
  func usedKeys(of node: NodeRef) -> [(slot: SlotRef, name: String?)] {
    var keys: [(slot: SlotRef, name: String?)] = []
    node.forEachSlot { slot in
      var names: Set<String?> = []
      slot.forEachLinkOfAny { link in
        guard link.pointee.wire.pointee.watcher.pointee.traits.contains(.lazy) else { return }
        if names.insert(slot.pointee.isEvery ? link.wholeName : nil).inserted {
          keys.append((slot, slot.pointee.isEvery ? link.wholeName : nil))
        }
      }
    }
    return keys
  }

  /// The first watcher that depends on these slots, or on `lazy`, for which `body` returns true.
  ///
  /// A watcher depends on a slot if a write to the slot may make it pending, directly or through
  /// lazy properties. `through` returns these properties, beginning with the one nearest to the
  /// write. Shorter routes come first, and a watcher may come several times.
  ///
  /// - Complexity: O(links of all dependents of the slots)
  package func firstWatcher(
    behind slots: [SlotRef?], lazy: WatcherRef? = nil,
    where body: (WatcherRef, _ through: () -> [WatcherRef]) -> Bool
  ) -> WatcherRef? {
    /// The lazy properties that were reached, each with the index of its predecessor; -1 for the
    /// write.
    var reached = lazy.map { [(lazy: $0, from: -1)] } ?? []
    var seen = Set(lazy.map { [$0.pointee.id] } ?? [])
    func chain(to end: Int) -> [WatcherRef] {
      var chain: [WatcherRef] = []
      var next = end
      while next >= 0 {
        chain.append(reached[next].lazy)
        next = reached[next].from
      }
      return chain.reversed()
    }
    func first(in slot: SlotRef, from: Int) -> WatcherRef? {
      let found = records.first(from: slot.pointee.links.first) { link in
        let watcher = link.pointee.wire.pointee.watcher
        if watcher.pointee.traits.contains(.probing) { return false }
        if from >= 0, slot.pointee.isEvery, !link.isWhole { return false }
        guard watcher.pointee.traits.contains(.lazy) else {
          return body(watcher) { chain(to: from) }
        }
        if seen.insert(watcher.pointee.id).inserted { reached.append((watcher, from)) }
        return false
      }
      return found?.pointee.wire.pointee.watcher
    }
    for case let slot? in slots {
      if let found = first(in: slot, from: -1) { return found }
    }
    var position = 0
    while position < reached.count {
      if let slot = reached[position].lazy.slot, !slot.pointee.node.isDead {
        for slot in [slot, slot.pointee.node.pointee.every].compactMap({ $0 }) {
          if let found = first(in: slot, from: position) { return found }
        }
      }
      position += 1
    }
    return nil
  }

  func forEachTrackedLink(of lazy: WatcherRef, _ body: (LinkRef) -> Void) {
    guard let wire = lazy.pointee.wires.first, wire.pointee.use == .tracking else { return }
    records.hold { for link in wire.links where !link.pointee.isDead { body(link) } }
  }
}

extension SlotRef {
  /// Calls `body` for the links of watchers and lazy properties, except the debugger's.
  func forEachLinkOfAny(_ body: (LinkRef) -> Void) {
    pointee.node.engine.records.forEach(from: pointee.links.first) { link in
      if !link.pointee.wire.pointee.watcher.pointee.traits.contains(.probing) { body(link) }
    }
  }
}

extension LinkRef {
  /// The object whose key the link observes.
  var node: NodeRef? { pointee.slot?.pointee.node }
}
