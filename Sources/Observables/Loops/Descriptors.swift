import LibC

/// Writes all bytes to a descriptor; returns false if the system refuses some, with its reason in
/// `errno`.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Bool {
  var rest = bytes
  while rest.count > 0 {
    let count = write(descriptor, rest.baseAddress, rest.count)
    if count < 0, errno != EINTR { return false }
    rest = UnsafeRawBufferPointer(rebasing: rest[max(0, count)...])
  }
  return true
}

/// Moves a new descriptor to a number above those of the standard streams; returns -1 if the system
/// refuses it, or if `descriptor` is none.
///
/// If the process was started with closed standard streams, the system reuses their numbers, and
/// the program would print into the file or connection.
package func aboveStandardStreams(_ descriptor: CInt) -> CInt {
  guard (0...STDERR_FILENO).contains(descriptor) else { return descriptor }
  let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
  let reason = errno
  _ = close(descriptor)
  errno = reason
  return moved
}
