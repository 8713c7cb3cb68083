/// The rules that select a loop for an object if the program doesn't name one.
///
/// The first of these is used: the loop of this thread that already observes the object, the loop
/// whose turn is under way, and the only loop of this thread. If several loops are equally
/// possible, the program has to name one. A guess would be right only until some code makes another
/// loop.
enum LoopChoice {
  /// Selects the loop for an object that is observed, on this thread, in `places`.
  ///
  /// Returns nil if this thread has no loop. Also returns nil for an object that any thread can
  /// use, in a task that is not part of a loop's turn: such a task meets the loops of a thread by
  /// chance.
  static func loop(
    _ places: ObservationPlaces, isForAnyThread: @autoclosure () -> Bool
  ) -> Loop? {
    switch places {
    case .one(let token): return token.node.engine.inbox.loop
    case .several(let tokens):
      return only(of: LoopsHere(tokens.compactMap { $0.node.engine.inbox.loop }))
    case .none: break
    }
    let loops = LoopsHere()
    if isInTaskOfAnyThread, isForAnyThread() { return only(of: loops.underWay) }
    return only(of: loops) ?? (MainQueueWork.isMain ? MainQueueLoop.made : nil)
  }

  /// Whether the calling code is a task that is not on the main queue.
  private static var isInTaskOfAnyThread: Bool {
    withUnsafeCurrentTask { $0 != nil } && !MainQueueWork.isMain
  }

  private static func only(of loops: LoopsHere) -> Loop? {
    loops.only(for: "observes the object", namedBy: "in:")
  }

  /// The engine of a loop for a read, which cannot name a loop; if several are equally possible,
  /// any of them is used.
  static var engineForReading: Engine? {
    switch LoopsHere().meant {
    case .none: nil
    case .one(let loop): loop.engine
    case .several(let loops): loops.last?.engine
    }
  }

  /// The engine whose tracked computation is running on this thread; nil if none is running.
  ///
  /// `known` is the engine of the object that is read, and is preferred.
  static func trackingEngine(_ known: Engine?) -> Engine? {
    if let known, known.tracking.isOn { return known }
    switch LoopsHere() {
    case .none: return nil
    case .one(let loop): return loop.engine.tracking.isOn ? loop.engine : nil
    case .several(let loops): return loops.first { $0.engine.tracking.isOn }?.engine
    }
  }

  static func failWithoutLoop() -> Never {
    preconditionFailure(
      "There is no loop on this thread; make one, or, for a model that several threads use, "
        + "observe through the inbox of a loop")
  }
}

/// Loops of this thread.
enum LoopsHere {
  case none
  case one(Loop)
  case several([Loop])

  var all: [Loop] {
    switch self {
    case .none: []
    case .one(let loop): [loop]
    case .several(let loops): loops
    }
  }

  init(_ loops: [Loop]) {
    switch loops.count {
    case 0: self = .none
    case 1: self = .one(loops[0])
    default: self = .several(loops)
    }
  }

  /// The loops whose turn is under way.
  var underWay: LoopsHere { LoopsHere(all.filter(\.isUnderWay)) }

  /// The candidates if the program names no loop: the loops whose turn is under way, or else all
  /// loops.
  var meant: LoopsHere {
    guard case .several = self else { return self }
    let underWay = underWay
    if case .none = underWay { return self }
    return underWay
  }

  /// The single candidate; nil without a loop.
  ///
  /// - Precondition: there is at most one candidate. For the message, `role` describes the loop's
  ///   task, and `label` names the argument.
  func only(for role: String, namedBy label: String) -> Loop? {
    switch meant {
    case .none: return nil
    case .one(let loop): return loop
    case .several(let loops):
      let names = loops.map(\.description).joined(separator: " or ")
      preconditionFailure("It is not clear which loop \(role), \(names): pass it as '\(label)'")
    }
  }

  /// All loops of this thread.
  init() {
    self = CurrentLoop.all
    guard let main = MainQueueLoop.current else { return }
    switch self {
    case .none: self = .one(main)
    case .one(let loop): self = .several([main, loop])
    case .several(let loops): self = .several([main] + loops)
    }
  }
}

extension Loop {
  /// Selects the loop of this thread if the program names none: the loop whose turn is under way,
  /// or else the only one; nil without a loop.
  ///
  /// - Precondition: there is at most one candidate. For the message, `role` describes the loop's
  ///   task, and `label` names the argument.
  package static func only(for role: String, namedBy label: String) -> Loop? {
    LoopsHere().only(for: role, namedBy: label)
  }
}

extension KeyPathObservable {
  /// The engine of `loop`, or of the selected loop if `loop` is nil.
  ///
  /// - Throws: ``PathError`` for a model that several threads use, on a thread without the loop.
  @inline(__always)
  func engine(of loop: Loop?) throws(PathError) -> Engine {
    // The loop itself is not used after this, so that no reference to it is counted.
    guard let engine = loop?.engine else { return try chosenEngine() }
    if engine.isHere { return engine }
    throw misplaced()
  }

  @inline(never)
  private func chosenEngine() throws(PathError) -> Engine {
    if let loop = LoopChoice.loop(observationPlaces, isForAnyThread: isForAnyThread) {
      return loop.engine
    }
    if isForAnyThread { throw misplaced() }
    LoopChoice.failWithoutLoop()
  }

  /// The error for a registration on a thread that is not the loop's.
  @inline(never)
  private func misplaced() -> PathError {
    precondition(
      isForAnyThread,
      "Watchers are registered on their loop's thread; elsewhere use observe(_:on:)")
    return PathError(.noLoop, path: "", component: 1)
  }

  private var isForAnyThread: Bool {
    (self as? any ObservableModel)?.existingObservation?.sharing != nil
  }
}
