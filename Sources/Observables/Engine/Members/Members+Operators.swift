/// Collection operators (C9): the contribution of each member is kept, so one change costs one
/// subtraction and one addition, however large the collection.
extension Members {
  /// Computes a new operator, or a new collection that feeds one, from its members.
  func complete(_ link: LinkRef) {
    guard let state = link.state else { return }
    state.operating!.isComplete = true
    if state.role == .feed {
      // An operator that is itself new takes the value when it is completed.
      forEachOwner(of: link) { owner in
        noteOrder(of: owner.link)
        for (value, count) in state.operating!.values { add(value, count, to: owner) }
      }
      return
    }
    let payer = link.pointee.wire.chargedReceiver
    for (node, member) in state.members {
      if wiring.isRefused(payer) { return }
      let contribution = contribution(of: member.link)
      state.members[node]!.contribution = contribution
      apply(state.members[node]!, member.count, to: state)
    }
    state.operating!.aggregate!.begin()
    if isOutermost(link) {
      reportFailure(of: link)
      _ = isSameUnion(link, state)
    }
  }

  /// The contribution of a chain below an operator: the value at its end.
  func contribution(of link: LinkRef?) -> Operand {
    var next = link
    while let link = next {
      guard let node = link.pointee.slot?.pointee.node, !node.isDead else { return .none }
      let path = link.pointee.wire.pointee.path._withUnsafeGuaranteedRef { $0 }
      if let state = link.state {
        switch state.role {
        case .aggregate: return Operand(state.operating!.aggregate!.value)
        case .feed, .edits: return .none
        case .wildcard, .deep, .spread: return .opaque(type: "list of values")
        case .end:
          if link.pointee.isTerminal {
            return node.kind.element(atEnd: state.operating?.operation == .last, of: node)?.value
              ?? .none
          }
        }
      } else if link.pointee.isTerminal {
        let step = Int(link.pointee.step)
        if let size = node.kind.derivedValue(path.steps[step], of: node) { return .integer(size) }
        return node.kind.operand(node, at: step, of: path)
      }
      next = link.onward
    }
    return .none
  }

  /// Updates the operators above `link`, as a value between an operator and its operands changed.
  func contributionChanged(at link: LinkRef) {
    // Operators nest, and one object may be a member of several operators.
    var changed = [link]
    while let below = changed.popLast() {
      forEachOwner(of: below) { owner in
        guard let state = owner.link.state, let node = owner.child.pointee.slot?.pointee.node
        else { return }
        if state.operating!.operation!.isUnionOfCollections { return aggregateChanged(owner.link) }
        let contribution = contribution(of: owner.child)
        // Reading the contribution may have run code of the program.
        guard let member = state.members[node], contribution != member.contribution else { return }
        state.add(member.contribution, -member.count)
        state.add(contribution, member.count)
        state.members[node]!.contribution = contribution
        noteOrder(of: owner.link)
        if isOutermost(owner.link) {
          wiring.markDirty(owner.link)
        } else {
          changed.append(owner.link)
        }
      }
    }
  }

  /// Notes that a part of an operator has other values, which may be the same values in another
  /// order.
  private func noteOrder(of link: LinkRef) {
    guard let state = link.state, state.operating?.operation?.keepsOrder == true else { return }
    state.operating?.aggregate?.noteOrder()
  }

  /// Notes that the members of an operator changed.
  func aggregateChanged(_ link: LinkRef) {
    if isOutermost(link) { wiring.markDirty(link) } else { contributionChanged(at: link) }
  }

  private func isOutermost(_ link: LinkRef) -> Bool {
    link.pointee.wire.pointee.path._withUnsafeGuaranteedRef {
      Int(link.pointee.step) == $0.aggregateStep
    }
  }

  struct Owner {
    /// The operator that a link contributes to, the first link of the chain, and its member entry.
    let link: LinkRef
    let child: LinkRef
    let member: FanMember
  }

  /// Calls `body` for the nearest operators above a link: one, unless several routes lead to the
  /// link.
  func forEachOwner(of link: LinkRef, _ body: (Owner) -> Void) {
    guard link.routes != nil else {
      var child = link
      while let parent = child.pointee.parent {
        if let owner = owner(parent, of: child) { return body(owner) }
        child = parent
      }
      return
    }
    var (waiting, seen) = ([link], Set([link]))
    var owners: [Owner] = []
    while let child = waiting.popLast() {
      child.forEachParent { parent in
        if let owner = owner(parent, of: child) {
          owners.append(owner)
        } else if seen.insert(parent).inserted {
          waiting.append(parent)
        }
      }
    }
    for owner in owners where !owner.link.pointee.isDead { body(owner) }
  }

  /// The owner, if `parent` is an operator and `child` begins the chain of one of its members.
  private func owner(_ parent: LinkRef, of child: LinkRef) -> Owner? {
    guard let state = parent.state, state.role == .aggregate,
      let node = child.pointee.slot?.pointee.node, let member = state.members[node]
    else { return nil }
    return Owner(link: parent, child: child, member: member)
  }

  // MARK: Members

  /// Adds (`count` above 0) or removes members without links.
  func add(_ value: Operand, _ count: Int, to state: LinkState) {
    if state.role == .feed {
      let sum = (state.operating!.values[value] ?? 0) + count
      state.operating!.values[value] = sum == 0 ? nil : sum
    } else {
      state.add(value, count)
    }
  }

  /// Changes how often a value is in the state of a link; a feed passes this on to its operators.
  func change(_ link: LinkRef, _ state: LinkState, by value: Operand, _ count: Int) {
    add(value, count, to: state)
    if state.role == .feed { forEachOwner(of: link) { add(value, count, to: $0) } }
  }

  /// Adds a value to an operator, `count` times, from a collection below one of its members.
  private func add(_ value: Operand, _ count: Int, to owner: Owner) {
    guard let operation = owner.link.state, operation.operating?.isComplete == true else { return }
    operation.add(value, count * owner.member.count)
  }

  /// Changes by `count` how often a member occurs in an operator.
  func apply(_ member: FanMember, _ count: Int, to state: LinkState) {
    guard let operation = state.operating?.operation else { return }
    if !operation.isUnionOfCollections {
      state.add(member.contribution, count)
    } else if let feed = feed(below: member.link) {
      for (value, times) in feed.operating!.values { state.add(value, times * count) }
    }
  }

  /// The state of the collection at the end of a chain below a union of collections.
  private func feed(below link: LinkRef?) -> LinkState? {
    var next = link
    while let link = next {
      if let state = link.state, state.role == .feed { return state }
      next = link.onward
    }
    return nil
  }

  /// Removes a member, with its contributions.
  func withdraw(_ child: NodeRef, from state: LinkState) {
    guard let member = state.members.removeValue(forKey: child) else { return }
    if state.operating?.isComplete == true { apply(member, -member.count, to: state) }
  }

  /// Takes back the contributions of `top` and its subtree through `parent`, before the link is
  /// cut.
  func withdraw(_ top: LinkRef, from parent: LinkRef) {
    if let state = parent.state, state.role != .end {
      if let node = top.pointee.slot?.pointee.node { withdraw(node, from: state) }
    } else {
      addFeed(below: top, through: parent, -1)
    }
  }

  /// Adds the contributions through `parent`, a new route to the existing link `top`.
  func gainFeed(of top: LinkRef, through parent: LinkRef) {
    addFeed(below: top, through: parent, 1)
  }

  private func addFeed(below top: LinkRef, through parent: LinkRef, _ count: Int) {
    let path = top.pointee.wire.pointee.path._withUnsafeGuaranteedRef { $0 }
    guard path.steps.count > path.components.count, Int(top.pointee.step) > path.aggregateStep,
      let feed = feed(below: top)
    else { return }
    forEachOwner(of: parent) { owner in
      noteOrder(of: owner.link)
      for (value, times) in feed.operating!.values { add(value, times * count, to: owner) }
    }
  }

  // MARK: Values

  /// Reads the derived values again and returns the first change.
  @inline(__always)
  func refreshDerived(_ watcher: WatcherRef) -> Dependents.Refreshed {
    var refreshed = Dependents.Refreshed()
    wiring.forEachWireWithWork(of: watcher) { wire in
      while let link = wiring.takeDirty(wire) {
        guard let change = derivedChange(at: link), refreshed.path == nil else { continue }
        refreshed = Dependents.Refreshed(
          path: wire.pointee.path.takeUnretainedValue(), lazy: change.lazy)
      }
    }
    return refreshed
  }

  func refreshDerived(_ link: LinkRef) -> Bool { derivedChange(at: link) != nil }

  /// A value at a link that differs from the last delivered one.
  private struct DerivedChange {
    /// The lazy property with this value; nil for an operator or a size.
    var lazy: WatcherID?
  }

  private func derivedChange(at link: LinkRef) -> DerivedChange? {
    guard let slot = link.pointee.slot, !slot.pointee.node.isDead else { return nil }
    if let lazy = slot.pointee.lazy {
      let name = lazy.identity
      return dependents.refreshLazy(link, lazy) ? DerivedChange(lazy: name) : nil
    }
    if link.state == nil, link.kind == .every {
      return dependents.changedLazy(at: link).map { DerivedChange(lazy: $0) }
    }
    return refreshComputed(link, on: slot.pointee.node) ? DerivedChange() : nil
  }

  /// Reads the value of an operator, or a size, again; true if it is a change to the watcher.
  private func refreshComputed(_ link: LinkRef, on node: NodeRef) -> Bool {
    guard let state = link.state else {
      guard let value = node.kind.derivedValue(link.component, of: node),
        value != link.pointee.size
      else { return false }
      let before = link.pointee.size
      link.pointee.size = value
      return isChange(from: before.map(Operand.integer) ?? .none, to: .integer(value), at: link) {
        link.pointee.size = before
      }
    }
    switch state.role {
    case .aggregate:
      let before = state.operating!.aggregate!.delivered
      // A dependent property has used the failure, which is not delivered to watchers (Z8).
      let isReader = link.pointee.wire.pointee.watcher.pointee.traits.contains(.lazy)
      guard state.operating!.aggregate!.takeChange(afterFailure: isReader),
        !reportFailure(of: link),
        !isSameUnion(link, state)
      else { return false }
      if case .failure = before { return true }
      return isChange(
        from: Operand(before), to: Operand(state.operating!.aggregate!.delivered), at: link
      ) {
        state.operating!.aggregate!.delivered = before
      }
    case .end:
      let value =
        node.kind.element(atEnd: state.operating?.operation == .last, of: node)?.value ?? .none
      let before = state.operating!.delivered
      state.operating!.delivered = value
      if value.normalized == before.normalized { return false }
      return isChange(from: before, to: value, at: link) { state.operating!.delivered = before }
    case .edits:
      if node.kind.hasEdits(node, since: state.cursor) { return true }
      state.cursor = node.kind.journalEnd(of: node)
      nodes.noteJournal(of: node)
      return false
    case .wildcard, .deep, .spread, .feed:
      return false
    }
  }

  /// Whether a different value at a link is a change to its watcher, which may have its own
  /// comparison (`equals`).
  ///
  /// If the watcher regards both as equal, `keep` makes the last delivered value the one to compare
  /// with again.
  private func isChange(
    from before: Operand, to value: Operand, at link: LinkRef, keep: () -> Void
  ) -> Bool {
    let watcher = link.pointee.wire.pointee.watcher
    guard watcher.pointee.traits.contains(.comparing),
      !watcher.pointee.flags.contains(.comparingNow), before.isPlain, value.isPlain
    else { return true }
    watcher.pointee.flags.insert(.comparingNow)
    defer { watcher.pointee.flags.remove(.comparingNow) }
    let isEqual = watcher.pointee.receiver._withUnsafeGuaranteedRef {
      $0.isEqual(before, value, for: watcher)
    }
    guard !link.pointee.isDead, watcher.pointee.isActive else { return false }
    if isEqual { keep() }
    return !isEqual
  }

  /// Reports an operator that has no value because of an unsuitable element; the error names the
  /// element.
  ///
  /// If a lazy property depends on the operator, the property is computed instead, and its readers
  /// get the error (Z8).
  @discardableResult
  private func reportFailure(of link: LinkRef) -> Bool {
    let wire = link.pointee.wire
    guard wire.pointee.watcher.needsEachChange, let state = link.state,
      case .failure(let operand) = state.operating!.aggregate!.value
    else { return false }
    reports.report(
      .operand(
        watcher: watchers.title(wire.pointee.watcher),
        path: wire.pointee.path._withUnsafeGuaranteedRef { $0.description },
        operation: state.operating!.operation!, element: place(of: operand, below: link),
        value: operand.description))
    return true
  }

  /// The position of the first element that gives `operand`, counted from the kind's first index.
  private func place(of operand: Operand, below link: LinkRef) -> Int? {
    guard let node = link.pointee.slot?.pointee.node, let state = link.state else { return nil }
    var (index, found) = (node.kind.firstIndex, Int?.none)
    let payer = link.pointee.wire.chargedReceiver
    node.kind.forEachMember(node, in: .elements) { member in
      let value =
        link.pointee.isTerminal
        ? member.value : member.node.flatMap { state.members[$0]?.contribution } ?? .none
      if value == operand { found = index }
      index += 1
      return found == nil && !wiring.isRefused(payer)
    }
    return found
  }

  /// The value of an operator that is already observed; nil if it is not observed.
  ///
  /// `components` are the operator and the rest of the path.
  ///
  /// - Complexity: O(links of the whole object), and the changes since the last read.
  package func keptValue(
    of components: ArraySlice<Path.Component>, on node: NodeRef
  ) -> Aggregate.Value? {
    // Bringing one operator up to date may remove links of the other candidates, too.
    var candidates: [(watcher: WatcherID, wire: WireRef, state: LinkState)] = []
    forEachState(of: node) { link, state in
      let wire = link.pointee.wire
      let path = wire.pointee.path.takeUnretainedValue()
      if state.role == .aggregate,
        path.components[Int(link.pointee.step)...].elementsEqual(components)
      {
        candidates.append((wire.pointee.watcher.identity, wire, state))
      }
    }
    for (name, wire, state) in candidates {
      // Other paths of the watcher may lead to a property whose getter is running now.
      guard let watcher = watchers[name],
        !(computing.isUnderWay && watcher.hasWork(besides: wire)), dependents.follow(watcher)
      else { continue }
      var isThere = false
      forEachState(of: node) { if $1 === state { isThere = true } }
      if isThere { return state.operating!.aggregate!.value }
    }
    return nil
  }

  private func forEachState(of node: NodeRef, _ body: (LinkRef, LinkState) -> Void) {
    records.forEach(from: node.pointee.every?.pointee.links.first) { link in
      if let state = link.state { body(link, state) }
    }
  }
}

extension WatcherRef {
  fileprivate func hasWork(besides wire: WireRef) -> Bool {
    var next = pointee.wiresWithWork
    while let other = next {
      if other != wire, other.pointee.stale != nil || other.pointee.dirty != nil { return true }
      next = other.pointee.nextWithWork
    }
    return false
  }
}

extension LinkState {
  func add(_ value: Operand, _ count: Int) {
    if count > 0 {
      operating?.aggregate?.add(value, times: count)
    } else if count < 0 {
      operating?.aggregate?.remove(value, times: -count)
    }
  }
}

extension Operand {
  /// Makes an operand for another operator from an operator's value.
  package init(_ value: Aggregate.Value) {
    self =
      switch value {
      case .none: .none
      case .integer(let number): .integer(number)
      case .float(let number): .float(number)
      case .boolean(let value): .boolean(value)
      case .text(let bytes): .text(bytes)
      case .value(let value): .value(value)
      case .list: .opaque(type: "list")
      case .failure(let operand): .failed(operand)
      }
  }
}
