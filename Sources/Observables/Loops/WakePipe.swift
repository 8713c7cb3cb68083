import Glibc

/// Makes a pipe by which a thread is woken that waits for its first end.
func makeWakePipe() -> (Int32, Int32) {
  var ends: [Int32] = [-1, -1]
  let status = pipe(&ends)
  precondition(status == 0, "The process has no file descriptors left for a loop")
  for (index, end) in ends.enumerated() {
    // The descriptor must not be that of a standard stream, which the process may have been
    // started without.
    let moved = fcntl(end, F_DUPFD_CLOEXEC, 3)
    precondition(moved >= 3, "The process has no file descriptors left for a loop")
    close(end)
    _ = fcntl(moved, F_SETFL, O_NONBLOCK)
    ends[index] = moved
  }
  return (ends[0], ends[1])
}

/// Wakes the thread that waits.
///
/// Async-signal-safe.
func writeToWakePipe(_ descriptor: Int32) {
  // A pipe that is full wakes it as well.
  var byte: UInt8 = 1
  _ = write(descriptor, &byte, 1)
}

func emptyWakePipe(_ descriptor: Int32) {
  withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { buffer in
    while read(descriptor, buffer.baseAddress, buffer.count) == buffer.count {}
  }
}
