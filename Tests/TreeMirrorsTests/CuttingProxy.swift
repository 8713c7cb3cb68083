import Foundation
import LibC

/// Passes bytes between clients and a server, and cuts, stalls or changes them as its test wants.
final class CuttingProxy: @unchecked Sendable {
  let port: Int
  /// How many bytes of the server a connection passes before it is cut, by its number; nil to pass
  /// all.
  private let limit: @Sendable (_ connection: Int) -> Int?
  /// The same for bytes of the client.
  private let clientLimit: @Sendable (_ connection: Int) -> Int?
  /// How many bytes are passed at once.
  private let portion: Int
  private let listener: Int32
  // Guarded by the lock.
  private let lock = NSCondition()
  private var count = 0
  private var current: (server: Int, isStalled: Bool)
  private var lies = Lies()

  /// What clients get instead of the bytes of the server.
  struct Lies {
    /// The bytes before all others.
    var greeting: [UInt8] = []
    var rewrite: (@Sendable ([UInt8]) -> [UInt8])?
  }

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

  /// Changes what clients get, from now on.
  func lie(_ lies: Lies) { lock.withLock { self.lies = lies } }

  init(
    to server: Int, portion: Int = 1 << 16,
    clientLimit: @escaping @Sendable (_ connection: Int) -> Int? = { _ in nil },
    limit: @escaping @Sendable (_ connection: Int) -> Int? = { _ in nil }
  ) throws {
    (current, self.portion) = ((server, false), portion)
    (self.limit, self.clientLimit) = (limit, clientLimit)
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
      let greeting = lock.withLock { lies.greeting }
      send(client, greeting, greeting.count, Int32(MSG_NOSIGNAL))
      let (limit, clientLimit) = (limit(number), clientLimit(number))
      Thread.detachNewThread { [self] in pass(from: client, to: other, limit: clientLimit) }
      Thread.detachNewThread { [self] in
        pass(from: other, to: client, isFromServer: true, limit: limit)
        Foundation.close(client)
        Foundation.close(other)
      }
    }
  }

  private func pass(from: Int32, to: Int32, isFromServer: Bool = false, limit: Int?) {
    var left = limit ?? .max
    var buffer = [UInt8](repeating: 0, count: portion)
    while left > 0 {
      let count = recv(from, &buffer, min(portion, left), 0)
      if count <= 0 { break }
      lock.withLock { while current.isStalled { lock.wait() } }
      var bytes = Array(buffer[..<count])
      if isFromServer, let rewrite = lock.withLock({ lies.rewrite }) { bytes = rewrite(bytes) }
      var place = 0
      while place < bytes.count {
        let sent = bytes.withUnsafeBytes {
          send(to, $0.baseAddress! + place, $0.count - place, Int32(MSG_NOSIGNAL))
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
