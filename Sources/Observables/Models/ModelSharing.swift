import Synchronization

/// The threads that can use a model.
public enum ThreadUse: Sendable {
  /// One thread: the thread of the loops that observe the model.
  case confined
  /// Any thread; the values are read and written inside ``ModelObservation/locked(_:)``.
  case threadSafe
}

/// The additional state of a model that several threads use: a lock for its values, and its
/// observations in each loop.
@usableFromInline
final class ModelSharing: Sendable {
  let lock = RecursiveLock()
  /// The parts; they are only used in `withParts`.
  private nonisolated(unsafe) var parts: [Part] = []
  /// Whether there are parts.
  ///
  /// Each write reads this without the lock. A registration sets it before it reads a value. If the
  /// registration doesn't read the value of a write, that write finds it set.
  private let hasParts = Atomic(false)

  /// The observation of the model in one loop, and the way to notify that loop.
  final class Part: Sendable {
    // The observation is only used on the loop's thread. Here it is only retained.
    let observation: ModelObservation
    let inbox: Inbox
    private let home: LoopHome
    private let pending = Mutex(PendingWrites())
    /// Bits for pending writes of the first 64 slots, so that most writes need no lock.
    ///
    /// The bits are cleared before the values are read. If a write finds its bit set, its value
    /// will still be read.
    private let posted = Atomic<UInt64>(0)

    init(_ observation: ModelObservation, _ engine: Engine) {
      (self.observation, inbox, home) = (observation, engine.inbox, engine.home)
    }

    var isHere: Bool { home.isHere }

    /// Wakes the loop to notify it of a write, and retains the model until then (L2).
    func post(_ slot: Int, of model: any ObservableModel & Sendable) {
      let bit: UInt64 = slot < 64 ? 1 << UInt64(slot) : 0
      if posted.load(ordering: .sequentiallyConsistent) & bit != 0 { return }
      let isFirst = pending.withLock { pending in
        posted.bitwiseOr(bit, ordering: .sequentiallyConsistent)
        if !pending.slots.contains(slot) { pending.slots.append(slot) }
        defer { pending.isPosted = true }
        return !pending.isPosted
      }
      if isFirst { inbox.post { [self] in withExtendedLifetime(model) { deliver() } } }
    }

    private func deliver() {
      let slots = pending.withLock { pending in
        posted.store(0, ordering: .sequentiallyConsistent)
        defer { pending = PendingWrites() }
        return pending.slots
      }
      for slot in slots { observation.didChange(slot) }
    }

    /// Ends the observation, because the model is gone.
    func end() { observation.end() }
  }

  /// Writes that the loop has not been notified of yet, in order.
  private struct PendingWrites {
    var slots: [Int] = []
    var isPosted = false
  }

  /// Runs `body` under the lock of the values, so that sanitizers see how `parts` is guarded.
  private func withParts<Result>(_ body: (inout [Part]) -> Result) -> Result {
    lock.withLock { body(&parts) }
  }

  func add(_ observation: ModelObservation, _ engine: Engine) {
    withParts { $0.append(Part(observation, engine)) }
    hasParts.store(true, ordering: .sequentiallyConsistent)
  }

  func remove(_ observation: ModelObservation) {
    // The parts are released outside the lock.
    let removed = withParts { parts in
      let removed = parts.filter { $0.observation === observation }
      parts.removeAll { $0.observation === observation }
      hasParts.store(!parts.isEmpty, ordering: .sequentiallyConsistent)
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  /// The observations in the loops of this thread.
  var partsHere: [ModelObservation] {
    withParts { $0 }.filter(\.isHere).map(\.observation)
  }

  var everyPart: [Part] {
    hasParts.load(ordering: .sequentiallyConsistent) ? withParts { $0 } : []
  }

  /// Notifies each loop, on its thread, that the model is gone.
  func end() {
    let parts = withParts { parts in
      defer { parts = [] }
      return parts
    }
    for part in parts {
      if part.isHere { part.end() } else { part.inbox.post { part.end() } }
    }
  }
}

/// The reference of one loop to a model that other threads can release at any moment.
final class GuardedModel {
  private weak var model: AnyObject?
  /// The model, retained until the turn ends.
  private var held: AnyObject?
  /// The model, retained while a watcher is pending (L2).
  private var anchored: AnyObject?

  init(_ model: AnyObject) { self.model = model }

  /// Retains the model until the turn ends; returns false if the model is gone.
  func hold(in engine: Engine?) -> Bool {
    if held != nil { return true }
    guard let engine, let model else { return false }
    held = model
    // The model is released when a turn ends. This requests a turn if none is under way.
    engine.delivery.hold(self)
    return true
  }

  func letGo() { held = nil }

  func anchor(in engine: Engine?) -> Bool {
    guard hold(in: engine) else { return false }
    anchored = held
    return true
  }
  func releaseAnchor() { anchored = nil }
}
