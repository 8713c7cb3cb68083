import Glibc

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
