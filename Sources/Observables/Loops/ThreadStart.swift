package import Glibc

/// Starts a thread that runs `body`, and keeps that until it is done.
///
/// The caller has to join or detach the thread.
package func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  var thread = pthread_t()
  let status = pthread_create(
    &thread, nil,
    { context in
      Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue().run()
      return nil
    }, Unmanaged.passRetained(ThreadBody(body)).toOpaque())
  precondition(status == 0, "The system could not start a thread (\(status))")
  return thread
}

private final class ThreadBody {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
