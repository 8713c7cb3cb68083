import Glibc

/// Where a loop lives: on a thread, or where its driver says.
///
/// The main queue may use several threads, one after the other.
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
