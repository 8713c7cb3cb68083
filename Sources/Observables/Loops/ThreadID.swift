import LibC

/// A thread of the process.
// Any thread may compare it. It is a number on Linux, and on macOS a pointer, which is not read.
package struct ThreadID: Equatable, @unchecked Sendable {
  private let thread: pthread_t

  /// The calling thread.
  package static var current: ThreadID { ThreadID(thread: pthread_self()) }

  package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  package static func == (left: ThreadID, right: ThreadID) -> Bool {
    pthread_equal(left.thread, right.thread) != 0
  }
}
