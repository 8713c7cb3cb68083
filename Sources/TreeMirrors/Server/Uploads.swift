/// A text for the server, whose pieces there have a name.
struct Upload {
  let name: String
  let bytes: [UInt8]
}

/// Sends texts, long ones in pieces.
///
/// The server keeps the pieces when a connection is lost, so that they need not go again.
final class Uploads {
  private let server: MirrorServer
  /// Longer texts are sent in pieces of this size: smaller ones if none passed before a connection
  /// was lost.
  private var piece = Uploads.largestPiece
  private var connection = Connection()
  private static let (smallestPiece, largestPiece) = (256, 64 << 10)

  /// What is known of one connection.
  private struct Connection {
    /// Whether the server has taken a piece.
    var hasTaken = false
    /// How many bytes of a text the server has, by the names, as far as it was asked.
    var held: [String: Int] = [:]
    /// Whether the server is being asked how much it has of a text that others wait behind.
    var isAsking = false
    /// The number of texts, and of such questions, that are not answered.
    var underWay = 0
    /// Whether the server is full, or its disk is: it takes no writes until there is room.
    var isFull = false
  }

  init(to server: MirrorServer) { self.server = server }

  var isFull: Bool { connection.isFull }
  var isSending: Bool { connection.underWay > 0 }

  /// Forgets the connection.
  func serverWasLost() {
    if isSending, !connection.hasTaken { piece = max(Uploads.smallestPiece, piece / 4) }
    connection = Connection()
  }

  /// Notes that the server has taken a write.
  func noteRoom() { connection.isFull = false }

  /// Whether a reply says that the server takes no writes now; it can still be read.
  func noteFull(_ reply: Reply) -> Bool {
    guard case .error(let error) = reply else { return false }
    let text = String(decoding: error, as: UTF8.self)
    guard text.contains("OOM command not allowed") || text.contains("MISCONF") else { return false }
    if !isFull {
      server.warn("it takes no writes until it has room again: \(server.address.quoted(error))")
    }
    connection.isFull = true
    return true
  }

  /// Whether a text can go now, before others; otherwise, calls `body` when it can.
  func canSend(_ upload: Upload, orCall body: @escaping () -> Void) -> Bool {
    if upload.bytes.count <= piece || connection.held[upload.name] != nil { return true }
    if connection.isAsking { return false }
    connection.isAsking = true
    connection.underWay += 1
    ask(about: upload) { [weak self] reply in
      guard let self, reply?.isLost != true else { return }
      connection.isAsking = false
      connection.underWay -= 1
      if let reply { server.check(reply) } else { body() }
    }
    return false
  }

  /// Runs a script that takes a text; `replied` is not called if the connection is lost.
  func run(
    _ script: ServerScript, _ arguments: [[UInt8]], with upload: Upload,
    _ replied: @escaping (Reply) -> Void
  ) {
    connection.underWay += 1
    send(script, arguments, upload) { [weak self] reply in
      // What was on its way stays noted until the connection is forgotten.
      guard let self, !reply.isLost else { return }
      connection.underWay -= 1
      replied(reply)
    }
  }

  private func send(
    _ script: ServerScript, _ arguments: [[UInt8]], _ upload: Upload,
    _ replied: @escaping (Reply) -> Void
  ) {
    let (name, bytes) = (upload.name, upload.bytes)
    let count = "\(bytes.count)".bytes
    guard bytes.count > piece else {
      return server.run(script, arguments + [bytes, count], replied)
    }
    guard let held = connection.held[name] else {
      return ask(about: upload) { [weak self] reply in
        if let reply { replied(reply) } else { self?.send(script, arguments, upload, replied) }
      }
    }
    for place in stride(from: held, to: bytes.count, by: piece) {
      let part = Array(bytes[place..<min(place + piece, bytes.count)])
      server.run(.upload, ["\(place)".bytes, part], text: name) { [weak self] reply in
        guard let self else { return }
        if case .integer = reply {
          connection.hasTaken = true
          server.noteSuccess()
        } else {
          _ = noteFull(reply)
        }
      }
    }
    server.run(script, arguments + [[], count], text: name) { [weak self] reply in
      // If a piece was refused, the next attempt asks again.
      self?.connection.held[name] = nil
      if let self, !reply.isLost { piece = min(2 * piece, Uploads.largestPiece) }
      replied(reply)
    }
  }

  /// Asks how much the server has of a text; `replied` gets a reply that is no answer to this.
  private func ask(about upload: Upload, _ replied: @escaping (Reply?) -> Void) {
    server.run(.upload, ["-1".bytes, []], text: upload.name) { [weak self] reply in
      guard case .integer(let held) = reply else { return replied(reply) }
      self?.connection.held[upload.name] = min(max(0, held), upload.bytes.count)
      replied(nil)
    }
  }
}
