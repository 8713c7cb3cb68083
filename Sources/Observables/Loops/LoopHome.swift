import Glibc

/// The place where a loop lives: a thread, or a place that its driver recognizes.
///
/// The main queue may move from thread to thread.
enum LoopHome: Sendable {
  case thread(pthread_t)
  case driver(@Sendable () -> Bool)

  static var currentThread: LoopHome { .thread(pthread_self()) }

  /// Whether the calling code runs where the loop lives.
  var isHere: Bool {
    switch self {
    case .thread(let thread): pthread_equal(thread, pthread_self()) != 0
    case .driver(let isHere): isHere()
    }
  }
}
