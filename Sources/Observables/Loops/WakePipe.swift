import LibC

/// A pipe that wakes a thread waiting for its `input`.
struct WakePipe {
  let input: Int32
  private let output: Int32

  /// - Throws: an error if the process has no descriptors left.
  init() throws(SystemRefusal) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Self.refusal }
    for index in 0...1 {
      ends[index] = aboveStandardStreams(ends[index])
      guard ends[index] >= 0 else {
        let refusal = Self.refusal
        for end in ends where end >= 0 { LibC.close(end) }
        throw refusal
      }
      _ = fcntl(ends[index], F_SETFD, FD_CLOEXEC)
      _ = fcntl(ends[index], F_SETFL, O_NONBLOCK)
    }
    (input, output) = (ends[0], ends[1])
  }

  private static var refusal: SystemRefusal { SystemRefusal("a pipe for the loop", number: errno) }

  /// Wakes the waiting thread.
  ///
  /// Async-signal-safe.
  func wake() {
    // A full pipe wakes the thread as well.
    var byte: UInt8 = 1
    _ = write(output, &byte, 1)
  }

  func empty() {
    withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
      while read(input, buffer.baseAddress, buffer.count) == buffer.count {}
    }
  }

  /// Closes both ends; the owner of the pipe calls it once.
  func close() {
    LibC.close(input)
    LibC.close(output)
  }
}
