import Glibc

/// The remaining stack of a thread, so that natively nested computations cannot overflow it.
struct ThreadStack {
  /// The stack that code of the program may need below the deepest computation.
  private static let reserve: UInt = 256 * 1024
  private var thread: pthread_t?
  private var limit: UInt = 0

  /// Whether there is room for another computation on the current thread.
  mutating func hasRoom() -> Bool {
    let current = pthread_self()
    if thread != current {
      thread = current
      limit = ThreadStack.lowestAddress(of: current) + ThreadStack.reserve
    }
    var mark: UInt8 = 0
    return withUnsafePointer(to: &mark) { UInt(bitPattern: $0) } > limit
  }

  private static func lowestAddress(of thread: pthread_t) -> UInt {
    var attributes = pthread_attr_t()
    var address: UnsafeMutableRawPointer?
    var size = 0
    // The C library's module does not declare this function for Swift.
    typealias Function = @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> Int32
    guard let symbol = dlsym(nil, "pthread_getattr_np"),
      unsafeBitCast(symbol, to: Function.self)(thread, &attributes) == 0
    else { return 0 }
    defer { pthread_attr_destroy(&attributes) }
    guard pthread_attr_getstack(&attributes, &address, &size) == 0 else { return 0 }
    return UInt(bitPattern: address)
  }
}
