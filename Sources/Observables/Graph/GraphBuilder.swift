/// Finds everything connected with some objects: through keys that hold observed objects, through
/// watchers, and through lazy properties in both directions.
///
/// An object that was replaced in this turn is shown at the place where it is wired: nothing is
/// re-wired, and no getter runs. Everything is iterative. The order follows the search, names and
/// registrations, so the same program gives the same text.
struct GraphBuilder {
  let name: (SlotRef) -> String
  let firstIndex: Int
  /// The label of a watcher or lazy property whose details must be hidden, including where its
  /// paths lead; nil for all others.
  let stranger: (WatcherRef) -> String?
  /// Whether the graph is no longer needed, so that it can be left incomplete.
  let isStopped: () -> Bool
  var graph = ObservationGraph()

  private var found: [Found] = []
  private var indices: [NodeRef: Int] = [:]
  /// Watchers by their order of registration.
  private var watchers: [UInt64: WatcherRef] = [:]
  private var watcherIndices: [UInt64: Int] = [:]
  private var held: [(object: Int, key: String, child: Int)] = []

  private struct Found {
    let node: NodeRef
    let place: String?
    /// The object's known keys, and their positions in the graph.
    var keys: [String: ObservationGraph.LazyKey?] = [:]
    var keyIndices: [String: Int] = [:]
  }

  init(
    firstIndex: Int, naming name: @escaping (SlotRef) -> String,
    hiding stranger: @escaping (WatcherRef) -> String?, unless isStopped: @escaping () -> Bool
  ) {
    (self.firstIndex, self.name, self.stranger) = (firstIndex, name, stranger)
    self.isStopped = isStopped
    graph.isStopped = isStopped
  }

  /// Builds the graph of everything connected with `roots`.
  static func graph(
    of roots: [NodeRef], firstIndex: Int, naming name: @escaping (SlotRef) -> String,
    hiding stranger: @escaping (WatcherRef) -> String?, unless isStopped: @escaping () -> Bool
  ) -> ObservationGraph {
    var builder = GraphBuilder(
      firstIndex: firstIndex, naming: name, hiding: stranger, unless: isStopped)
    for root in roots { builder.include(root, place: "") }
    var position = 0
    while position < builder.found.count, !isStopped() {
      builder.search(builder.found[position].node, at: position)
      position += 1
    }
    if !isStopped() { builder.describeAll() }
    if !isStopped() { builder.connect() }
    return builder.graph
  }

  @discardableResult
  private mutating func include(_ node: NodeRef, place: String?) -> Int? {
    if let index = indices[node] { return index }
    if node.isDead { return nil }
    let index = found.count
    indices[node] = index
    found.append(Found(node: node, place: place))
    return index
  }

  private mutating func note(_ key: String, of object: Int, _ lazy: ObservationGraph.LazyKey? = nil)
  {
    if let known = found[object].keys[key], known != nil || lazy == nil { return }
    found[object].keys[key] = .some(lazy)
  }

  // MARK: Searching

  private mutating func search(_ node: NodeRef, at object: Int) {
    var found: [(key: String, slot: SlotRef, links: [LinkRef])] = []
    var users: [UInt64: WatcherRef] = [:]
    node.forEachSlot { slot in
      var links: [String: [LinkRef]] = [:]
      slot.forEachLinkOfAny { link in
        if isStopped() { return }
        links[slot.pointee.isEvery ? link.wholeName : "", default: []].append(link)
        let watcher = link.pointee.wire.pointee.watcher
        users[watcher.pointee.id] = watcher
      }
      if slot.pointee.isEvery {
        for (name, links) in links { found.append((name, slot, links)) }
      } else if !links.isEmpty || slot.pointee.lazy != nil {
        found.append((name(slot), slot, links[""] ?? []))
      }
    }
    for lazy in node.kind.unknownLazies(of: node) {
      note(lazy.name, of: object, .init(state: lazy.isValid ? .valid : .invalid))
    }
    let members = found.first { $0.slot.pointee.isEvery }.map { stored(at: $0.slot) } ?? []
    let elements = Dictionary(grouping: members) { $0.key }
    for (key, slot, links) in found.sorted(by: { $0.key < $1.key }) {
      note(key, of: object, slot.pointee.lazy.map(lazyKey))
      let isElement = links.contains(where: \.isAnchored)
      let objects =
        !slot.pointee.isEvery ? stored(at: slot) : isElement ? elements[key] ?? [] : members
      hold(objects, at: key, links, of: object)
      if let lazy = slot.pointee.lazy { users[lazy.pointee.id] = lazy }
    }
    node.engine.watchers.forEach(of: node) { watcher in
      if !watcher.pointee.traits.contains(.probing) { users[watcher.pointee.id] = watcher }
    }
    for (_, watcher) in users.sorted(by: { $0.key < $1.key }) {
      if isStopped() { return }
      follow(watcher)
    }
  }

  private func lazyKey(_ lazy: WatcherRef) -> ObservationGraph.LazyKey {
    let key = ObservationGraph.LazyKey(lazy)
    return stranger(lazy) == nil ? key : .init(state: key.state)
  }

  private func stored(at slot: SlotRef) -> [(key: String?, node: NodeRef)] {
    slot.pointee.node.kind.observedObjects(at: slot, firstIndex: firstIndex)
      .sorted { $0.key ?? "" < $1.key ?? "" }
  }

  /// Adds the objects stored at a key, and the objects to which paths lead from there through
  /// `links`.
  private mutating func hold(
    _ stored: [(key: String?, node: NodeRef)], at key: String, _ links: [LinkRef],
    of object: Int
  ) {
    let home = found[object].place
    func place(_ key: String) -> String? {
      // Only the end of a long name is kept: in a chain of objects, names would grow without limit.
      home.map { $0.isEmpty ? key : $0.utf8.count > 60 ? "….\(key)" : "\($0).\(key)" }
    }
    for (member, node) in stored {
      guard !isStopped(), let child = include(node, place: place(member ?? key)) else { continue }
      held.append((object, key, child))
    }
    for link in links where !isStopped() {
      let wire = link.pointee.wire
      if wire.pointee.use == .tracking || stranger(wire.pointee.watcher) != nil { continue }
      var children: [LinkRef] = []
      link.appendChildren(to: &children)
      for below in children {
        let isWhole = link.pointee.slot?.pointee.isEvery == true
        guard let node = below.node, let child = include(node, place: isWhole ? nil : place(key))
        else { continue }
        held.append((object, key, child))
      }
    }
  }

  /// Adds the objects to which a watcher or a lazy property leads.
  private mutating func follow(_ watcher: WatcherRef) {
    if stranger(watcher) != nil {
      if !watcher.pointee.traits.contains(.lazy) { watchers[watcher.pointee.id] = watcher }
      return
    }
    guard let root = watcher.pointee.root, !root.isDead, let home = include(root, place: nil) else {
      return
    }
    if watcher.pointee.traits.contains(.lazy) {
      for declared in watcher.unwiredDependencies {
        let object = declared.isForeign ? declared.root.flatMap { include($0, place: nil) } : home
        if let object { note(declared.path.steps[0].description, of: object) }
      }
    } else if watchers.updateValue(watcher, forKey: watcher.pointee.id) != nil {
      return
    }
    root.engine.inspection.forEachTrackedLink(of: watcher) { link in
      if let node = link.node { include(node, place: nil) }
    }
    root.engine.wiring.forEachWire(of: watcher) { wire in
      if let node = wire.pointee.top?.node { include(node, place: nil) }
    }
  }

  // MARK: Writing down

  private mutating func describeAll() {
    for (index, object) in found.enumerated() {
      if isStopped() { return }
      let names = object.keys.keys.sorted()
      found[index].keyIndices = Dictionary(uniqueKeysWithValues: zip(names, names.indices))
      graph.objects.append(
        .init(
          type: object.node.kind.title(of: object.node), place: object.place,
          keys: names.map { .init(name: $0, lazy: object.keys[$0] ?? nil) }))
    }
    for (id, watcher) in watchers.sorted(by: { $0.key < $1.key }) {
      if isStopped() { return }
      watcherIndices[id] = graph.watchers.count
      if let stranger = stranger(watcher) {
        graph.watchers.append(.init(name: stranger, site: nil, notes: []))
        continue
      }
      let (name, site) = watcher.pointee.receiver.takeUnretainedValue().label(watcher)
      graph.watchers.append(.init(name: name, site: site, notes: watcher.notes))
    }
  }

  private mutating func connect() {
    var known: Set<ObservationGraph.Edge> = []
    func add(_ edge: ObservationGraph.Edge) {
      if known.insert(edge).inserted { graph.edges.append(edge) }
    }
    for (id, watcher) in watchers.sorted(by: { $0.key < $1.key }) {
      if isStopped() { return }
      edges(from: .watcher(watcherIndices[id]!), .watches, watcher).forEach(add)
    }
    for (object, node) in found.map(\.node).enumerated() {
      if isStopped() { return }
      for lazy in node.engine.lazies.all(of: node) {
        guard stranger(lazy) == nil, let slot = lazy.slot, let key = end(object, name(slot))
        else { continue }
        edges(from: key, .depends, lazy).forEach(add)
      }
    }
    let places = held.map { ($0.object, found[$0.object].keyIndices[$0.key]!, $0.child) }
    for (object, key, child) in places.sorted(by: <) {
      if isStopped() { return }
      add(
        .init(
          kind: .holds, from: .key(object: object, key: key), to: .object(child), path: nil,
          isWhole: true))
    }
  }

  private func end(_ object: Int, _ key: String) -> ObservationGraph.End? {
    found[object].keyIndices[key].map { .key(object: object, key: $0) }
  }

  /// The edges from a watcher or a lazy property to the ends of its paths.
  private func edges(
    from end: ObservationGraph.End, _ kind: ObservationGraph.Edge.Kind, _ watcher: WatcherRef
  ) -> [ObservationGraph.Edge] {
    var edges: [ObservationGraph.Edge] = []
    func add(_ target: ObservationGraph.End?, _ path: String, isWhole: Bool) {
      guard let target else { return }
      edges.append(.init(kind: kind, from: end, to: target, path: path, isWhole: isWhole))
    }
    func target(_ link: LinkRef) -> (object: Int, key: Int)? {
      guard let slot = link.pointee.slot, let object = indices[slot.pointee.node],
        let key = found[object].keyIndices[slot.pointee.isEvery ? link.wholeName : name(slot)]
      else { return nil }
      return (object, key)
    }
    for declared in watcher.unwiredDependencies {
      let root = declared.isForeign ? declared.root : watcher.pointee.root
      guard let object = root.flatMap({ indices[$0] }) else { continue }
      add(
        self.end(object, declared.path.steps[0].description), declared.path.description,
        isWhole: false)
    }
    watcher.pointee.root?.engine.wiring.forEachWire(of: watcher) { current in
      if current.pointee.use == .tracking { return }
      let path = current.pointee.path.takeUnretainedValue()
      guard let top = current.pointee.top else {
        let root = watcher.pointee.root.flatMap { indices[$0] }
        add(root.map { .object($0) }, path.description, isWhole: false)
        return
      }
      let ends = leaves(below: top, path).compactMap { leaf in
        target(leaf.link).map { ($0.object, $0.key, leaf.isWhole) }
      }
      for (object, key, isWhole) in ends.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
        add(.key(object: object, key: key), path.description, isWhole: isWhole)
      }
    }
    watcher.pointee.root?.engine.inspection.forEachTrackedLink(of: watcher) { link in
      guard let (object, key) = target(link) else { return }
      add(.key(object: object, key: key), graph.objects[object].keys[key].name, isWhole: true)
    }
    return edges
  }

  /// The links at which the chains of a path end; an operator counts as an end, whatever its
  /// members are.
  private func leaves(below top: LinkRef, _ path: Path) -> [(link: LinkRef, isWhole: Bool)] {
    var leaves: [(link: LinkRef, isWhole: Bool)] = []
    var waiting = [top]
    while let link = waiting.popLast() {
      let isOperator = Int(link.pointee.step) == path.aggregateStep
      if isOperator || link.isLast {
        leaves.append((link, isOperator || link.pointee.isTerminal || link.state != nil))
      } else {
        link.appendChildren(to: &waiting)
      }
    }
    return leaves
  }
}

extension WatcherRef {
  /// The declared dependencies of a lazy property whose links are not made yet.
  fileprivate var unwiredDependencies: [DeclaredDependency] {
    guard pointee.traits.contains(.lazy), !isWired else {
      return []
    }
    return pointee.receiver.takeUnretainedValue().dependencies(of: self)
  }
}
