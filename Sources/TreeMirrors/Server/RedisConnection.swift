internal import CRedis
internal import Observables

/// A connection to a server that speaks the protocol of Redis, on a loop.
///
/// Used on the loop's thread. Each callback runs in a separate turn.
final class RedisConnection {
  enum Reply {
    case none
    case integer(Int)
    case bytes([UInt8])
    case list([Reply])
    case error(String)
    /// The connection ended before the reply came.
    case lost
  }

  private let loop: Loop
  private var context: OpaquePointer?
  private var reader: DescriptorHandler?
  private var writer: DescriptorHandler?
  private(set) var isConnected = false
  private let replies = Replies()

  /// Called once, when the connection ends other than by `close`.
  var ended: ((_ reason: String) -> Void)?

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
  init(to address: RedisAddress, on loop: Loop) throws {
    self.loop = loop
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
    if address.isEncrypted,
      let failure = credis_encrypt(
        context, address.authorities, address.certificate, address.key, address.host)
    {
      let reason = String(cString: failure)
      close()
      throw MirrorError("TLS cannot begin: \(reason)")
    }
    do {
      reader = try loop.onReadable(credis_descriptor(context)) { [unowned self] in
        call(credis_read)
      }
      try startWriting()
    } catch {
      close()
      throw ConnectionFailure(reason: "its descriptor is closed")
    }
  }

  deinit { close() }

  /// Ends the connection; outstanding replies are `lost`.
  func close() {
    ended = nil
    guard let context else { return }
    forget()
    credis_free(context)
    deliver()
  }

  private func forget() {
    context = nil
    reader?.stop()
    writer?.stop()
    (reader, writer) = (nil, nil)
  }

  private func call(_ body: (OpaquePointer) -> Int32) {
    guard let context else { return }
    withExtendedLifetime(self) {
      let happened = body(context)
      if happened & Int32(CREDIS_ENDED) != 0 {
        let reason = String(cString: credis_reason())
        forget()
        deliver()
        let ended = ended
        self.ended = nil
        ended?(reason.isEmpty ? "the server closed the connection" : reason)
      } else {
        if happened & Int32(CREDIS_CONNECTED) != 0 { isConnected = true }
        deliver()
      }
    }
  }

  /// Calls those whose replies have come, outside of hiredis.
  private func deliver() {
    while !replies.ready.isEmpty {
      let (waiting, reply) = replies.ready.removeFirst()
      waiting.body(context == nil ? .lost : reply)
    }
  }

  private func startWriting() throws {
    guard writer == nil, let context else { return }
    writer = try loop.onWritable(credis_descriptor(context)) { [unowned self] in write() }
  }

  /// Writes what was sent, as far as this is possible without waiting.
  func write() {
    call(credis_write)
    guard isConnected, let context else { return }
    if credis_hasmore(context) {
      try? startWriting()
    } else {
      writer?.stop()
      writer = nil
    }
  }

  /// Replies that hiredis has read.
  private final class Replies {
    var ready: [(Waiting, Reply)] = []
  }

  private final class Waiting {
    let body: (Reply) -> Void
    private let replies: Replies

    init(_ replies: Replies, _ body: @escaping (Reply) -> Void) {
      (self.replies, self.body) = (replies, body)
    }

    func take(_ reply: Reply) { replies.ready.append((self, reply)) }
  }

  /// Sends a command; `replied` is called once, in a later turn or when the connection ends.
  func send(_ arguments: [[UInt8]], _ replied: @escaping (Reply) -> Void) {
    guard let context else { return replied(.lost) }
    let waiting = Unmanaged.passRetained(Waiting(replies, replied))
    let isSent = withPointers(to: arguments) { pointers, lengths in
      credis_send(
        context,
        { _, reply, data in
          let waiting = Unmanaged<Waiting>.fromOpaque(data!).takeRetainedValue()
          waiting.take(reply.map { Reply($0) } ?? .lost)
        }, waiting.toOpaque(), Int32(arguments.count), pointers, lengths)
    }
    if !isSent {
      waiting.release()
      return replied(.lost)
    }
    if isConnected { try? startWriting() }
  }

  private func withPointers<Result>(
    to arguments: [[UInt8]],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int>) -> Result
  ) -> Result {
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
        return body(pointers, lengths)
      }
    }
  }
}

extension RedisConnection.Reply {
  fileprivate init(_ reply: OpaquePointer) {
    func text() -> UnsafeBufferPointer<UInt8> {
      var length = 0
      let text = credis_text(reply, &length)
      return UnsafeBufferPointer(
        start: UnsafeRawPointer(text)?.assumingMemoryBound(to: UInt8.self), count: length)
    }
    switch credis_kind(reply) {
    case Int32(CREDIS_STRING), Int32(CREDIS_STATUS): self = .bytes(Array(text()))
    case Int32(CREDIS_ARRAY):
      self = .list(
        (0..<credis_count(reply)).map { index in
          credis_element(reply, index).map { RedisConnection.Reply($0) } ?? .none
        })
    case Int32(CREDIS_INTEGER): self = .integer(Int(credis_integer(reply)))
    case Int32(CREDIS_ERROR): self = .error(String(decoding: text(), as: UTF8.self))
    default: self = .none
    }
  }

  /// A whole number as large as a counter gets.
  var integer: Int? {
    let number: Int? =
      switch self {
      case .integer(let value): value
      case .bytes(let bytes): Int(String(decoding: bytes, as: UTF8.self))
      default: nil
      }
    return number.flatMap { (0...1 << 53).contains($0) ? $0 : nil }
  }

  var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
  var list: [RedisConnection.Reply] { if case .list(let list) = self { list } else { [] } }
}

/// Why a server cannot be reached now.
struct ConnectionFailure: Error { let reason: String }
