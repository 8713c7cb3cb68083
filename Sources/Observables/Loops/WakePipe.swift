import Glibc

/// A pipe that wakes a thread waiting for its `input`.
struct WakePipe {
  let input: Int32
  private let output: Int32

  /// - Throws: an error if the process has no descriptors left.
  init() throws(SystemRefusal) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Self.refusal }
    for index in 0...1 {
      do throws(SystemRefusal) { ends[index] = try Self.moved(ends[index]) } catch {
        for end in ends { Glibc.close(end) }
        throw error
      }
      _ = fcntl(ends[index], F_SETFD, FD_CLOEXEC)
      _ = fcntl(ends[index], F_SETFL, O_NONBLOCK)
    }
    (input, output) = (ends[0], ends[1])
  }

  /// Moves the descriptor if it has the number of a standard stream, because the process may have
  /// been started without that stream.
  private static func moved(_ descriptor: Int32) throws(SystemRefusal) -> Int32 {
    if descriptor > STDERR_FILENO { return descriptor }
    let moved = fcntl(descriptor, F_DUPFD, STDERR_FILENO + 1)
    guard moved >= 0 else { throw refusal }
    Glibc.close(descriptor)
    return moved
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
    Glibc.close(input)
    Glibc.close(output)
  }
}
