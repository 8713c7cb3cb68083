import Glibc
import Observables

/// A thread that is observable: override `main()`, and call `withObservers` there.
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
/// Observers are called in the contexts that they registered from (K3), so they need no locks. The
/// thread keeps its object alive until `main()` returned. May be used on any thread; subclasses
/// protect what they add.
// The properties are constants, each of them `Sendable`; subclasses have to protect their own.
open class KeyedObservableThread<ObserverKey: Hashable & Sendable>:
  SharedProtocolObservable, @unchecked Sendable
{
  /// The registered observers.
  public final let observers = SharedObserverRegistry<ObserverKey>()
  private let started = Latch()
  private let cancelled = Latch()
  private let finished = Latch()

  /// A thread that is not started yet.
  public init() {}

  /// What the thread does; returns soon after `cancel()` was called.
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

  /// Waits in `main()`; ends at once when the thread is cancelled.
  ///
  /// - Returns: false when it is cancelled.
  public final func sleep(seconds: Double) -> Bool { !cancelled.wait(seconds: seconds) }

  /// Waits until `main()` has returned.
  ///
  /// It must not be called on the thread itself.
  public final func join() {
    precondition(started.isOpen, "A thread that was not started never ends")
    finished.wait()
  }
}
