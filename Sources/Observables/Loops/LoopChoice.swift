/// Which loop observes an object where the program names none.
///
/// That is the loop of this thread that observes the object already; else the one whose turn is
/// under way; else the only one. Where several are meant alike, the program has to say which: a
/// guess would be right until somebody makes another loop.
enum LoopChoice {
  /// The loop for an object that is observed, on this thread, in `places`.
  ///
  /// nil where there is no loop on this thread, and where the object is one for any thread: a task
  /// meets the loops of a thread by chance, but for those whose turn it is part of.
  static func loop(
    _ places: ObservationPlaces, isForAnyThread: @autoclosure () -> Bool
  ) -> Loop? {
    switch places {
    case .one(let token): return token.node.engine.inbox.loop
    case .several(let tokens): return only(of: tokens.compactMap { $0.node.engine.inbox.loop })
    case .none: break
    }
    let loops = LoopsHere()
    if isInTaskOfAnyThread, isForAnyThread() {
      let underWay = loops.all.filter(\.isUnderWay)
      return underWay.isEmpty ? nil : only(of: underWay)
    }
    switch loops {
    case .one(let loop): return loop
    case .several(let loops): return only(of: loops)
    case .none: return MainQueueWork.isMain ? MainQueueLoop.made : nil
    }
  }

  /// Whether the calling code is a task that is not on the main queue.
  private static var isInTaskOfAnyThread: Bool {
    withUnsafeCurrentTask { $0 != nil } && !MainQueueWork.isMain
  }

  /// The one of several loops whose turn is under way.
  private static func only(of loops: [Loop]) -> Loop {
    let underWay = loops.filter(\.isUnderWay)
    if underWay.count == 1 { return underWay[0] }
    let names = (underWay.isEmpty ? loops : underWay).map(\.description)
    preconditionFailure(
      "It is not clear which loop observes the object, \(names.joined(separator: " or ")): "
        + "name it by 'in:'")
  }

  static func failWithoutLoop() -> Never {
    preconditionFailure(
      "There is no loop on this thread; make one, or, for a model that several threads use, "
        + "observe by the inbox of one")
  }
}

/// The loops of this thread.
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

extension KeyPathObservable {
  /// The engine of `loop`, or of the loop that is meant where none is given.
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

  /// The error for a registration on another thread than that of its loop.
  @inline(never)
  private func misplaced() -> PathError {
    precondition(
      isForAnyThread,
      "Watchers are registered on their loop's thread; elsewhere use observe(_:on:)")
    return PathError(.noLoop, path: "", component: 1)
  }

  private var isForAnyThread: Bool {
    (self as? any ObservableModel)?.observation.sharing != nil
  }
}
