import LibC
import Synchronization

/// A source of turns for a loop that lives in a queue, an event loop, or a run loop.
///
/// ```swift
/// let driver = LoopDriver { seconds, work in eventLoop.scheduleTask(in: seconds, work) }
/// ```
public struct LoopDriver: Sendable {
  let perform: @Sendable (_ seconds: Double, _ work: @escaping @Sendable () -> Void) -> Void
  /// Whether the calling code runs where the loop lives; nil for the thread that makes the loop.
  let isHere: (@Sendable () -> Bool)?

  /// Makes a driver from a function that schedules work.
  ///
  /// `perform` has to call `work` once on the loop's thread, `seconds` from now, or as soon as
  /// possible if `seconds` is 0. It must not call `work` before it returns. `perform` itself can be
  /// called on any thread. "The loop's thread" is the thread that makes the loop, or, for a queue
  /// that moves from thread to thread, any place where `isHere` is true. Never run more than one
  /// work item at a time.
  public init(
    isHere: (@Sendable () -> Bool)? = nil,
    _ perform:
      @escaping @Sendable (_ seconds: Double, _ work: @escaping @Sendable () -> Void) -> Void
  ) {
    (self.isHere, self.perform) = (isHere, perform)
  }
}

/// Joins a loop and its driver, and asks for each step only once.
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

  /// Asks for a step soon; can be called on any thread.
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
      // The next step tries again. The refusal is reported once.
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
    // If `nextDue` is later, another step was requested and is still to come.
    if due >= nextDue { nextDue = .infinity }
    step()
  }

  private func step() {
    guard let loop else { return }
    if loop.engine.isOccupied {
      // The driver gives this turn in the middle of a callback, so another step is requested for
      // later.
      ask()
    } else {
      loop.step()
    }
  }
}
