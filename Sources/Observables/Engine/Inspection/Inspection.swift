/// Answers questions of tools about the graph.
package struct Inspection: Room {
  package let rooms: Rooms

  /// Whether an object lies on a path of a watcher or lazy property for which `isMeant` is true.
  ///
  /// - Complexity: O(links on the object).
  package func hasLink(on node: NodeRef, where isMeant: (WatcherRef) -> Bool) -> Bool {
    var isFound = false
    node.forEachSlot { slot in
      slot.forEachLinkOfAny { if isMeant($0.pointee.wire.pointee.watcher) { isFound = true } }
    }
    return isFound
  }

  /// The paths of a watcher, in the order they were added.
  package func paths(of watcher: WatcherRef) -> [Path] {
    var paths: [Path] = []
    wiring.forEachWire(of: watcher) { paths.append($0.pointee.path.takeUnretainedValue()) }
    return paths
  }

  /// The component at which a path of the watcher stops short, because there is no object.
  func firstUnreachable(of watcher: WatcherRef) -> String? {
    var end: String?
    if !wiring.rewire(watcher) { return nil }
    wiring.forEachWire(of: watcher) { wire in
      guard end == nil, var link = wire.pointee.top else { return }
      while let next = link.onward { link = next }
      if link.pointee.isTerminal { return }
      let path = wire.pointee.path.takeUnretainedValue()
      let step = Int(link.pointee.step)
      // If there is an object at the link, the next component leads nowhere.
      if let node = link.pointee.slot?.pointee.node, !node.isDead, link.state == nil,
        case .node = wiring.child(of: link, on: node, step, path)
      {
        end = path.steps[step + 1].description
      } else {
        end = path.steps[step].description
      }
    }
    return end
  }

  /// The observed keys of `node`, in no order.
  ///
  /// - Complexity: O(keys); O(paths) for keys through a whole object, or with watchers.
  package func observedKeys(of node: NodeRef, withWatchers: Bool = false) -> [ObservedKey] {
    var keys: [ObservedKey] = []
    node.forEachSlot { slot in
      guard slot.pointee.count > 0 else { return }
      if !slot.pointee.isEvery, !withWatchers {
        keys.append(ObservedKey(slot: slot, name: nil, count: Int(slot.pointee.count)))
        return
      }
      var places: [String?: Int] = [:]
      slot.forEachLink { link in
        let wire = link.pointee.wire
        let name = slot.pointee.isEvery ? link.wholeName : nil
        let place = places[name] ?? keys.count
        places[name] = place
        if place == keys.count { keys.append(ObservedKey(slot: slot, name: name)) }
        keys[place].count += 1
        if withWatchers {
          keys[place].watchers.append(
            (wire.pointee.watcher, wire.pointee.path.takeUnretainedValue()))
        }
      }
    }
    return keys
  }

  /// A lazy property on the paths of a watcher that could not be computed.
  func failedLazy(of watcher: WatcherRef) -> WatcherRef? {
    var failed: WatcherRef?
    wiring.forEachWire(of: watcher) { wire in
      if failed != nil { return }
      failed = wire.links.lazy.compactMap { $0.pointee.slot?.pointee.lazy }.first {
        $0.pointee.status == .failed
      }
    }
    return failed
  }
}

/// One key of an object, as tools name it.
package struct ObservedKey {
  package let slot: SlotRef
  /// The name in the slot of a whole object: "*", "@count", "4"; nil for a slot with a key.
  package let name: String?
  /// How many paths pass through it.
  package var count = 0
  /// The watchers of the key; empty if they were not requested.
  package var watchers: [(watcher: WatcherRef, path: Path)] = []
}

extension SlotRef {
  /// Calls `body` for the links of watchers that count as observers, earliest first.
  func forEachLink(_ body: (LinkRef) -> Void) {
    pointee.node.engine.records.forEach(from: pointee.links.first) { link in
      let watcher = link.pointee.wire.pointee.watcher
      if !watcher.pointee.isUncounted, !link.isOfTree { body(link) }
    }
  }
}

extension LinkRef {
  /// The name of the part of a whole object that the link observes.
  var wholeName: String {
    if pointee.wire.pointee.use == .tracking { return isOfCount ? "@count" : "*" }
    switch kind {
    case .element: return component.description
    case .operation:
      guard component.operation?.isAggregate == true else { return component.description }
      // The components after an operator belong to its name.
      let path = pointee.wire.pointee.path.takeUnretainedValue()
      return path.components[Int(pointee.step)...].map(\.description).joined(separator: ".")
    case .name where state == nil: return component.description
    default: return "*"
    }
  }
}
