// The C library of the system: other files import this module instead of `Glibc` or `Darwin`.

#if canImport(Darwin)
  @_exported public import Darwin

  /// The type of sockets that carry a stream of bytes.
  package let streamSocket = SOCK_STREAM
#else
  @_exported public import Glibc

  /// The type of sockets that carry a stream of bytes.
  package let streamSocket = CInt(SOCK_STREAM.rawValue)
#endif
