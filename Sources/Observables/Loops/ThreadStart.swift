package import LibC

/// Starts a thread that runs `body`, and retains `body` until it is done.
///
/// The caller has to join or detach the thread.
///
/// - Throws: an error if the system has no thread left.
func startThread(
  _ body: @escaping @Sendable () -> Void
) throws(SystemRefusal) -> pthread_t {
  #if canImport(Darwin)
    var thread: pthread_t?
  #else
    var thread = pthread_t()
  #endif
  let body = Unmanaged.passRetained(ThreadBody(body))
  let status = pthread_create(
    &thread, nil,
    { context in
      // On macOS it is not optional.
      let context: UnsafeMutableRawPointer? = context
      Unmanaged<ThreadBody>.fromOpaque(context!).takeRetainedValue().run()
      return nil
    }, body.toOpaque())
  guard status == 0 else {
    body.release()
    throw SystemRefusal("a thread", number: status)
  }
  let started: pthread_t? = thread
  return started!
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
