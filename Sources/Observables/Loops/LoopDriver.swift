import Glibc
import Synchronization

/// What gives turns to a loop that lives in something else: a queue, an event loop, a run loop.
///
/// ```swift
/// let driver = LoopDriver { seconds, work in eventLoop.scheduleTask(in: seconds, work) }
/// ```
public struct LoopDriver: Sendable {
  let perform: @Sendable (_ seconds: Double, _ work: @escaping @Sendable () -> Void) -> Void
  /// Whether the calling code runs where the loop lives; nil for the thread that makes the loop.
  let isHere: (@Sendable () -> Bool)?

  /// A driver that has `work` called once on the loop's thread, `seconds` from now or as soon as
  /// possible for 0; not before `perform` has returned.
  ///
  /// `perform` may be called on any thread. Work is called on the thread that makes the loop, or,
  /// for a queue that goes from thread to thread, where `isHere` is true; there is never more than
  /// one at a time.
  public init(
    isHere: (@Sendable () -> Bool)? = nil,
    _ perform:
      @escaping @Sendable (_ seconds: Double, _ work: @escaping @Sendable () -> Void) -> Void
  ) {
    (self.isHere, self.perform) = (isHere, perform)
  }
}

/// Joins a loop and its driver: asks for steps, each only once.
final class DrivenLoop: Sendable {
  private let driver: LoopDriver
  private let isAsked = Atomic(false)
  // The reference is only used on the loop's thread.
  nonisolated(unsafe) weak var loop: Loop?
  private nonisolated(unsafe) var nextDue = Double.infinity
  private let number: UInt64
  // Only used on the loop's thread.
  private nonisolated(unsafe) var waitsForDescriptors = false
  // Only used on the loop's thread.
  private nonisolated(unsafe) var isRefused = false

  private static let made = Atomic<UInt64>(0)

  init(_ driver: LoopDriver) {
    self.driver = driver
    number = Self.made.add(1, ordering: .relaxed).newValue
  }

  /// Asks for a step soon; may be called on any thread.
  func ask() {
    if isAsked.exchange(true, ordering: .sequentiallyConsistent) { return }
    driver.perform(0) { [weak self] in self?.performed() }
  }

  /// Asks for a step when the next timer is due; called on the loop's thread.
  func ask(at due: Double?, now: Double) {
    guard let due, due < nextDue else { return }
    nextDue = due
    driver.perform(max(0, due - now)) { [weak self] in self?.performed(due) }
  }

  /// Asks for a step when one of the descriptors is ready; called on the loop's thread.
  func wait(for descriptors: [pollfd]) {
    if descriptors.isEmpty, !waitsForDescriptors { return }
    do throws(SystemRefusal) {
      let thread = try DescriptorThread.started()
      thread.wait(for: descriptors, of: number) { [weak self] in self?.ask() }
      waitsForDescriptors = !descriptors.isEmpty
      isRefused = false
    } catch {
      // The next step tries again; it is reported once.
      if !isRefused { loop?.report(error) }
      isRefused = true
    }
  }

  func waitForNothing() { wait(for: []) }

  private func performed() {
    isAsked.store(false, ordering: .sequentiallyConsistent)
    step()
  }

  private func performed(_ due: Double) {
    // Where `nextDue` is later, a step was asked for that is still to come.
    if due >= nextDue { nextDue = .infinity }
    step()
  }

  private func step() {
    guard let loop else { return }
    if loop.engine.isOccupied {
      // The driver gives this turn in the middle of a callback; another step is asked for after
      // that.
      ask()
    } else {
      loop.step()
    }
  }
}
