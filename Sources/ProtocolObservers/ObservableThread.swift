import LibC
import Observables

/// A thread that can be observed: override `main()`, and call `withObservers` there.
public typealias ObservableThread = KeyedObservableThread<Never>

/// A thread whose observers may register for keys.
///
/// ```swift
/// final class Dice: ObservableThread {
///   override func main() {
///     repeat {
///       let number = Int.random(in: 1...6)
///       withObservers { (observer: any DiceObserver) in observer.rolled(number) }
///     } while sleep(seconds: 60)
///   }
/// }
/// ```
///
/// Observers are called in the contexts from which they registered (K3), so they need no locks. The
/// object stays alive until `main()` has returned. May be used on any thread.
// The properties are constants, and `Sendable`; subclasses have to protect the properties they add.
open class KeyedObservableThread<ObserverKey: Hashable & Sendable>:
  SharedProtocolObservable, @unchecked Sendable
{
  /// The registered observers.
  public final let observers = SharedObserverRegistry<ObserverKey>()
  private let started = Latch()
  private let cancelled = Latch()
  private let finished = Latch()

  /// Creates a thread, which is not started yet.
  public init() {}

  /// The work of the thread; should return soon after a call of `cancel()`.
  ///
  /// Only the thread itself calls it.
  open func main() {}

  /// Starts the thread.
  ///
  /// It can be started once.
  public final func start() {
    precondition(started.open(), "A thread can be started once")
    pthread_detach(
      startNeededThread { [self] in
        main()
        finished.open()
      })
  }

  /// Asks `main()` to return.
  public final func cancel() { cancelled.open() }

  /// Whether `cancel()` was called.
  public final var isCancelled: Bool { cancelled.isOpen }

  /// Whether the thread runs: it was started, and `main()` has not returned.
  public final var isRunning: Bool { started.isOpen && !finished.isOpen }

  /// Waits in `main()`, and returns at once when the thread is cancelled.
  ///
  /// - Returns: false if the thread was cancelled.
  public final func sleep(seconds: Double) -> Bool { !cancelled.wait(seconds: seconds) }

  /// Waits until `main()` has returned.
  ///
  /// It must not be called on the thread itself.
  public final func join() {
    precondition(started.isOpen, "A thread that was not started never ends")
    finished.wait()
  }
}
