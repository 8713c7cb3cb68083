public import Observables
import Synchronization

/// The place where an observer is called: a loop, an actor, or other code that runs calls one after
/// the other.
///
/// May be used on any thread. Calls that are sent to one context arrive in the order in which they
/// were sent.
/// were sent.
public struct DeliveryContext: Sendable {
  /// Runs a call in the context; nil for a call in place, by the notification.
  private let enqueue: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

  /// Creates a context whose calls `enqueue` runs in order, one at a time.
  ///
  /// For a serial queue: `DeliveryContext { queue.async(execute: $0) }`.
  public init(_ enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.enqueue = enqueue
  }

  private init() { enqueue = nil }

  /// Calls the observer on the notifying thread, which waits for the call.
  public static let inline = DeliveryContext()

  /// The thread of a loop: each call is a turn (T1), and wakes the loop when it is idle (T8).
  ///
  /// When the loop ends, calls that have not begun are dropped.
  public static func loop(_ inbox: Inbox) -> DeliveryContext {
    DeliveryContext { inbox.post($0) }
  }

  /// An actor, such as `MainActor.shared`.
  ///
  /// It is held weakly. Calls that are sent to a released actor are dropped.
  public static func actor(_ actor: any Actor) -> DeliveryContext {
    let mailbox = ActorMailbox.of(actor)
    return DeliveryContext { mailbox.post($0) }
  }

  /// The context of the caller, by default.
  ///
  /// - The actor to which the caller is isolated, unless it is the main actor.
  /// - Else the loop of the current thread whose turn is under way, or the thread's only loop.
  /// - Else the main actor, if the caller is isolated to it.
  /// - Else `inline`.
  ///
  /// - Precondition: the thread does not have several loops to choose from.
  public static func current(isolation: (any Actor)? = #isolation) -> DeliveryContext {
    // An actor can run on any thread, so the loops of the current thread do not belong to it.
    if let isolation, isolation !== MainActor.shared { return .actor(isolation) }
    if let loop = Loop.only(for: "calls the observer", namedBy: "in: .loop(inbox)") {
      return .loop(loop.inbox)
    }
    return isolation.map { .actor($0) } ?? .inline
  }

  var isInline: Bool { enqueue == nil }

  func run(_ call: @escaping @Sendable () -> Void) {
    if let enqueue { enqueue(call) } else { call() }
  }
}

/// The calls for one actor, in the order in which they were sent: tasks alone do not keep it.
private final class ActorMailbox: Sendable {
  private struct Known: Sendable {
    weak let mailbox: ActorMailbox?
    let number: Int
  }
  private static let all = Mutex((known: [ObjectIdentifier: Known](), lastNumber: 0))

  static func of(_ actor: any Actor) -> ActorMailbox {
    // The mailbox of a released actor that had the same address. It is released outside of the
    // lock.
    var former: ActorMailbox?
    return all.withLock { all in
      let identifier = ObjectIdentifier(actor)
      former = all.known[identifier]?.mailbox
      if let former, former.actor === actor { return former }
      all.lastNumber += 1
      let mailbox = ActorMailbox(actor, number: all.lastNumber)
      all.known[identifier] = Known(mailbox: mailbox, number: mailbox.number)
      return mailbox
    }
  }

  private struct State {
    var calls: [@Sendable () -> Void] = []
    /// Whether a task is on its way to the actor, or runs there.
    var isServed = false
  }
  private let state = Mutex(State())
  // The reference is weak, as the actor often owns the observer, or is the observer.
  private weak let actor: (any Actor)?
  private let identifier: ObjectIdentifier
  private let number: Int

  private init(_ actor: any Actor, number: Int) {
    self.actor = actor
    identifier = ObjectIdentifier(actor)
    self.number = number
  }

  deinit {
    ActorMailbox.all.withLock { all in
      if all.known[identifier]?.number == number { all.known[identifier] = nil }
    }
  }

  func post(_ call: @escaping @Sendable () -> Void) {
    guard let actor else { return }
    let isServed = state.withLock { state in
      state.calls.append(call)
      defer { state.isServed = true }
      return state.isServed
    }
    if !isServed { Task { await serve(actor) } }
  }

  private func serve(_ actor: isolated any Actor) {
    while true {
      let calls = state.withLock { state in
        defer { state.calls = [] }
        state.isServed = !state.calls.isEmpty
        return state.calls
      }
      if calls.isEmpty { return }
      for call in calls { call() }
    }
  }
}
