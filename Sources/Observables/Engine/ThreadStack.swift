import LibC

/// The remaining stack of a thread, so that natively nested computations cannot overflow it.
struct ThreadStack {
  /// The stack that code of the program may need below the deepest computation.
  private static let reserve: UInt = 256 * 1024
  private var thread: ThreadID?
  private var limit: UInt = 0

  /// Whether there is room for another computation on the current thread.
  mutating func hasRoom() -> Bool {
    let current = ThreadID.current
    if thread != current {
      thread = current
      limit = ThreadStack.lowestAddress() + ThreadStack.reserve
    }
    var mark: UInt8 = 0
    return withUnsafePointer(to: &mark) { UInt(bitPattern: $0) } > limit
  }

  /// The lowest address of the calling thread's stack; 0 if it is not known.
  private static func lowestAddress() -> UInt {
    let thread = pthread_self()
    #if canImport(Darwin)
      let end = UInt(bitPattern: pthread_get_stackaddr_np(thread))
      return end - UInt(pthread_get_stacksize_np(thread))
    #else
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
    #endif
  }
}
