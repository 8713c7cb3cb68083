/// Undo and redo for an object and all below it (X5).
///
/// ```swift
/// let history = try ChangeHistory(of: document)
/// document.title = "Draft"
/// try history.undo()
/// ```
///
/// Each turn in which something changed is a step, by whomever it was written; turns within
/// `grouping`, and those between ``begin()`` and ``commit()``, are one. Objects that were removed
/// come back as themselves: the steps keep them. What ``undo()`` writes is heard as ordinary
/// writes, and is no step. Ends with ``stop()``, or with the object; whoever wants to undo keeps
/// the history. Used on the thread of the loop that observes the object. What is written in a
/// transaction may be taken back: inside of one, only ``stop()`` may be called.
public final class ChangeHistory: ObservableModel {
  /// The observable properties: `canUndo` and `canRedo`.
  public static let properties = ModelProperties(for: ChangeHistory.self) {
    Property("canUndo", get: { $0.canUndo })
    Property("canRedo", get: { $0.canRedo })
  }
  /// The record of the watchers of the history itself.
  public let observation = ModelObservation()
  /// Whether there is a step to take back.
  public private(set) var canUndo = false {
    didSet { observation.didSet(0, from: oldValue, to: canUndo) }
  }
  /// Whether there is a step that was taken back.
  public private(set) var canRedo = false {
    didSet { observation.didSet(1, from: oldValue, to: canRedo) }
  }
  /// Called with a step that no longer fits what is there, and was dropped.
  public var onMisfit: ((String) -> Void)?

  private let limit: Int
  private let grouping: Double
  private let engine: Engine
  private let clock: () -> Double
  private var watcher: Watcher?
  private var done: [Step] = []
  private var undone: [Step] = []
  /// The numbers of the steps that have names.
  private var marks: [String: Int] = [:]
  /// The number of the step whose outcome is all that can be gone back to; 0 where it is how the
  /// object was at first.
  private var bottom = 0
  private var lastNumber = 0
  private var depth = 0
  private weak var open: Step?

  /// What one step wrote: of each object the contents before and after.
  private final class Step {
    struct Record {
      private(set) weak var object: AnyObject?
      /// The object, unless it is the root: that may have the history.
      private let kept: AnyObject?
      let old: Snapshot
      let new: Snapshot

      init(_ object: AnyObject, isRoot: Bool, from old: TreeContents, to new: TreeContents) {
        (self.object, kept) = (object, isRoot ? nil : object)
        (self.old, self.new) = (Snapshot(old, over: new), Snapshot(new, over: old))
      }

      /// Adds what was written later, while all objects of both records are alive.
      mutating func join(_ later: Record) {
        guard let object else { return }
        self = Record(
          object, isRoot: kept == nil, from: old.contents, to: later.new.contents)
      }
    }
    /// Distinguishes the step from all others of its history.
    let number: Int
    private(set) var records: [Record] = []
    private var places: [ObjectIdentifier: Int] = [:]
    var time = 0.0
    var isClosed = false

    init(number: Int) { self.number = number }

    /// Adds what was written later.
    func join(_ other: [Record]) {
      for record in other {
        guard let object = record.object.map({ ObjectIdentifier($0) }) else { continue }
        if let index = places[object] {
          records[index].join(record)
        } else {
          places[object] = records.count
          records.append(record)
        }
      }
    }
  }

  /// Follows an object, and all below it, from now on.
  ///
  /// - Parameters:
  ///   - model: the root of what is followed.
  ///   - loop: the loop whose turns become steps; without one, that of the model.
  ///   - limit: how many steps are kept.
  ///   - grouping: turns within so many seconds after the last one are one step.
  /// - Throws: ``PathError`` where another loop observes one of the objects.
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
    let handle = ShadowHandle()
    watcher = try model.register(
      in: loop, WatcherOptions(name: "history"), [.recording, .probing], #fileID, #line,
      { [weak self] _, _ in
        // The callback owns the shadow.
        withExtendedLifetime(handle) { self?.record() }
        engine.delivery.noteIdleCall()
      }
    ) { engine, record in try engine.wiring.add([Path.everything], to: record) }
    try watcher?.beginShadow(of: model, in: engine, handle)
  }

  deinit { watcher?.stop() }

  /// Takes the last step back, with what was written since; false where nothing was left.
  @discardableResult
  public func undo() -> Bool {
    checkOutside()
    settle()
    return go(isUndo: true)
  }

  /// Takes back all that came after a mark; false where that was nothing.
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

  /// Makes the step again that was taken back last; false where there is none.
  @discardableResult
  public func redo() -> Bool {
    checkOutside()
    settle()
    return go(isUndo: false)
  }

  /// Names the last step, for ``undo(to:)``.
  public func mark(_ name: String) {
    checkOutside()
    record()
    done.last?.isClosed = true
    marks[name] = done.last?.number ?? bottom
  }

  /// What follows is one step, until ``commit()``.
  public func begin() {
    checkOutside()
    if depth == 0 {
      record()
      done.last?.isClosed = true
    }
    depth += 1
  }

  /// Ends what ``begin()`` began.
  public func commit() {
    checkOutside()
    precondition(depth > 0, "commit() ends a begin()")
    depth -= 1
    if depth == 0 { settle() }
  }

  /// Forgets all steps.
  public func clear() {
    checkOutside()
    _ = take()
    (done, undone, marks, open) = ([], [], [:], nil)
    update()
  }

  /// Ends the history, and forgets all steps; does nothing when it has ended.
  public func stop() {
    watcher?.stop()
    watcher = nil
    (done, undone, marks) = ([], [], [:])
    update()
  }

  /// What is written in a transaction may be taken back: no step can be made of it yet.
  private func checkOutside(_ name: StaticString = #function) {
    precondition(!engine.transactions.isOpen, "\(name) was called inside a transaction")
  }

  private func settle() {
    record()
    open?.isClosed = true
    (open, depth) = (nil, 0)
  }

  private func update() {
    if canUndo == done.isEmpty { canUndo = !done.isEmpty }
    if canRedo == undone.isEmpty { canRedo = !undone.isEmpty }
  }

  /// Takes what was written since the last step.
  private func take() -> [Step.Record] {
    guard let shadow = watcher?.shadow, let taken = shadow.take() else { return [] }
    let records = taken.entries.compactMap { entry -> Step.Record? in
      let (old, new) = (taken.before.contents(entry), taken.after.contents(entry))
      guard let object = entry.object, !TreeContents.areSame(old, new) else { return nil }
      return Step.Record(object, isRoot: shadow.isRoot(entry), from: old, to: new)
    }
    shadow.advance(to: taken)
    return records
  }

  private func record() {
    let records = take()
    if records.isEmpty { return }
    let now = clock()
    if let last = done.last,
      last === open || depth == 0 && grouping > 0 && !last.isClosed && now - last.time <= grouping
    {
      last.join(records)
      last.time = now
    } else {
      lastNumber += 1
      let step = Step(number: lastNumber)
      step.time = now
      step.join(records)
      done.append(step)
      if depth > 0 { open = step }
      if done.count > limit { bottom = done.removeFirst().number }
    }
    undone = []
    update()
  }

  private func go(isUndo: Bool) -> Bool {
    guard watcher?.activeRecord != nil, let step = isUndo ? done.popLast() : undone.popLast()
    else { return false }
    step.isClosed = true
    let records = step.records.compactMap { record in
      record.object.map {
        isUndo ? ($0, record.new, record.old) : ($0, record.old, record.new)
      }
    }
    if let misfit = records.lazy.compactMap({ $1.misfit(of: $0, with: $2) }).first {
      onMisfit?("a step of the history no longer fits, and was dropped: \(misfit)")
      update()
      return false
    }
    engine.immediates.beginBatch()
    for (object, from, to) in records { to.write(to: object, over: from) }
    engine.immediates.endBatch()
    if isUndo { undone.append(step) } else { done.append(step) }
    // What was written is no step of its own.
    _ = take()
    update()
    return true
  }
}
