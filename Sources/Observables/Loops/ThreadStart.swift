package import Glibc

/// Starts a thread that runs `body`, and retains `body` until it is done.
///
/// The caller has to join or detach the thread.
///
/// - Throws: an error if the system has no thread left.
func startThread(
  _ body: @escaping @Sendable () -> Void
) throws(SystemRefusal) -> pthread_t {
  var thread = pthread_t()
  let body = Unmanaged.passRetained(ThreadBody(body))
  let status = pthread_create(
    &thread, nil,
    { context in
      Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue().run()
      return nil
    }, body.toOpaque())
  guard status == 0 else {
    body.release()
    throw SystemRefusal("a thread", number: status)
  }
  return thread
}

/// Does the same as `startThread`, but ends the program with a sentence if the system has no thread
/// left.
package func startNeededThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  do throws(SystemRefusal) { return try startThread(body) } catch {
    preconditionFailure("A thread is needed, but \(error)")
  }
}

private final class ThreadBody {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
