internal import CRedis
import LibC
internal import Observables

/// A connection to a server that speaks the protocol of Redis, on a loop.
///
/// Used on the loop's thread. Each callback runs in a separate turn.
final class RedisConnection {
  private let loop: Loop
  private let address: RedisAddress
  private var context: OpaquePointer?
  private var reader: DescriptorHandler?
  private var writer: DescriptorHandler?
  private(set) var isConnected = false
  /// Whether a part of an answer has come, and more of it is on its way.
  var isReceiving: Bool { !replies.isAtStart }
  private var replies: ReplyReader
  /// The callbacks for replies that have not come, in the order of the commands.
  private var waiting: [(Reply) -> Void] = []
  /// When the server last sent or took something, or began to owe an answer.
  private var heard: Double
  /// Whether the server has sent something.
  private var hasHeard = false
  /// Ends the connection if the server is silent.
  private var alarm: LoopTimer?

  /// The time without a byte after which a connection is given up, in seconds.
  private static let patience = 10.0

  /// Called once, when the connection ends other than by `close`.
  var ended: ((ConnectionFailure) -> Void)?

  /// Loads the library for connections.
  ///
  /// - Throws: `MirrorError` that names the package which is missing.
  static func check(_ address: RedisAddress) throws(MirrorError) {
    if let failure = credis_load() { throw MirrorError(String(cString: failure)) }
    if address.isEncrypted, !credis_hastls() {
      throw MirrorError(
        "TLS needs hiredis 1.0 or later with its library for TLS; the installed one has none")
    }
  }

  /// Starts to connect; commands can be sent at once.
  ///
  /// - Parameter limit: The most bytes of one text of the server.
  init(to address: RedisAddress, limit: Int, on loop: Loop) throws {
    (self.loop, self.address, heard) = (loop, address, loop.now)
    replies = ReplyReader(limit: limit)
    try RedisConnection.check(address)
    let context =
      if let path = address.path {
        credis_connect(path, nil, 0)
      } else {
        credis_connect(nil, address.host, Int32(address.port))
      }
    guard let context else { throw MirrorError("out of memory") }
    if credis_error(context)[0] != 0 {
      let reason = String(cString: credis_error(context))
      credis_free(context)
      throw ConnectionFailure(reason: reason)
    }
    self.context = context
    loop.connectionCount += 1
    if address.isEncrypted,
      let failure = credis_encrypt(
        context, address.authorities, address.certificate, address.key, address.host)
    {
      let reason = "TLS cannot begin: \(String(cString: failure))"
      // Without an error of the connection, the files are wrong, and trying again does not help.
      let isBroken = credis_error(context)[0] != 0
      close()
      throw isBroken ? ConnectionFailure(reason: reason) : MirrorError(reason)
    }
    do {
      reader = try loop.onReadable(credis_descriptor(context)) { [unowned self] in read() }
      try startWriting()
    } catch {
      close()
      throw ConnectionFailure(reason: "its descriptor is closed")
    }
    expect()
  }

  deinit { close() }

  /// Ends the connection; outstanding replies are `lost`, the first one with its beginning.
  func close() {
    ended = nil
    guard let context else { return }
    self.context = nil
    loop.connectionCount -= 1
    reader?.stop()
    writer?.stop()
    alarm?.stop()
    (reader, writer, alarm) = (nil, nil, nil)
    credis_free(context)
    let (waiting, incomplete) = (waiting, replies.incomplete)
    self.waiting = []
    for (index, body) in waiting.enumerated() { body(.lost(index == 0 ? incomplete : nil)) }
  }

  private func end(_ failure: ConnectionFailure) {
    let ended = ended
    close()
    ended?(failure)
  }

  /// Ends the connection with the error that hiredis has noted.
  private func endForReason() {
    guard let context else { return }
    let reason = String(cString: credis_error(context))
    end(ConnectionFailure(reason: reason.isEmpty ? "the server closed the connection" : reason))
  }

  // MARK: Reading

  private func read() {
    guard let context else { return }
    withExtendedLifetime(self) {
      var length = 0
      guard let bytes = credis_read(context, &length) else { return endForReason() }
      // The bytes may belong to the handshake of TLS, and need an answer.
      if length == 0 { return write() }
      (heard, hasHeard) = (loop.now, true)
      var ready: [(body: (Reply) -> Void, reply: Reply)] = []
      var failure: ConnectionFailure?
      do throws(ConnectionFailure) {
        var rest = UnsafeRawBufferPointer(start: bytes, count: length)[...]
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
      // A callback may close the connection.
      for (body, reply) in ready { body(self.context == nil ? .lost(nil) : reply) }
      if let failure { end(failure) }
    }
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
      if isConnected, waiting.isEmpty { return }
      if loop.now < heard + Self.patience { return setAlarm() }
      let reason = "it has not answered for \(Int(Self.patience)) seconds"
      end(ConnectionFailure(kind: .silent, reason: reason))
    }
  }

  // MARK: Writing

  /// Whether the handshake of TLS may be unfinished: no command can be written then, although the
  /// socket is writable.
  private var isInHandshake: Bool { address.isEncrypted && isConnected && !hasHeard }

  private func startWriting() throws {
    guard writer == nil, let context else { return }
    writer = try loop.onWritable(credis_descriptor(context)) { [unowned self] in
      withExtendedLifetime(self) {
        // The other side has taken something.
        if !isInHandshake { heard = loop.now }
        if isConnected || connect() { write() }
      }
    }
  }

  /// Finds out whether the connection is made; ends it if it cannot be made.
  private func connect() -> Bool {
    guard let context else { return false }
    var (error, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    getsockopt(credis_descriptor(context), SOL_SOCKET, SO_ERROR, &error, &size)
    isConnected = error == 0
    if !isConnected { end(ConnectionFailure(reason: String(cString: strerror(error)))) }
    return isConnected
  }

  /// Writes the commands that were sent, as far as this is possible without waiting.
  func write() {
    guard isConnected, let context else { return }
    switch Int(credis_write(context)) {
    case CREDIS_FAILED: endForReason()
    case CREDIS_MORE where !isInHandshake: try? startWriting()
    default:
      // In a handshake, it is the server's turn.
      writer?.stop()
      writer = nil
    }
  }

  /// Sends a command; `replied` is called once, in a later turn or when the connection ends.
  func send(_ arguments: [[UInt8]], _ replied: @escaping (Reply) -> Void) {
    guard let context, add(arguments, to: context) else { return replied(.lost(nil)) }
    if waiting.isEmpty { heard = loop.now }
    waiting.append(replied)
    expect()
    if isConnected { try? startWriting() }
  }

  private func add(_ arguments: [[UInt8]], to context: OpaquePointer) -> Bool {
    let lengths = arguments.map(\.count)
    // The first argument is the name of the command, so there are bytes.
    return Array(arguments.joined()).withUnsafeBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) { all in
        var pointers: [UnsafePointer<CChar>?] = []
        var place = 0
        for length in lengths {
          pointers.append(all.baseAddress.map { $0 + place })
          place += length
        }
        return credis_send(context, Int32(lengths.count), pointers, lengths)
      }
    }
  }
}
