import Glibc

/// The main Dispatch queue, drained by a loop that owns the main thread, so that `@MainActor` work
/// goes on while the loop waits.
///
/// These entry points are what CoreFoundation uses for the same purpose. They are looked up at run
/// time: a program that doesn't load Dispatch has no main queue to serve.
struct MainQueue {
  let descriptor: Int32
  private let callback: @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// The process's first thread is the one with the process's id.
  static func isMainThread() -> Bool {
    var target = [CChar](repeating: 0, count: 64)
    let length = readlink("/proc/thread-self", &target, target.count - 1)
    guard length > 0 else { return false }
    let parts = target[..<length].split(separator: CChar(UInt8(ascii: "/")))
    return parts.count == 3 && parts[0].elementsEqual(parts[2])
  }

  static let shared: MainQueue? = {
    guard let handle = dlsym(nil, "_dispatch_get_main_queue_handle_4CF"),
      let callback = dlsym(nil, "_dispatch_main_queue_callback_4CF")
    else { return nil }
    let descriptor = unsafeBitCast(handle, to: (@convention(c) () -> Int32).self)()
    if descriptor < 0 { return nil }
    return MainQueue(
      descriptor: descriptor,
      callback: unsafeBitCast(
        callback, to: (@convention(c) (UnsafeMutableRawPointer?) -> Void).self))
  }()

  func drain() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
    callback(nil)
  }
}
