/// The objects below a root, as they were at the last delivery of a watcher.
///
/// The watcher is called for writes to each of them, so only written objects have to be compared.
final class TreeShadow: TransactionWitness {
  let engine: Engine
  private let watcher: WatcherID
  private let reader: TreeReader
  private var walk: TreeWalk
  private var dirty: [TreeEntry] = []
  private var isDirty: Set<TreeEntry> = []
  /// The origin whose changes are left out, if there is one.
  private let skip: AnyHashable?
  /// Whether changes that mirrors receive are left out.
  var skipsRemote = false
  /// Whether changes were left out.
  private(set) var hasSkipped = false
  /// The other origins that have written since the last delivery.
  private(set) var origins: [AnyHashable] = []
  /// The current application of changes with an origin.
  private var apply: Apply?
  /// States that open transactions may have to restore.
  private var adoptions: [Adoption] = []
  private var deliveries = 0
  /// For a history: objects that were in written ones; they must be alive when the writes are
  /// taken.
  private var kept: [AnyObject] = []
  /// For a history: the objects that it can bring back, while they are outside of the tree.
  private var outside: [TreeEntry: Outside] = [:]

  private struct Outside {
    /// Its contents when a turn began.
    var former: TreeContents
    var turn: UInt64
    /// Its contents at the last delivery in that turn.
    var later: TreeContents?
  }

  init(
    of root: AnyObject, for watcher: WatcherRef, in engine: Engine, goesIntoTables: Bool,
    skip: AnyHashable? = nil
  ) throws {
    (self.engine, self.skip, self.watcher) = (engine, skip, watcher.identity)
    reader = TreeReader(goesIntoTables: goesIntoTables)
    (walk, _) = TreeWalk.walk(from: reader.entry(of: root).entry) { _ in TreeContents(shape: .set) }
    let entries: [TreeEntry]
    (walk, entries) = TreeWalk.walk(from: walk.root) { [self] entry in
      if !entry.isRead, let object = entry.object {
        entry.contents = reader.contents(of: object)
        entry.isRead = true
      }
      return entry.contents
    }
    engine.wiring.beginFollowing(by: watcher)
    for entry in entries { try follow(entry) }
    engine.transactions.note(self)
    engine.origins.add(self)
  }

  deinit { stop() }

  /// Forgets all objects, because the watcher has ended.
  func stop() {
    engine.origins.remove(self)
    // If objects retain each other in a cycle, so do their entries.
    for entry in walk.entries { forget(entry) }
    (dirty, isDirty, outside) = ([], [], [:])
    releaseKept()
  }

  private func forget(_ entry: TreeEntry) {
    (entry.contents, entry.isRead) = (TreeContents(shape: .set), false)
  }

  func isRoot(_ entry: TreeEntry) -> Bool { entry === walk.root }

  func entry(of object: AnyObject) -> TreeEntry? { reader.known(object) }

  /// All objects with their contents, the root first.
  var items: [(entry: TreeEntry, contents: TreeContents)] {
    [(walk.root, walk.root.contents)]
      + walk.entries.filter { $0 !== walk.root }.map { ($0, $0.contents) }
  }

  /// Keeps the objects that were in a written object alive until the next delivery.
  func keepContents(of node: NodeRef) {
    guard let entry = reader.known(node) else { return }
    let former = outside[entry].map { $0.later ?? $0.former } ?? entry.contents
    former.forEachObject { _, child in
      if let object = child.object { kept.append(object) }
    }
  }

  private func follow(_ entry: TreeEntry) throws {
    guard let watcher = engine.watchers[watcher], let object = entry.object else { return }
    guard case .node(let node) = observedNode(of: object, in: engine) else {
      engine.wiring.hasMetForeign = false
      throw PathError(.otherLoop, path: "**", component: 1)
    }
    try engine.wiring.follow(node, by: watcher)
    reader.note(node, of: entry)
  }

  /// The objects that were written since the last call.
  private func takeWritten() -> [TreeEntry] {
    guard let watcher = engine.watchers[watcher] else { return [] }
    return engine.wiring.takeWritten(of: watcher).compactMap { node in
      reader.known(node)
    }
  }

  private func note(_ entries: [TreeEntry]) {
    for entry in entries where isDirty.insert(entry).inserted { dirty.append(entry) }
  }

  /// The writes since the last delivery: both states, and the objects to compare.
  struct Taken {
    let before: TreeDifference.Side
    let after: TreeDifference.Side
    let entries: [TreeEntry]
    /// The objects that came, in the order in which a walk meets them, and the objects that left.
    let came: [TreeEntry]
    let left: [TreeEntry]
    fileprivate let fresh: [TreeEntry: TreeContents]
  }

  /// Takes the writes since the last delivery; nil if there are none.
  func take() -> Taken? {
    note(takeWritten())
    guard !dirty.isEmpty else { return nil }
    let entries = dirty.filter { walk.contains($0) }
    for entry in dirty where formerContents(outside: entry) != nil && !walk.contains(entry) {
      outside[entry]!.later = entry.object.map { reader.contents(of: $0) }
    }
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

  /// The step to the state in which the objects have the contents in `contents`; for objects that
  /// may be added, `known` has the contents that differ from the current ones.
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
    var mended = walk.mend(entries, before: { $0.contents }, after: now)
    if mended.isLost { mended = walkAnew(now, instead: mended.former) }
    let (contents, written) = (fresh, Set(entries))
    return Taken(
      before: .init(walk: mended.former, contents: { $0.contents }, only: Set(mended.left)),
      after: .init(
        walk: walk, contents: { contents[$0] ?? $0.contents }, only: Set(mended.came)),
      entries: entries + mended.left.filter { !written.contains($0) }, came: mended.came,
      left: mended.left, fresh: fresh)
  }

  /// The contents, at the beginning of the turn, of an object that is outside of the tree now and
  /// that the shadow still follows; nil for other objects.
  func formerContents(outside entry: TreeEntry) -> TreeContents? {
    guard var known = outside[entry] else { return nil }
    let turn = engine.delivery.turnNumber.pointee
    if known.turn != turn {
      known = Outside(former: known.later ?? known.former, turn: turn)
      outside[entry] = known
    }
    return known.former
  }

  /// Stops following an object that is outside of the tree.
  func forget(outside entry: TreeEntry) {
    if outside.removeValue(forKey: entry) != nil { unfollow(entry) }
  }

  private func unfollow(_ entry: TreeEntry) {
    if let watcher = engine.watchers[watcher], let object = entry.object,
      case .node(let node) = observedNode(of: object, in: engine)
    {
      _ = engine.wiring.unfollow(node, by: watcher)
    }
    reader.forget(entry)
  }

  /// Makes a new walk, because an object that was cut off may still be reachable another way.
  private func walkAnew(
    _ now: (TreeEntry) -> TreeContents, instead former: TreeWalk
  ) -> TreeWalk.Mended {
    let new: [TreeEntry]
    (walk, new) = TreeWalk.walk(from: walk.root, now)
    let old = TreeWalk.walk(from: walk.root) { $0.contents }.entries
    let known = Set(old)
    return TreeWalk.Mended(
      former: former, came: new.filter { !known.contains($0) },
      left: old.filter { !walk.contains($0) }, isLost: false)
  }

  /// The state from which the next delivery continues.
  var snapshot: ChangeSnapshot {
    TreeDifference.snapshot(
      of: walk.root,
      TreeDifference.Side(walk: walk, contents: { $0.contents }, only: Set(walk.entries)))
  }

  /// A shadow that was made inside the transaction delivers nothing for its undone writes.
  func transactionWasTakenBack(_ bits: Transactions.Bits) {
    note(takeWritten())
    let isAllBack = dirty.allSatisfy { entry in
      if isCovered(entry, bits) { return true }
      guard let object = entry.object else { return true }
      return TreeContents.areSame(entry.contents, reader.contents(of: object))
    }
    if isAllBack, let taken = take() { advance(to: taken) }
  }

  /// Makes the taken state the state of the last delivery.
  ///
  /// With `keepsLeft`, objects that have left are followed until `forget(outside:)`.
  func advance(to taken: Taken, keepsLeft: Bool = false) {
    origins = []
    deliveries += 1
    if !engine.transactions.isOpen { adoptions = [] }
    move(to: taken, keepsLeft: keepsLeft)
    releaseKept()
  }

  /// Released objects may write to the tree in their `deinit`.
  private func releaseKept() {
    let released = kept
    kept = []
    withExtendedLifetime(released) {}
  }

  private func move(to taken: Taken, keepsLeft: Bool = false) {
    for (entry, contents) in taken.fresh { (entry.contents, entry.isRead) = (contents, true) }
    for entry in taken.came {
      outside[entry] = nil
      try? follow(entry)
    }
    for entry in taken.left {
      if keepsLeft {
        outside[entry] = Outside(
          former: entry.contents, turn: engine.delivery.turnNumber.pointee)
      } else {
        unfollow(entry)
      }
      forget(entry)
    }
    // An entry keeps its table alive. A table that came and left must not stay.
    for entry in reader.takeMetTables() where !walk.contains(entry) {
      reader.forget(entry)
      forget(entry)
    }
  }
}

/// Leaving out the writes of an origin (X2).
///
/// When an application of the origin's changes ends, the shadow adopts its writes. They count as
/// delivered, so the next delivery contains only the writes of others.
extension TreeShadow: ChangeOrigins.Listener {
  /// The current application of changes with an origin.
  private struct Apply {
    let origin: AnyHashable
    /// The contents written by others before the application, if the origin is skipped.
    let former: [TreeEntry: TreeContents]
    /// The number of deliveries before the application.
    let deliveries: Int
  }

  private func skips(_ origin: AnyHashable) -> Bool {
    origin == skip || skipsRemote && origin.base is RemoteOrigin
  }

  package func willApply(from origin: AnyHashable) {
    note(takeWritten())
    apply = Apply(
      origin: origin, former: skips(origin) ? present(dirty) : [:], deliveries: deliveries)
  }

  package func didApply(isMade: Bool) {
    guard let apply else { return }
    self.apply = nil
    let entries = takeWritten().filter { walk.contains($0) }
    guard isMade, skips(apply.origin), apply.deliveries == deliveries else {
      note(entries)
      if isMade, !entries.isEmpty, !skips(apply.origin), !origins.contains(apply.origin) {
        noteAdoption(entries, [:])
        origins.append(apply.origin)
      }
      return
    }
    if entries.isEmpty { return }
    hasSkipped = true
    var contents = present(entries)
    for entry in entries {
      guard let before = apply.former[entry], !TreeContents.areSame(before, entry.contents) else {
        continue
      }
      contents[entry] = contents[entry]?.rebased(undoing: before, to: entry.contents)
    }
    var known = Dictionary(uniqueKeysWithValues: entries.map { ($0, $0.contents) })
    let taken = step(entries, to: contents)
    for entry in taken.before.only { known[entry] = entry.contents }
    noteAdoption(entries, known)
    move(to: taken)
  }

  private func noteAdoption(_ entries: [TreeEntry], _ former: [TreeEntry: TreeContents]) {
    if !engine.transactions.isOpen { return }
    let adoption = Adoption(self, entries, former, origins)
    adoptions.append(adoption)
    engine.transactions.note(adoption)
  }

  /// The state of a shadow that a transaction may have to restore: the contents and origins before
  /// an application.
  private final class Adoption: TransactionWitness {
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

    /// Restores the shadow for the objects that the transaction covers.
    func transactionWasTakenBack(_ bits: Transactions.Bits) {
      let covered = written.filter { shadow.isCovered($0, bits) }
      if covered.count == written.count { shadow.origins = origins }
      let entries = covered.filter { former[$0] != nil && shadow.walk.contains($0) }
      if entries.isEmpty { return }
      shadow.move(
        to: shadow.step(entries, to: former.filter { entries.contains($0.key) }, known: former))
    }
  }

  private func isCovered(_ entry: TreeEntry, _ bits: Transactions.Bits) -> Bool {
    guard let object = entry.object, case .node(let node) = observedNode(of: object, in: engine)
    else { return true }
    return engine.transactions.covers(node, bits)
  }
}

/// The shadow of a watcher; the callback owns it, so both end together.
final class ShadowHandle {
  var shadow: TreeShadow?
}

extension KeyPathObservable {
  /// Registers a watcher for a tool that takes the writes below this object from its shadow.
  ///
  /// `didWrite` is called in each flush with writes. Tables of scripts are values.
  ///
  /// - Throws: ``PathError`` if another loop observes one of the objects.
  func followTree(
    in loop: Loop?, name: String, didWrite: @escaping () -> Void
  ) throws -> Watcher {
    let engine = try engine(of: loop)
    let handle = ShadowHandle()
    let watcher = try register(
      in: loop, WatcherOptions(name: name), [.recording, .probing], #fileID, #line,
      { _, _ in
        // The callback owns the shadow.
        withExtendedLifetime(handle) { didWrite() }
        engine.delivery.noteIdleCall()
      }
    ) { engine, record in try engine.wiring.add([Path.everything], to: record) }
    try watcher.beginShadow(of: self, in: engine, goesIntoTables: false, handle)
    return watcher
  }
}

/// The origin of changes that a mirror receives: they are no steps of a history (A9).
package struct RemoteOrigin: Hashable {
  /// The name of the mirror.
  package let name: String

  package init(name: String) { self.name = name }
}
