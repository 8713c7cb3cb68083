/// Unions that keep the order of their members: `@unionOfObjects` and `@unionOfArrays`.
extension Members {
  /// Calls `body` for the operators whose value is a list in the order of these members.
  func forEachOrderedUnion(of link: LinkRef, _ state: LinkState, _ body: (LinkState) -> Void) {
    func visit(_ state: LinkState?) {
      guard let state, let operation = state.operating?.operation, operation.keepsOrder else {
        return
      }
      body(state)
    }
    if state.role == .feed { forEachOwner(of: link) { visit($0.link.state) } } else { visit(state) }
  }

  /// Whether a union in order whose parts moved is still the same list; only short lists are
  /// compared.
  func isSameUnion(_ link: LinkRef, _ state: LinkState) -> Bool {
    guard state.operating?.operation?.keepsOrder == true else { return false }
    let values = shortUnion(of: link, state)
    defer { state.operating!.deliveredUnion = values }
    return values != nil && values == state.operating!.deliveredUnion
  }

  /// The values of a union in order; nil if there are many.
  private func shortUnion(of link: LinkRef, _ state: LinkState) -> [Operand]? {
    guard let node = link.pointee.slot?.pointee.node, !node.isDead else { return nil }
    let limit = 100
    var values: [Operand] = []
    var count = 0
    func add(_ value: Operand) {
      count += 1
      if value != .none, count <= limit { values.append(value.normalized) }
    }
    node.kind.forEachMember(node, in: state.scope) { member in
      if link.pointee.isTerminal {
        add(member.value)
      } else if let known = member.node.flatMap({ state.members[$0] }) {
        if state.operating!.operation!.isUnionOfCollections {
          count += 1
          forEachFed(below: known.link) { value in
            add(value)
            return count <= limit
          }
        } else {
          add(known.contribution)
        }
      }
      return count <= limit
    }
    return count <= limit ? values : nil
  }

  private func forEachFed(below link: LinkRef?, _ visit: (Operand) -> Bool) {
    var next = link
    while let link = next {
      if let state = link.state, state.role == .feed, let node = link.pointee.slot?.pointee.node,
        !node.isDead
      {
        node.kind.forEachMember(node, in: state.scope) { visit($0.value) }
        return
      }
      next = link.onward
    }
  }
}
