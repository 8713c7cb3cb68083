// The C library of the system: other files import this module instead of `Glibc` or `Darwin`.

#if canImport(Darwin)
  @_exported public import Darwin

  /// The type of sockets that carry a stream of bytes.
  ///
  /// Other programs inherit them until `FD_CLOEXEC` is set.
  package let streamSocket = SOCK_STREAM
#else
  @_exported public import Glibc

  /// The type of sockets that carry a stream of bytes, and that other programs do not inherit.
  package let streamSocket = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
#endif
