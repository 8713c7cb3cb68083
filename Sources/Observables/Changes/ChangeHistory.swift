/// Undo and redo for an object and everything below it (X5).
///
/// ```swift
/// let history = try ChangeHistory(of: document)
/// document.title = "Draft"
/// history.undo()
/// ```
///
/// Each turn in which something changed is a step, whichever code made the changes.
/// ``Loop/flush()`` ends neither a turn nor a step. Turns within `grouping` seconds, and all writes
/// between ``begin(_:)`` and ``commit()``, form one step. Steps keep removed objects alive, so undo
/// brings back the same objects. Tables of scripts are values: a step has no changes inside them.
/// Watchers see the writes of ``undo()`` as ordinary writes, but these are not a step.
///
/// The history ends with ``stop()``, or with the object. You have to keep a reference to the
/// history. Use it on the thread of the loop that observes the object. Writes in a transaction may
/// still be undone, so inside a transaction only ``stop()`` is allowed.
public final class ChangeHistory: ObservableModel {
  /// The observable properties: `canUndo` and `canRedo`.
  public static let properties = ModelProperties(for: ChangeHistory.self) {
    Property("canUndo", get: { $0.canUndo })
    Property("canRedo", get: { $0.canRedo })
  }
  /// The record of the watchers of the history itself.
  public let observation = ModelObservation()
  /// Whether there is a step to undo.
  public private(set) var canUndo = false {
    didSet { observation.didSet(0, from: oldValue, to: canUndo) }
  }
  /// Whether there is a step to redo.
  public private(set) var canRedo = false {
    didSet { observation.didSet(1, from: oldValue, to: canRedo) }
  }
  /// Called with a message on the loop's thread when a step no longer fits the current state and
  /// was dropped, or leaves a key that another process has written since.
  public var onMisfit: ((String) -> Void)?

  private let limit: Int
  private let grouping: Double
  private let engine: Engine
  private let clock: () -> Double
  private var watcher: Watcher?
  private var done: [Step] = []
  private var undone: [Step] = []
  /// The numbers of the named steps.
  private var marks: [String: Int] = [:]
  /// The number of the last dropped step, whose result is the earliest reachable state; 0 is the
  /// initial state.
  private var bottom = 0
  private var lastNumber = 0
  private var depth = 0
  private weak var open: Step?
  /// The number of steps with which each object has left the tree.
  ///
  /// Steps can bring it back, so the shadow follows it until they are dropped.
  private var timesLeft: [TreeEntry: Int] = [:]
  /// The name that the open step will have.
  private var openName: String?

  /// The writes of one step: the contents of each object before and after.
  private final class Step {
    struct Record {
      private(set) weak var object: AnyObject?
      /// The object, unless it is the root, which may own the history.
      private let kept: AnyObject?
      let old: Snapshot
      let new: Snapshot

      init(_ object: AnyObject, isRoot: Bool, from old: TreeContents, to new: TreeContents) {
        (self.object, kept) = (object, isRoot ? nil : object)
        (self.old, self.new) = (Snapshot(old, over: new), Snapshot(new, over: old))
      }

      var isChange: Bool { !TreeContents.areSame(old.contents, new.contents) }

      /// Sets the contents after the step, while all objects of both contents are alive.
      mutating func end(with contents: TreeContents) {
        guard let object else { return }
        self = Record(object, isRoot: kept == nil, from: old.contents, to: contents)
      }
    }
    /// Distinguishes the step from all others of its history.
    let number: Int
    private(set) var records: [Record] = []
    private var places: [ObjectIdentifier: Int] = [:]
    /// The objects that have left the tree with the step, or with its undo.
    fileprivate(set) var left: Set<TreeEntry> = []
    /// The objects that came within the step and that no step can bring back, and whether they are
    /// in the tree; empty once the step has ended.
    private var guests: [TreeEntry: Bool] = [:]
    /// The records of guests that have left, in case they come back before the step ends.
    private var away: [TreeEntry: Record] = [:]
    /// Whether it can no longer be undone or redone.
    fileprivate(set) var isDropped = false
    /// The time of the last delivery, and its turn.
    var time = 0.0
    var turn: UInt64 = 0
    private(set) var isClosed = false

    init(number: Int) { self.number = number }

    /// Adds later writes, and removes objects whose contents are then the same as before the step.
    ///
    /// The step leaves out guests that have left again, because undoing it shows nothing of them.
    ///
    /// - Parameters:
    ///   - taken: the writes, and the objects that came and left.
    ///   - timesLeft: for each object, the number of steps that can bring it back.
    fileprivate func join(_ taken: Taken, timesLeft: [TreeEntry: Int]) {
      for entry in taken.came {
        returnFromAway(entry)
        if guests[entry] != nil || timesLeft[entry] == nil { guests[entry] = true }
        if let object = entry.object { endChange(of: object, with: entry.contents) }
      }
      for record in taken.records {
        guard let object = record.object else { continue }
        if !endChange(of: object, with: record.new.contents) { add(record) }
      }
      for entry in taken.left where guests[entry] != nil {
        guests[entry] = false
        guard let object = entry.object.map({ ObjectIdentifier($0) }), let index = places[object]
        else { continue }
        away[entry] = records[index]
        remove(object, at: index)
      }
    }

    /// Ends the step: later writes cannot be added to it.
    ///
    /// Returns the guests that have left, which it cannot bring back.
    func close() -> [TreeEntry] {
      defer { (isClosed, guests, away) = (true, [:], [:]) }
      return guests.filter { !$0.value }.map(\.key)
    }

    private func returnFromAway(_ entry: TreeEntry) {
      if let record = away.removeValue(forKey: entry) { add(record) }
    }

    /// Sets the contents of an object after the step; false if it is no part of the step.
    @discardableResult
    private func endChange(of object: AnyObject, with contents: TreeContents) -> Bool {
      guard let index = places[ObjectIdentifier(object)] else { return false }
      records[index].end(with: contents)
      if !records[index].isChange { remove(ObjectIdentifier(object), at: index) }
      return true
    }

    private func add(_ record: Record) {
      guard let object = record.object else { return }
      places[ObjectIdentifier(object)] = records.count
      records.append(record)
    }

    private func remove(_ object: ObjectIdentifier, at index: Int) {
      records.swapAt(index, records.count - 1)
      records.removeLast()
      places[object] = nil
      if index < records.count, let moved = records[index].object {
        places[ObjectIdentifier(moved)] = index
      }
    }
  }

  /// The writes since the last step, and the objects that have come and left.
  private struct Taken {
    var records: [Step.Record] = []
    var came: [TreeEntry] = []
    var left: [TreeEntry] = []
  }

  /// Follows an object, and everything below it, from now on.
  ///
  /// - Parameters:
  ///   - model: the root object.
  ///   - loop: the loop whose turns become steps; by default, the loop of the model.
  ///   - limit: the maximum number of steps to keep.
  ///   - grouping: a turn within so many seconds after the last one belongs to the same step.
  /// - Throws: ``PathError`` if another loop observes one of the objects.
  /// - Complexity: O(objects below).
  public init(
    of model: some KeyPathObservable, in loop: Loop? = nil, limit: Int = 100, grouping: Double = 0
  ) throws {
    precondition(limit >= 1 && grouping >= 0, "A history has a limit of at least one step")
    (self.limit, self.grouping) = (limit, grouping)
    let engine = try model.engine(of: loop)
    self.engine = engine
    let inbox = engine.inbox
    clock = { inbox.loop?.now ?? 0 }
    watcher = try model.followTree(in: loop, name: "history") { [weak self] in self?.record() }
    watcher?.shadow?.skipsRemote = true
  }

  deinit { watcher?.stop() }

  /// Undoes the last step, including all writes since; returns false if there was nothing to undo.
  @discardableResult
  public func undo() -> Bool {
    checkOutside()
    settle()
    return go(isUndo: true)
  }

  /// Undoes everything after a mark; returns false if there was nothing to undo.
  @discardableResult
  public func undo(to mark: String) -> Bool {
    checkOutside()
    settle()
    guard let wanted = marks[mark] else { return false }
    let target = done.firstIndex { $0.number == wanted }.map { $0 + 1 }
    guard let target = target ?? (wanted == bottom ? 0 : nil) else { return false }
    var hasUndone = false
    while done.count > target {
      guard go(isUndo: true) else { return false }
      hasUndone = true
    }
    return hasUndone
  }

  /// Repeats the step that was undone last; returns false if there is no such step.
  @discardableResult
  public func redo() -> Bool {
    checkOutside()
    settle()
    return go(isUndo: false)
  }

  /// Names the last step, for ``undo(to:)``.
  public func mark(_ name: String) {
    checkOutside()
    endStep()
    marks[name] = done.last?.number ?? bottom
  }

  /// Combines the following writes into one step, until ``commit()``; `name` marks this step, as
  /// ``mark(_:)`` does.
  ///
  /// Inside another `begin`, the writes belong to the outer step, and the name is not used.
  public func begin(_ name: String? = nil) {
    checkOutside()
    if depth == 0 {
      endStep()
      openName = name
    }
    depth += 1
  }

  /// Ends the step that ``begin(_:)`` began.
  public func commit() {
    checkOutside()
    precondition(depth > 0, "commit() ends a begin()")
    if depth > 1 {
      depth -= 1
      return
    }
    endStep()
    if let openName, let open { marks[openName] = open.number }
    (open, openName, depth) = (nil, nil, 0)
  }

  /// Forgets all steps.
  public func clear() {
    checkOutside()
    note(take(isOwn: true).left, with: nil)
    for step in done + undone { drop(step) }
    (done, undone, marks, open) = ([], [], [:], nil)
    update()
  }

  /// Ends the history, and forgets all steps; does nothing if it has ended.
  public func stop() {
    watcher?.stop()
    watcher = nil
    (done, undone, marks, timesLeft) = ([], [], [:], [:])
    update()
  }

  /// Traps inside a transaction: its writes may still be undone, so they cannot become a step yet.
  private func checkOutside(_ name: StaticString = #function) {
    precondition(!engine.transactions.isOpen, "\(name) was called inside a transaction")
  }

  /// Makes a step of the writes since the last one, if there are any, and ends the last step.
  private func endStep() {
    record()
    if let last = done.last { close(last) }
  }

  private func close(_ step: Step) {
    for entry in step.close() { release(entry, from: step) }
  }

  private func settle() {
    endStep()
    (open, openName, depth) = (nil, nil, 0)
  }

  private func update() {
    if canUndo == done.isEmpty { canUndo = !done.isEmpty }
    if canRedo == undone.isEmpty { canRedo = !undone.isEmpty }
  }

  /// Takes the writes since the last step, and the objects that have come into the tree and left.
  ///
  /// If an object comes back, everything written to it in that turn belongs to the step of that
  /// turn. Writes of earlier turns belong to no step, unless the object has left with the same one.
  /// With `isOwn`, `records` stays empty: the writes are the history's own, or may be forgotten.
  private func take(isOwn: Bool = false) -> Taken {
    guard let shadow = watcher?.shadow, let taken = shadow.take() else { return Taken() }
    func record(_ entry: TreeEntry, from old: TreeContents?) -> Step.Record? {
      let new = taken.after.contents(entry)
      guard let object = entry.object, let old, !TreeContents.areSame(old, new) else { return nil }
      return Step.Record(object, isRoot: shadow.isRoot(entry), from: old, to: new)
    }
    let records =
      isOwn
      ? []
      : taken.entries.compactMap { record($0, from: taken.before.contents($0)) }
        + taken.came.compactMap { record($0, from: shadow.formerContents(outside: $0)) }
    shadow.advance(to: taken, keepsLeft: true)
    return Taken(records: records, came: taken.came, left: taken.left)
  }

  /// Notes that objects left with `step`.
  ///
  /// Without a step, or if it was dropped, no undo can bring them back, so they are no longer
  /// followed.
  private func note(_ left: [TreeEntry], with step: Step?) {
    for entry in left {
      if let step, !step.isDropped {
        if step.left.insert(entry).inserted { timesLeft[entry, default: 0] += 1 }
      } else if timesLeft[entry] == nil {
        watcher?.shadow?.forget(outside: entry)
      }
    }
  }

  /// Marks a step as dropped, and ends following the objects that only it could bring back.
  private func drop(_ step: Step) {
    for entry in step.left { release(entry, from: step) }
    step.isDropped = true
  }

  /// Ends following an object, unless another step can bring it back.
  private func release(_ entry: TreeEntry, from step: Step) {
    guard step.left.remove(entry) != nil else { return }
    let times = timesLeft[entry, default: 1] - 1
    timesLeft[entry] = times > 0 ? times : nil
    if times == 0 { watcher?.shadow?.forget(outside: entry) }
  }

  private func record() {
    let taken = take()
    if taken.records.isEmpty { return note(taken.left, with: nil) }
    let (now, turn) = (clock(), engine.delivery.turnNumber.pointee)
    var step: Step! = done.last
    let isJoined =
      step != nil
      && (step === open
        || depth == 0 && !step.isClosed
          && (step.turn == turn || grouping > 0 && now - step.time <= grouping))
    if !isJoined {
      if let step { close(step) }
      lastNumber += 1
      step = Step(number: lastNumber)
    }
    // Before steps are dropped with which the same objects have left earlier.
    note(taken.left, with: step)
    if !isJoined {
      done.append(step)
      if depth > 0 { open = step }
      if done.count > limit {
        let first = done.removeFirst()
        bottom = first.number
        drop(first)
      }
    }
    for step in undone { drop(step) }
    undone = []
    step.join(taken, timesLeft: timesLeft)
    (step.time, step.turn) = (now, turn)
    if step.records.isEmpty {
      drop(done.removeLast())
      if step === open { open = nil }
    }
    update()
  }

  /// The contents of an object that other processes may have written since it had the contents of
  /// `former`; nil if they have not (A9).
  private func remote(_ object: AnyObject, unlike former: Snapshot) -> TreeContents? {
    guard let shadow = watcher?.shadow, shadow.hasSkipped, let entry = shadow.entry(of: object),
      !TreeContents.areSame(entry.contents, former.contents)
    else { return nil }
    return entry.contents
  }

  private func go(isUndo: Bool) -> Bool {
    guard watcher?.activeRecord != nil, let step = isUndo ? done.popLast() : undone.popLast()
    else { return false }
    var writes: [(object: AnyObject, from: Snapshot, to: Snapshot)] = []
    var kept: String?
    for record in step.records {
      guard let object = record.object else { continue }
      var (from, to) = isUndo ? (record.new, record.old) : (record.old, record.new)
      if let present = remote(object, unlike: from) {
        let key = TreeContents.differingKeys(from.contents, to.contents).first {
          !TreeValue.areSame(from.contents.fields[$0], present.fields[$0])
        }
        if let key, kept == nil { kept = "'\(key)' of \(type(of: object))" }
        to = Snapshot(present.rebased(undoing: from.contents, to: to.contents))
        from = Snapshot(present)
      }
      if let misfit = from.misfit(of: object, with: to) {
        onMisfit?("a step of the history no longer fits, and was dropped: \(misfit)")
        drop(step)
        update()
        return false
      }
      writes.append((object, from, to))
    }
    if let kept { onMisfit?("another process has written \(kept) since, so its value stays") }
    engine.immediates.beginBatch()
    for (object, from, to) in writes { to.write(to: object, over: from) }
    // These writes make no new step. Immediate watchers are called after the step has moved.
    if isUndo { undone.append(step) } else { done.append(step) }
    note(take(isOwn: true).left, with: step)
    engine.immediates.endBatch()
    // Writes of immediate watchers make no step, either.
    note(take(isOwn: true).left, with: step)
    update()
    return true
  }
}
