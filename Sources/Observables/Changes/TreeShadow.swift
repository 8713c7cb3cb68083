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
  /// The origin whose changes are left out, if there is one.
  private let skip: AnyHashable?
  /// The origins that have written since the last delivery, but for that one.
  private(set) var origins: [AnyHashable] = []
  /// The applies with an origin under way, the innermost last.
  private var applies: [Apply] = []
  /// What was learned from origins while transactions are open, which may take it back.
  private var lessons: [Lesson] = []

  init(
    of root: AnyObject, in engine: Engine, skip: AnyHashable? = nil, onWrite: @escaping () -> Void
  ) throws {
    (self.engine, self.skip, self.onWrite) = (engine, skip, onWrite)
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
    engine.origins.add(self)
  }

  deinit { stop() }

  /// Ends all watching.
  func stop() {
    engine.origins.remove(self)
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
    guard let entry = reader.known(object) else { return }
    if !applies.isEmpty { applies[applies.count - 1].note(entry) }
    guard isDirty.insert(entry).inserted else { return }
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
    let entries = dirty.filter { walk.contains($0) }
    (dirty, isDirty) = ([], [])
    return step(entries, to: present(entries))
  }

  private func present(_ entries: [TreeEntry]) -> [TreeEntry: TreeContents] {
    var contents: [TreeEntry: TreeContents] = [:]
    for entry in entries {
      if let object = entry.object { contents[entry] = reader.contents(of: object) }
    }
    return contents
  }

  /// The step to the state in which some objects have other contents; `known` has those of objects
  /// that may come, where these are not the present ones.
  private func step(
    _ entries: [TreeEntry], to contents: [TreeEntry: TreeContents],
    known: [TreeEntry: TreeContents] = [:]
  ) -> Taken {
    var fresh = contents
    func now(_ entry: TreeEntry) -> TreeContents {
      if let contents = fresh[entry] { return contents }
      guard !entry.isRead else { return entry.contents }
      guard let contents = known[entry] ?? entry.object.map({ reader.contents(of: $0) }) else {
        return entry.contents
      }
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

  /// The state that the next delivery continues.
  var snapshot: ChangeSnapshot {
    TreeDifference.snapshot(
      of: walk.root,
      TreeDifference.Side(walk: walk, contents: { $0.contents }, only: Set(walk.entries)))
  }

  /// What was taken back is no news for a shadow that was made meanwhile.
  func transactionWasTakenBack(_ bits: Transactions.Bits) {
    let isAllBack = dirty.allSatisfy { entry in
      if isCovered(entry, bits) { return true }
      guard let object = entry.object else { return true }
      return TreeContents.areSame(entry.contents, reader.contents(of: object))
    }
    if isAllBack, let taken = take() { advance(to: taken) }
  }

  /// Makes what was taken the state of the last delivery.
  func advance(to taken: Taken) {
    origins = []
    if !engine.transactions.isOpen { lessons = [] }
    follow(taken)
  }

  private func follow(_ taken: Taken) {
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

/// Leaving out what an origin writes (X2).
///
/// What it has written is taken over as soon as it is applied, so that the next delivery has what
/// others wrote.
extension TreeShadow: ChangeOrigins.Listener {
  /// An apply with an origin under way.
  private struct Apply {
    let origin: AnyHashable
    /// The objects that others have written, with their contents before; nil if the origin is not
    /// skipped.
    let former: [TreeEntry: TreeContents]?
    var written: [TreeEntry] = []
    private var isWritten: Set<TreeEntry> = []

    init(_ origin: AnyHashable, former: [TreeEntry: TreeContents]?) {
      (self.origin, self.former) = (origin, former)
    }

    mutating func note(_ entry: TreeEntry) {
      if isWritten.insert(entry).inserted { written.append(entry) }
    }
  }

  package func willApply(from origin: AnyHashable) {
    applies.append(Apply(origin, former: origin == skip ? present(dirty) : nil))
  }

  package func didApply(isMade: Bool) {
    guard let apply = applies.popLast(), isMade, !apply.written.isEmpty else { return }
    guard let former = apply.former else {
      if !origins.contains(apply.origin) {
        learn(apply.written, [:])
        origins.append(apply.origin)
      }
      return
    }
    let entries = apply.written.filter { walk.contains($0) }
    var contents = present(entries)
    for entry in entries {
      if let before = former[entry] {
        contents[entry] = contents[entry]?.rebased(from: before, to: entry.contents)
      } else {
        isDirty.remove(entry)
      }
    }
    dirty.removeAll { !isDirty.contains($0) }
    var known = Dictionary(uniqueKeysWithValues: entries.map { ($0, $0.contents) })
    let taken = step(entries, to: contents)
    for entry in taken.before.only { known[entry] = entry.contents }
    learn(entries, known)
    follow(taken)
  }

  private func learn(_ entries: [TreeEntry], _ former: [TreeEntry: TreeContents]) {
    if !engine.transactions.isOpen { return }
    let lesson = Lesson(self, entries, former, origins)
    lessons.append(lesson)
    engine.transactions.note(lesson)
  }

  /// What a shadow has learned from an origin, with what it knew before.
  private final class Lesson: TransactionWitness {
    private unowned let shadow: TreeShadow
    private let written: [TreeEntry]
    private let former: [TreeEntry: TreeContents]
    private let origins: [AnyHashable]

    init(
      _ shadow: TreeShadow, _ written: [TreeEntry], _ former: [TreeEntry: TreeContents],
      _ origins: [AnyHashable]
    ) {
      (self.shadow, self.written, self.former, self.origins) = (shadow, written, former, origins)
    }

    /// Forgets it for the objects that the transaction covers.
    func transactionWasTakenBack(_ bits: Transactions.Bits) {
      let covered = written.filter { shadow.isCovered($0, bits) }
      if covered.count == written.count { shadow.origins = origins }
      let entries = covered.filter { former[$0] != nil && shadow.walk.contains($0) }
      if entries.isEmpty { return }
      shadow.follow(
        shadow.step(entries, to: former.filter { entries.contains($0.key) }, known: former))
    }
  }

  private func isCovered(_ entry: TreeEntry, _ bits: Transactions.Bits) -> Bool {
    guard let object = entry.object, case .node(let node) = observedNode(of: object, in: engine)
    else { return true }
    return engine.transactions.covers(node, bits)
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
