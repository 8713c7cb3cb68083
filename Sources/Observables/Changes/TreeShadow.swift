/// The objects below a root as they were at the last delivery.
///
/// Each object is watched, so that only those are compared that were written since.
final class TreeShadow: TransactionWitness {
  let engine: Engine
  private var reader = TreeReader()
  private var walk: TreeWalk
  private var dirty: [TreeEntry] = []
  private var isDirty: Set<TreeEntry> = []
  private var signals: [TreeEntry: WatcherID] = [:]
  private var receiver: TreeSignals!
  /// Called when something was written, first since the last delivery.
  private let onWrite: () -> Void

  init(of root: AnyObject, in engine: Engine, onWrite: @escaping () -> Void) throws {
    (self.engine, self.onWrite) = (engine, onWrite)
    walk = TreeWalk(from: reader.entry(of: root).entry) { _ in TreeContents(shape: .set) }
    receiver = TreeSignals { [unowned self] in written($0) }
    var read: Set<TreeEntry> = []
    walk = TreeWalk(from: walk.root) { [self] entry in
      if read.insert(entry).inserted, let object = entry.object {
        entry.contents = reader.contents(of: object)
      }
      return entry.contents
    }
    for entry in walk.order { try watch(entry) }
    engine.transactions.note(self)
  }

  deinit { stop() }

  /// Ends all watching.
  func stop() {
    for signal in signals.values {
      if let watcher = engine.watchers[signal] { engine.watchers.stop(watcher) }
    }
    signals = [:]
    // Entries of objects that hold each other do so, too.
    for entry in walk.order { entry.contents = TreeContents(shape: .set) }
    (dirty, isDirty) = ([], [])
  }

  private func watch(_ entry: TreeEntry) throws {
    guard signals[entry] == nil, let object = entry.object else { return }
    guard case .node(let node) = observedNode(of: object, in: engine) else {
      engine.wiring.hasMetForeign = false
      throw PathError(.otherLoop, path: "**", component: 1)
    }
    let watcher = engine.watchers.make(
      root: node, receiver: receiver, traits: [.immediate, .atOnce])
    signals[entry] = watcher.identity
    try engine.wiring.add([Path.everything], to: watcher)
  }

  private func written(_ object: AnyObject) {
    guard let entry = reader.known(object), isDirty.insert(entry).inserted else { return }
    dirty.append(entry)
    if dirty.count == 1 { onWrite() }
  }

  /// What was written since the last delivery: both states, and the objects to be compared.
  struct Taken {
    let before: TreeDifference.Side
    let after: TreeDifference.Side
    let entries: [TreeEntry]
    fileprivate let fresh: [TreeEntry: TreeContents]
  }

  /// What was written since the last delivery; nil where that is nothing.
  func take() -> Taken? {
    guard !dirty.isEmpty else { return nil }
    var fresh: [TreeEntry: TreeContents] = [:]
    var entries = dirty
    (dirty, isDirty) = ([], [])
    entries.removeAll { !walk.contains($0) }
    var isSameGraph = true
    for entry in entries {
      guard let object = entry.object else { continue }
      let contents = reader.contents(of: object)
      fresh[entry] = contents
      isSameGraph = isSameGraph && entry.contents.hasSameObjects(as: contents)
    }
    if isSameGraph {
      let now = fresh
      return Taken(
        before: .init(walk: walk, contents: { $0.contents }, only: []),
        after: .init(walk: walk, contents: { now[$0] ?? $0.contents }, only: []),
        entries: entries, fresh: fresh)
    }
    let old = walk
    let new = TreeWalk(from: old.root) { [self] entry in
      if let contents = fresh[entry] { return contents }
      if old.contains(entry) { return entry.contents }
      guard let object = entry.object else { return entry.contents }
      let contents = reader.contents(of: object)
      fresh[entry] = contents
      return contents
    }
    let removed = Set(old.order.filter { !new.contains($0) })
    entries += old.order.filter { removed.contains($0) && !entries.contains($0) }
    let now = fresh
    return Taken(
      before: .init(walk: old, contents: { $0.contents }, only: removed),
      after: .init(
        walk: new, contents: { now[$0] ?? $0.contents },
        only: Set(new.order.filter { !old.contains($0) })),
      entries: entries, fresh: fresh)
  }

  /// What was taken back is no news for a shadow that was made meanwhile.
  func transactionWasTakenBack(_ bits: Transactions.Bits) {
    let isAllBack = dirty.allSatisfy { entry in
      guard let object = entry.object, case .node(let node) = observedNode(of: object, in: engine)
      else { return true }
      return node.pointee.coverings & bits != 0
        || TreeContents.areSame(entry.contents, reader.contents(of: object))
    }
    if isAllBack, let taken = take() { advance(to: taken) }
  }

  /// Makes what was taken the state of the last delivery.
  func advance(to taken: Taken) {
    for (entry, contents) in taken.fresh { entry.contents = contents }
    walk = taken.after.walk
    for entry in taken.after.only { try? watch(entry) }
    for entry in taken.before.only {
      if let watcher = signals.removeValue(forKey: entry).flatMap({ engine.watchers[$0] }) {
        engine.watchers.stop(watcher)
      }
      reader.forget(entry)
      entry.contents = TreeContents(shape: .set)
    }
  }
}

/// Learns of writes to the objects of a tree.
private final class TreeSignals: ObservationCore.Receiver {
  private let written: (AnyObject) -> Void

  init(_ written: @escaping (AnyObject) -> Void) { self.written = written }

  private func note(_ watcher: WatcherRef) {
    guard let root = watcher.pointee.root, let object = root.kind.object(of: root) else { return }
    written(object.takeUnretainedValue())
  }

  override func deliver(_ watcher: WatcherRef) { note(watcher) }
  override func deliver(_ watcher: WatcherRef, _ change: ImmediateChange, path: Path) {
    note(watcher)
  }
}

extension TreeContents {
  /// Whether both lead to the same objects, by the same keys; elements of a list may be elsewhere.
  fileprivate func hasSameObjects(as other: TreeContents) -> Bool {
    if shape == .array {
      var counts: [TreeEntry: Int] = [:]
      for value in list { if let entry = value.entry { counts[entry, default: 0] += 1 } }
      for value in other.list { if let entry = value.entry { counts[entry, default: 0] -= 1 } }
      return counts.values.allSatisfy { $0 == 0 }
    }
    return fields.allSatisfy { key, value in
      value.entry == nil || other.fields[key]?.entry === value.entry
    }
      && other.fields.allSatisfy { key, value in
        value.entry == nil || fields[key]?.entry === value.entry
      }
  }
}
