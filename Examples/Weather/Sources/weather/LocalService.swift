import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// A web service in this process, in place of a real one: a few lines of HTTP on a separate thread.
///
/// Answers `/stations`, with new temperatures each time, and `/stations/N` for stations with
/// details.
final class LocalService: Sendable {
  let port: UInt16
  private let listener: Int32
  private let log = Mutex<[String]>([])

  /// The requested paths, in order.
  var requests: [String] { log.withLock { $0 } }

  init() throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    // Port 0: any free port.
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isListening = withUnsafeMutableBytes(of: &address) { bytes in
      let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      return bind(listener, address, length) == 0 && listen(listener, 8) == 0
        && getsockname(listener, address, &length) == 0
    }
    guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRINUSE) }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        if connection < 0 { continue }
        answer(connection)
        close(connection)
      }
    }
  }

  private func answer(_ connection: Int32) {
    var request: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !request.contains(sequence: Array("\r\n\r\n".utf8)) {
      let count = read(connection, &buffer, buffer.count)
      if count <= 0 { return }
      request += buffer.prefix(count)
    }
    let words = String(decoding: request, as: UTF8.self).split(separator: " ")
    let path = words.count > 1 ? String(words[1]) : "/"
    let round = log.withLock { log in
      log.append(path)
      return log.count { $0 == "/stations" }
    }
    let body = LocalService.body(of: path, round: round)
    let text = """
      HTTP/1.1 \(body == nil ? "404 Not Found" : "200 OK")\r
      Content-Type: application/json\r
      Content-Length: \(body?.utf8.count ?? 0)\r
      Connection: close\r
      \r
      \(body ?? "")
      """
    // The client may have disconnected.
    _ = text.withCString { send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
  }

  private static func body(of path: String, round: Int) -> String? {
    switch path {
    case "/stations":
      """
      [{"id": 1, "name": "London", "temperature": \(round == 1 ? 14 : 11)},
       {"id": 2, "name": "Oslo", "temperature": 3},
       {"id": 3, "name": "Atlantis", "temperature": \(round == 1 ? 21 : 22)}]
      """
    case "/stations/1":
      #"{"outlook": "\#(round == 1 ? "light rain" : "fog")", "wind": 18}"#
    case "/stations/2":
      #"{"outlook": "clear sky", "wind": 4}"#
    default:
      nil
    }
  }
}

extension [UInt8] {
  fileprivate func contains(sequence: [UInt8]) -> Bool {
    count >= sequence.count
      && (0...(count - sequence.count)).contains { self[$0...].starts(with: sequence) }
  }
}
