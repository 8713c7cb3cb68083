/// Something that a lazy property depends on.
package struct Dependence {
  /// The object at which the path begins; nil where it is not observed.
  package let root: NodeRef?
  package let path: String
}

/// What tools ask about lazy properties; nothing is computed or wired for it.
extension Engine {
  /// What a lazy property depends on: the paths that it declares, or the keys that its getter read when
  /// it ran last, in that order.
  package func dependencies(
    of lazy: WatcherRef, naming name: (SlotRef) -> String
  ) -> [Dependence] {
    guard lazy.pointee.flags.contains(.tracking) else {
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

  /// The lazy properties that depend on the key of `slot`, each once, in the order of their declaration;
  /// `name` is that of a key in the slot of a whole object.
  package func dependents(of slot: SlotRef, name: String? = nil) -> [WatcherRef] {
    var dependents: [UInt64: WatcherRef] = [:]
    slot.forEachLinkOfAny { link in
      let watcher = link.pointee.wire.pointee.watcher
      guard watcher.pointee.flags.contains(.lazy), watcher.pointee.slot != nil else { return }
      if let name, slot.pointee.isEvery, link.wholeName != name { return }
      dependents[watcher.pointee.id] = watcher
    }
    return dependents.values.sorted { $0.pointee.id < $1.pointee.id }
  }

  func forEachTrackedLink(of lazy: WatcherRef, _ body: (LinkRef) -> Void) {
    guard let wire = lazy.pointee.wires, wire.pointee.isTracking else { return }
    var link = wire.pointee.top
    while let current = link {
      link = current.pointee.sibling
      body(current)
    }
  }
}

extension SlotRef {
  /// The links of watchers and lazy properties, not those of the debugger.
  func forEachLinkOfAny(_ body: (LinkRef) -> Void) {
    var link = pointee.first
    while let current = link {
      link = current.pointee.next
      if !current.pointee.wire.pointee.watcher.pointee.flags.contains(.probing) { body(current) }
    }
  }
}

extension LinkRef {
  /// The links one step further.
  func forEachChild(_ body: (LinkRef) -> Void) {
    var child = pointee.child
    while let current = child {
      child = current.pointee.sibling
      body(current)
    }
  }
}
