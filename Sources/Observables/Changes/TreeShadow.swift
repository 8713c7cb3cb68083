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
    (walk, _) = TreeWalk.walk(from: reader.entry(of: root).entry) { _ in TreeContents(shape: .set) }
    receiver = TreeSignals { [unowned self] in written($0) }
    let entries: [TreeEntry]
    (walk, entries) = TreeWalk.walk(from: walk.root) { [self] entry in
      if !entry.isRead, let object = entry.object {
        entry.contents = reader.contents(of: object)
        entry.isRead = true
      }
      return entry.contents
    }
    for entry in entries { try watch(entry) }
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
    for entry in walk.entries { entry.contents = TreeContents(shape: .set) }
    (dirty, isDirty) = ([], [])
  }

  private func watch(_ entry: TreeEntry) throws {
    guard signals[entry] == nil, let object = entry.object else { return }
    guard case .node(let node) = observedNode(of: object, in: engine) else {
      engine.wiring.hasMetForeign = false
      throw PathError(.otherLoop, path: "**", component: 1)
    }
    let watcher = engine.watchers.make(
      root: node, receiver: receiver, traits: [.immediate, .probing, .atOnce])
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
    let entries = dirty.filter { walk.contains($0) }
    (dirty, isDirty) = ([], [])
    for entry in entries {
      if let object = entry.object { fresh[entry] = reader.contents(of: object) }
    }
    func now(_ entry: TreeEntry) -> TreeContents {
      if let contents = fresh[entry] { return contents }
      guard !entry.isRead, let object = entry.object else { return entry.contents }
      let contents = reader.contents(of: object)
      fresh[entry] = contents
      return contents
    }
    let mended = walk.mend(entries, before: { $0.contents }, after: now) ?? walkAnew(now)
    let (contents, written) = (fresh, Set(entries))
    return Taken(
      before: .init(walk: mended.former, contents: { $0.contents }, only: Set(mended.left)),
      after: .init(
        walk: walk, contents: { contents[$0] ?? $0.contents }, only: Set(mended.came)),
      entries: entries + mended.left.filter { !written.contains($0) }, fresh: fresh)
  }

  /// Makes the walk anew, where an object that was cut off may still be there by another way.
  private func walkAnew(_ now: (TreeEntry) -> TreeContents) -> TreeWalk.Mended {
    let (former, old) = TreeWalk.walk(from: walk.root) { $0.contents }
    let new: [TreeEntry]
    (walk, new) = TreeWalk.walk(from: walk.root, now)
    return TreeWalk.Mended(
      former: former, came: new.filter { !former.contains($0) },
      left: old.filter { !walk.contains($0) })
  }

  /// What was taken back is no news for a shadow that was made meanwhile.
  func transactionWasTakenBack(_ bits: Transactions.Bits) {
    let isAllBack = dirty.allSatisfy { entry in
      guard let object = entry.object, case .node(let node) = observedNode(of: object, in: engine)
      else { return true }
      return engine.transactions.covers(node, bits)
        || TreeContents.areSame(entry.contents, reader.contents(of: object))
    }
    if isAllBack, let taken = take() { advance(to: taken) }
  }

  /// Makes what was taken the state of the last delivery.
  func advance(to taken: Taken) {
    for (entry, contents) in taken.fresh { (entry.contents, entry.isRead) = (contents, true) }
    for entry in taken.after.only { try? watch(entry) }
    for entry in taken.before.only {
      if let watcher = signals.removeValue(forKey: entry).flatMap({ engine.watchers[$0] }) {
        engine.watchers.stop(watcher)
      }
      reader.forget(entry)
      (entry.contents, entry.isRead) = (TreeContents(shape: .set), false)
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
