import Foundation
import LibC

/// Passes bytes between clients and a server, and cuts or stalls connections as its test wants.
final class CuttingProxy: @unchecked Sendable {
  let port: Int
  /// How many bytes of the server a connection passes before it is cut, by its number; nil to pass
  /// all.
  private let limit: @Sendable (_ connection: Int) -> Int?
  /// How many bytes are passed at once.
  private let portion: Int
  private let listener: Int32
  // Guarded by the lock.
  private let lock = NSCondition()
  private var count = 0
  private var current: (server: Int, isStalled: Bool)

  var connections: Int { lock.withLock { count } }
  /// The port to which new connections go.
  var server: Int {
    get { lock.withLock { current.server } }
    set { lock.withLock { current.server = newValue } }
  }
  /// Whether bytes wait, as in a network that is down.
  var isStalled: Bool {
    get { lock.withLock { current.isStalled } }
    set {
      lock.withLock {
        current.isStalled = newValue
        lock.broadcast()
      }
    }
  }

  init(
    to server: Int, portion: Int = 1 << 16,
    limit: @escaping @Sendable (_ connection: Int) -> Int? = { _ in nil }
  ) throws {
    (current, self.portion, self.limit) = ((server, false), portion, limit)
    port = try freePort()
    listener = socket(AF_INET, streamSocket, 0)
    var yes: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
    _ = withLoopbackAddress(port) { bind(listener, $0, $1) }
    listen(listener, 64)
    Thread.detachNewThread { [self] in accept() }
  }

  var url: String { "redis://127.0.0.1:\(port)" }

  func close() {
    isStalled = false
    shutdown(listener, Int32(SHUT_RDWR))
    Foundation.close(listener)
  }

  private func accept() {
    while true {
      let client = Foundation.accept(listener, nil, nil)
      if client < 0 { return }
      let number = lock.withLock {
        count += 1
        return count
      }
      let other = socket(AF_INET, streamSocket, 0)
      guard withLoopbackAddress(server, { connect(other, $0, $1) }) == 0 else {
        Foundation.close(client)
        Foundation.close(other)
        continue
      }
      let limit = limit(number)
      Thread.detachNewThread { [self] in pass(from: client, to: other, limit: nil) }
      Thread.detachNewThread { [self] in
        pass(from: other, to: client, limit: limit)
        Foundation.close(client)
        Foundation.close(other)
      }
    }
  }

  private func pass(from: Int32, to: Int32, limit: Int?) {
    var left = limit ?? .max
    var buffer = [UInt8](repeating: 0, count: portion)
    while left > 0 {
      let count = recv(from, &buffer, min(portion, left), 0)
      if count <= 0 { break }
      lock.withLock { while current.isStalled { lock.wait() } }
      var place = 0
      while place < count {
        let sent = buffer.withUnsafeBytes {
          send(to, $0.baseAddress! + place, count - place, Int32(MSG_NOSIGNAL))
        }
        if sent <= 0 { break }
        place += sent
      }
      left -= count
    }
    shutdown(from, Int32(SHUT_RDWR))
    shutdown(to, Int32(SHUT_RDWR))
  }
}
