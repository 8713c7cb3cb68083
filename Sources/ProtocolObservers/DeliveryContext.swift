public import Observables
import Synchronization

/// Where an observer is called: a loop, an actor, or any other code that runs calls one after the
/// other.
///
/// May be used on any thread. Calls that are sent to one context arrive in the order in which they
/// were sent.
public struct DeliveryContext: Sendable {
  /// Runs a call in the context; nil for the place where the notification is made.
  private let enqueue: (@Sendable (@escaping @Sendable () -> Void) -> Void)?

  /// A context that has each of its calls run by `enqueue`, in order and not at the same time, such
  /// as `DeliveryContext { queue.async(execute: $0) }` for a serial queue.
  public init(_ enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.enqueue = enqueue
  }

  private init() { enqueue = nil }

  /// The thread that makes the notification, which waits for the call.
  public static let inline = DeliveryContext()

  /// The thread of a loop: each call is a turn of it (T1), and wakes it when it is idle (T8).
  ///
  /// Calls that have not begun when the loop ends are dropped.
  public static func loop(_ inbox: Inbox) -> DeliveryContext {
    DeliveryContext { inbox.post($0) }
  }

  /// An actor, such as `MainActor.shared`.
  ///
  /// It is held weakly; calls that are sent when it is gone are dropped.
  public static func actor(_ actor: any Actor) -> DeliveryContext {
    let mailbox = ActorMailbox.of(actor)
    return DeliveryContext { mailbox.post($0) }
  }

  /// The actor that the caller is isolated to, if that is another one than the main actor; else the
  /// loop of the current thread whose turn is under way, or the only one; where there is none the
  /// main actor, if the caller is isolated to it; else `inline`.
  ///
  /// - Precondition: no two loops of the thread are meant alike.
  public static func current(isolation: (any Actor)? = #isolation) -> DeliveryContext {
    // An actor changes threads, whose loops are not its own.
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

/// Keeps the order of calls that are sent to an actor, which tasks alone would not; there is one
/// for each actor.
private final class ActorMailbox: Sendable {
  private struct Known: Sendable {
    weak let mailbox: ActorMailbox?
    let number: Int
  }
  private static let all = Mutex((known: [ObjectIdentifier: Known](), lastNumber: 0))

  static func of(_ actor: any Actor) -> ActorMailbox {
    // The mailbox of an actor that is gone, and was at the same address; it is released when
    // nothing is locked.
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
    /// Whether a task is on its way to the actor, or there.
    var isServed = false
  }
  private let state = Mutex(State())
  // The reference is weak, as an observer in an actor is often owned by it, or is that actor.
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
