internal import Observables

/// A connection to a server that speaks the protocol of Redis, on a loop.
///
/// Used on the loop's thread. Each callback runs in a separate turn.
final class RedisConnection {
  private let loop: Loop
  private let address: RedisAddress
  /// The bytes; nil after the end.
  private var stream: (any ByteStream)?
  private var replies: ReplyReader
  /// The callbacks for replies that have not come, in the order of the commands.
  private var waiting: [(Reply) -> Void] = []
  /// When the server last sent or took something, or began to owe an answer.
  private var heard: Double
  /// Ends the connection if the server is silent.
  private var alarm: LoopTimer?

  /// The time without a byte after which a connection is given up, in seconds.
  private static let patience = 10.0

  /// Called once, when the connection ends other than by `close`.
  var ended: ((ConnectionFailure) -> Void)?
  /// Whether a part of an answer has come, and more of it is on its way.
  var isReceiving: Bool { !replies.isAtStart }

  /// Starts to connect; commands can be sent at once.
  ///
  /// - Parameter limit: The most bytes of one text of the server.
  init(
    to address: RedisAddress, limit: Int, on loop: Loop, through network: any MirrorNetwork
  ) throws {
    (self.loop, self.address, heard) = (loop, address, loop.now)
    replies = ReplyReader(limit: limit)
    stream = try network.connect(to: address, on: loop)
    stream?.client = self
    expect()
  }

  deinit { close() }

  /// Ends the connection; outstanding replies are `lost`, the first one with its beginning.
  func close() {
    ended = nil
    guard let stream else { return }
    self.stream = nil
    stream.close()
    alarm?.stop()
    alarm = nil
    let (waiting, incomplete) = (waiting, replies.incomplete)
    self.waiting = []
    for (index, body) in waiting.enumerated() { body(.lost(index == 0 ? incomplete : nil)) }
  }

  private func end(_ failure: ConnectionFailure) {
    let ended = ended
    close()
    ended?(failure)
  }

  /// Begins to wait for an answer, or until the connection is made.
  private func expect() {
    if alarm != nil { return }
    heard = loop.now
    setAlarm()
  }

  private func setAlarm() {
    alarm = loop.after(heard + Self.patience - loop.now) { [unowned self] in
      alarm = nil
      if stream?.isConnected == true, waiting.isEmpty { return }
      if loop.now < heard + Self.patience { return setAlarm() }
      let reason = "it has not answered for \(Int(Self.patience)) seconds"
      end(ConnectionFailure(kind: .silent, reason: reason))
    }
  }

  /// Writes the commands that were sent, as far as this is possible without waiting.
  func write() { stream?.write() }

  /// Sends a command; `replied` is called once, in a later turn or when the connection ends.
  func send(_ arguments: [[UInt8]], _ replied: @escaping (Reply) -> Void) {
    var bytes = "*\(arguments.count)\r\n".bytes
    for argument in arguments { bytes += "$\(argument.count)\r\n".bytes + argument + [13, 10] }
    guard let stream, stream.send(bytes) else { return replied(.lost(nil)) }
    if waiting.isEmpty { heard = loop.now }
    waiting.append(replied)
    expect()
  }
}

extension RedisConnection: ByteStreamClient {
  func received(_ bytes: UnsafeRawBufferPointer) {
    heard = loop.now
    var ready: [(body: (Reply) -> Void, reply: Reply)] = []
    var failure: ConnectionFailure?
    do throws(ConnectionFailure) {
      var rest = bytes[...]
      while !rest.isEmpty {
        // A server may refuse a client before the client has sent a command.
        guard !waiting.isEmpty || !replies.isAtStart || rest.first == UInt8(ascii: "-") else {
          throw ConnectionFailure(
            kind: .malformed, reason: "it sends an answer that no command asked for")
        }
        guard let reply = try replies.next(&rest) else { break }
        if waiting.isEmpty, case .error(let text) = reply {
          throw ConnectionFailure(reason: "it refuses for now: \(address.quoted(text))")
        }
        ready.append((waiting.removeFirst(), reply))
      }
    } catch {
      failure = error
      // Nothing of such an answer is used.
      replies = ReplyReader(limit: 0)
    }
    withExtendedLifetime(self) {
      // A callback may close the connection.
      for (body, reply) in ready { body(stream == nil ? .lost(nil) : reply) }
      if let failure { end(failure) }
    }
  }

  func streamProceeded() { heard = loop.now }

  func streamEnded(_ reason: String) { end(ConnectionFailure(reason: reason)) }
}
