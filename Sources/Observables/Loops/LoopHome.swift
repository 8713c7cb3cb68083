/// The place where a loop lives: a thread, or a place that its driver recognizes.
///
/// The main queue may move from thread to thread.
enum LoopHome: Sendable {
  case thread(ThreadID)
  case driver(@Sendable () -> Bool)

  static var currentThread: LoopHome { .thread(.current) }

  /// Whether the calling code runs where the loop lives.
  var isHere: Bool {
    switch self {
    case .thread(let thread): thread.isCurrent
    case .driver(let isHere): isHere()
    }
  }
}
