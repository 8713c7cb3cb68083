import Synchronization

/// Which threads may use a model.
public enum ThreadUse: Sendable {
  /// The one thread of the loops that observe it.
  case confined
  /// Any thread: its values are read and written inside of ``ModelObservation/locked(_:)``.
  case threadSafe
}

/// What a model that several threads use has besides: a lock for its values, and who observes it,
/// in which loop.
@usableFromInline
final class ModelSharing: Sendable {
  let lock = RecursiveLock()
  /// Only touched by `withParts`.
  private nonisolated(unsafe) var parts: [Part] = []
  /// Read without the lock by each write.
  ///
  /// Whoever registers sets it before they read a value, so that a write they have not seen sees
  /// it.
  private let hasParts = Atomic(false)

  /// What one loop knows of the model, and how it is notified.
  final class Part: Sendable {
    // Confined to the loop's thread, but for being held here.
    let observation: ModelObservation
    let inbox: Inbox
    private let home: LoopHome
    private let pending = Mutex(PendingWrites())
    /// The first 64 slots with pending writes, so that most writes need not ask for the lock.
    ///
    /// Taken back before anybody reads the values: a write that finds its bit is one that will be
    /// seen.
    private let posted = Atomic<UInt64>(0)

    init(_ observation: ModelObservation, _ engine: Engine) {
      (self.observation, inbox, home) = (observation, engine.inbox, engine.home)
    }

    var isHere: Bool { home.isHere }

    /// Has the loop notified of a write; it wakes for it, and keeps the model until then (L2).
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

    /// The model is gone.
    func end() { observation.end() }
  }

  /// Writes that the loop has not been notified of yet, in order.
  private struct PendingWrites {
    var slots: [Int] = []
    var isPosted = false
  }

  /// By the lock of the values: sanitizers see what it guards.
  private func withParts<Result>(_ body: (inout [Part]) -> Result) -> Result {
    lock.withLock { body(&parts) }
  }

  func add(_ observation: ModelObservation, _ engine: Engine) {
    withParts { $0.append(Part(observation, engine)) }
    hasParts.store(true, ordering: .sequentiallyConsistent)
  }

  func remove(_ observation: ModelObservation) {
    // Let go of outside of the lock.
    let removed = withParts { parts in
      let removed = parts.filter { $0.observation === observation }
      parts.removeAll { $0.observation === observation }
      hasParts.store(!parts.isEmpty, ordering: .sequentiallyConsistent)
      return removed
    }
    withExtendedLifetime(removed) {}
  }

  /// What the loops of this thread know.
  var partsHere: [ModelObservation] {
    withParts { $0 }.filter(\.isHere).map(\.observation)
  }

  var everyPart: [Part] {
    hasParts.load(ordering: .sequentiallyConsistent) ? withParts { $0 } : []
  }

  /// The model is gone: each loop is notified on its thread.
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

/// A model that other threads may let go of at any moment, as one loop sees it.
final class GuardedModel {
  private weak var model: AnyObject?
  /// The model, until the turn is over.
  private var held: AnyObject?
  /// The same, while a watcher is pending (L2).
  private var anchored: AnyObject?

  init(_ model: AnyObject) { self.model = model }

  /// False where the model is gone; else it lives until the turn is over.
  func hold(in engine: Engine?) -> Bool {
    if held != nil { return true }
    guard let engine, let model else { return false }
    held = model
    // Let go of in a turn, if there is none now.
    engine.hold(self)
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
