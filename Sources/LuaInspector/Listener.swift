import LibC
internal import Observables

/// A socket that accepts connections of this machine.
final class Listener {
  let descriptor: Int32
  let port: Int
  /// The time until which it accepts none, because the process has no descriptors left.
  private(set) var pausedUntil: UInt64?
  private var isClosed = false

  /// Listens on a port of 127.0.0.1; port 0 chooses a free one.
  ///
  /// - Throws: ``InspectorError`` if the port is not free.
  init(port: Int) throws(InspectorError) {
    guard let number = UInt16(exactly: port) else {
      throw InspectorError(port: port, reason: "a port is a number from 0 to 65535")
    }
    let descriptor = aboveStandardStreams(socket(AF_INET, streamSocket, 0))
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = number.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var (isOn, size) = (Int32(1), socklen_t(MemoryLayout<sockaddr_in>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0
          && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isListening else {
      let reason = String(cString: strerror(errno))
      if descriptor >= 0 { _ = LibC.close(descriptor) }
      throw InspectorError(port: port, reason: reason)
    }
    self.descriptor = descriptor
    self.port = Int(UInt16(bigEndian: address.sin_port))
  }

  deinit { close() }

  func close() {
    if isClosed { return }
    isClosed = true
    _ = LibC.close(descriptor)
  }

  /// The entry for `poll`.
  var polled: pollfd {
    let isPaused = pausedUntil.map { $0 > monotonicNanoseconds() } ?? false
    return pollfd(fd: isClosed || isPaused ? -1 : descriptor, events: Int16(POLLIN), revents: 0)
  }

  /// Accepts at most 16 of the waiting connections, so that the program is not held up.
  func acceptWaiting() -> [Int32] {
    if isClosed { return [] }
    pausedUntil = nil
    var accepted: [Int32] = []
    while accepted.count < 16 {
      let made = accept(descriptor, nil, nil)
      if made >= 0 {
        let made = aboveStandardStreams(made)
        if made < 0 { continue }
        _ = fcntl(made, F_SETFD, FD_CLOEXEC)
        accepted.append(made)
      } else if errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM {
        pausedUntil = monotonicNanoseconds() + 1_000_000_000
        break
      } else if errno != EINTR && errno != ECONNABORTED {
        break
      }
    }
    return accepted
  }
}
