/// Steps to many objects: wildcards, names over a collection (C8) and operators.
///
/// Each step has one chain of links for each object below it. If the kind keeps a journal of its
/// members, an update costs as much as its changes, not the size of the collection.
package struct Members: Room {
  package let rooms: Rooms

  struct State {
    /// Objects that become leaves for `**` with the next flush.
    fileprivate var opaqueNodes: [NodeRef] = []
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.members) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.members)
    }
  }

  /// Gives a link to a whole object its state; called before the link is in its slot.
  func prepare(_ link: LinkRef, of path: Path, isSpread: Bool, in slot: SlotRef) {
    let step = Int(link.pointee.step)
    let node = slot.pointee.node
    if step >= path.aggregateStep { link.pointee.effect = .stale }
    guard slot.pointee.isEvery else { return }
    let component = path.steps[step]
    if component.kind == .deep {
      link.adopt(.leaf)
      link.pointee.effect = [.stale, .objects]
      return
    }
    if isSpread {
      link.adopt(LinkState(.spread))
    } else if component.kind == .every, link.pointee.wire.pointee.use == .editing {
      link.adopt(LinkState(.edits))
      link.pointee.effect = .dirty
    } else if component.kind == .every, step >= path.components.count, path.hasOperators {
      link.adopt(LinkState(.feed))
    } else if component.kind == .every, !link.pointee.isTerminal {
      link.adopt(LinkState(.wildcard))
    } else if let operation = component.operation, operation.isAggregate {
      link.adopt(LinkState(.aggregate, operation))
    } else if let operation = component.operation, operation != .count {
      let state = LinkState(.end, operation)
      state.operating!.delivered =
        node.kind.element(atEnd: operation == .last, of: node)?.value ?? .none
      link.adopt(state)
      // Below an operator the link is one step of a computation, and keeps its effect.
      if step < path.aggregateStep {
        link.pointee.effect = link.pointee.isTerminal ? .dirty : [.dirty, .stale]
      }
    } else if let value = node.kind.derivedValue(component, of: node) {
      link.pointee.size = value
      if step < path.aggregateStep { link.pointee.effect = .dirty }
    } else if link.pointee.isTerminal, component.kind == .every {
      // Only later values of lazy properties count as changes.
      link.pointee.version = lazies.lastVersion
    }
    if let state = link.state, state.role != .end { beginReading(state, of: node) }
  }

  /// Fills a link with the members of `node`; returns the objects to continue with.
  func open(_ link: LinkRef, on node: NodeRef) -> [NodeRef] {
    let state = link.state!
    if state.role == .deep { return openDeep(link, on: node) }
    var children: [NodeRef] = []
    let payer = link.pointee.wire.chargedReceiver
    node.kind.forEachMember(node, in: state.scope) { member in
      if link.pointee.isTerminal {
        add(member.value, 1, to: state)
      } else if let child = member.node {
        if let known = state.members[child] {
          state.members[child] = FanMember(count: known.count + 1)
        } else if !child.isDead {
          state.members[child] = FanMember(count: 1)
          children.append(child)
        }
      } else {
        addOther(1, to: state)
      }
      return !wiring.isRefused(payer)
    }
    wiring.chargeMembers(of: link, state)
    return children
  }

  /// Follows changes to the members of a link's object.
  ///
  /// If memory or time is refused, the state may stay incomplete, because the watcher then gives up
  /// its links (`Wiring.exhausted`).
  func update(_ link: LinkRef, _ state: LinkState, on node: NodeRef) {
    if state.role == .edits { return }
    if state.role == .deep, node.kind.isOpaque(node) { return }
    var state = state
    if state === LinkState.leaf {
      state = LinkState(.deep)
      link.adopt(state)
    }
    let payer = link.pointee.wire.chargedReceiver
    let changes = changes(for: link, state, on: node, payer)
    var net: [(child: NodeRef, count: Int)] = []
    // Where each object is in `net`; for a few changes, a search is faster.
    var places: [NodeRef: Int] = [:]
    let isShort = changes.count <= 8
    for (member, count) in changes {
      if wiring.isRefused(payer) { return }
      if link.pointee.isTerminal {
        change(link, state, by: member.value, count)
      } else if let child = member.node {
        if let place = isShort ? net.firstIndex(where: { $0.child == child }) : places[child] {
          net[place].count += count
        } else {
          if !isShort { places[child] = net.count }
          net.append((child, count))
        }
      } else {
        addOther(count, to: state)
      }
    }
    // Removes departed objects first: new ones may need their places.
    for isDeparture in [true, false] {
      for (child, count) in net where count != 0 && (count < 0) == isDeparture {
        if wiring.isRefused(payer) { return }
        change(child, by: count, below: link)
      }
    }
    if state.role == .aggregate {
      aggregateChanged(link)
    } else if state.role == .feed {
      forEachOwner(of: link) { aggregateChanged($0.link) }
    } else if state.role == .deep, !link.pointee.isDead {
      // Without a journal, all members were looked at.
      readJournal(state, of: node, ifLong: changes.count)
    }
    if !link.pointee.isDead { wiring.chargeMembers(of: link, state) }
  }

  /// Notes that a member came (`count` above 0) or left that the rest of the path cannot follow.
  private func addOther(_ count: Int, to state: LinkState) {
    state.otherCount += count
    add(.none, count, to: state)
  }

  /// The members that came (above 0) or left, or all old and new members if no journal covers the
  /// changes.
  private func changes(
    for link: LinkRef, _ state: LinkState, on node: NodeRef, _ payer: ObservationCore.Receiver?
  ) -> [(member: Member, count: Int)] {
    var changes: [(member: Member, count: Int)] = []
    let isJournaled = node.isJournaledNow && (state.role != .deep || state.isReading)
    if !isJournaled || node.kind.hasEdits(node, since: state.cursor) {
      forEachOrderedUnion(of: link, state) { $0.operating?.aggregate?.noteOrder() }
    }
    let end = isJournaled ? node.kind.journalEnd(of: node) : 0
    let isKnown =
      isJournaled && !isRebuilt(link, state, on: node, changes: end - state.cursor)
      && node.kind.forEachMemberChange(node, in: state.scope, since: state.cursor) {
        changes.append(($0, $1))
        return !wiring.isRefused(payer)
      }
    state.cursor = end
    nodes.noteJournal(of: node)
    if isKnown { return changes }
    changes = []
    if link.pointee.isTerminal { state.operating?.aggregate?.removeAll() }
    changes.append((Member(value: .none, node: nil), -state.otherCount))
    for (child, member) in state.members {
      changes.append((Member(value: .none, node: child), -member.count))
    }
    for (value, count) in state.operating?.values ?? [:] {
      changes.append((Member(value: value, node: nil), -count))
    }
    node.kind.forEachMember(node, in: state.scope) {
      changes.append(($0, 1))
      return !wiring.isRefused(payer)
    }
    return changes
  }

  /// Whether to compute an operator on values anew: at least as many values have changed as there
  /// are, so reading all of them takes less time.
  private func isRebuilt(
    _ link: LinkRef, _ state: LinkState, on node: NodeRef, changes: Int
  ) -> Bool {
    guard link.pointee.isTerminal, state.role == .aggregate,
      let count = node.kind.derivedValue(Members.count, of: node)
    else { return false }
    return changes >= count
  }

  private static let count = Path.Component(kind: .operation, bytes: Array("count".utf8))

  /// Changes by `count` how often an object occurs below a link.
  private func change(_ child: NodeRef, by count: Int, below link: LinkRef) {
    guard let state = link.state else { return }
    let known = state.members[child]?.count ?? 0
    if known == 0 {
      if count <= 0 || child.isDead { return }
      if state.role == .deep, child.kind.isOpaque(child) {
        link.pointee.wire.pointee.hasOthers = true
        return
      }
      state.members[child] = FanMember(count: 0)
      wiring.attachLeniently(
        link.pointee.wire, step: Int(link.pointee.step) + (state.staysAtStep ? 0 : 1),
        to: child, below: link)
      // Making links may run code of the program.
      guard link.state === state, state.members[child] != nil else { return }
      if state.role == .aggregate {
        state.members[child]!.contribution = contribution(of: state.members[child]!.link)
      }
    }
    if known + count <= 0 {
      if let first = state.members[child]?.link {
        wiring.detach(first, from: link)
      } else {
        withdraw(child, from: state)
      }
      return
    }
    var member = state.members[child]!
    member.count = known + count
    state.members[child] = member
    apply(member, count, to: state)
  }

  // MARK: Journals

  func beginReading(_ state: LinkState, of node: NodeRef) {
    if node.pointee.journalReaders == 0 {
      node.pointee.isJournaled = node.kind.beginJournal(of: node)
    }
    node.pointee.journalReaders += 1
    state.cursor = node.pointee.isJournaled ? node.kind.journalEnd(of: node) : 0
  }

  func endReading(_ state: LinkState, of node: NodeRef) {
    guard state.readsJournal else { return }
    node.pointee.journalReaders -= 1
    if node.pointee.journalReaders > 0 { return nodes.noteJournal(of: node) }
    if !node.pointee.isJournaled { return }
    node.pointee.isJournaled = false
    if !node.isDead { node.kind.endJournal(of: node) }
  }

  // MARK: Opaque objects

  /// Makes the object of `node` a leaf for `**`, with the next flush.
  package func noteOpaque(_ node: NodeRef) { state.opaqueNodes.append(node) }

  /// Whether any objects become leaves for `**` in the next flush.
  var hasNotedOpaque: Bool { !state.opaqueNodes.isEmpty }

  /// Forgets an object that was noted and is gone.
  func forgetOpaque(_ node: NodeRef) {
    if !state.opaqueNodes.isEmpty { state.opaqueNodes.removeAll { $0 == node } }
  }

  /// Removes the links of objects that have become opaque.
  ///
  /// If `**` begins at such an object, only its own level is watched from now on.
  func leaveOpaqueNodes() {
    let nodes = state.opaqueNodes
    if nodes.isEmpty { return }
    state.opaqueNodes = []
    records.hold {
      for node in nodes where !node.isDead {
        var links: [LinkRef] = []
        records.forEach(from: node.pointee.every?.pointee.links.first) { link in
          if link.isDeep { links.append(link) }
        }
        let wires = links.map(\.pointee.wire)
        for link in links where !link.pointee.isDead { leave(link) }
        // The program has asked for this, so it is no change.
        for wire in wires { _ = wire.routes?.takeMoves() }
      }
    }
  }
}

extension NodeRef {
  /// Whether the kind of the node keeps a journal of its members.
  var isJournaledNow: Bool { pointee.isJournaled && !isDead }
}

extension LinkRef {
  func adopt(_ state: LinkState) {
    pointee.state?.release()
    pointee.state = .passRetained(state)
  }
}
