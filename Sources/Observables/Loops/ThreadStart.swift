package import Glibc

/// Starts a thread that runs `body`, and keeps that until it is done.
///
/// The caller has to join or detach the thread.
///
/// - Throws: if the system has no thread left.
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

/// As `startThread`, for programs: one that can have no thread ends with a sentence.
package func startNeededThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  do throws(SystemRefusal) { return try startThread(body) } catch {
    preconditionFailure("A thread is needed, but \(error)")
  }
}

private final class ThreadBody {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
