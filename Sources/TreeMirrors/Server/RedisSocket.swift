internal import CRedis
import LibC
internal import Observables

/// The network of the system, through the library hiredis.
struct SystemNetwork: MirrorNetwork {
  func check(_ address: RedisAddress) throws(MirrorError) {
    if let failure = credis_load() { throw MirrorError(String(cString: failure)) }
    if address.isEncrypted, !credis_hastls() {
      throw MirrorError(
        "TLS needs hiredis 1.0 or later with its library for TLS; the installed one has none")
    }
  }

  func connect(to address: RedisAddress, on loop: Loop) throws -> any ByteStream {
    try check(address)
    return try RedisSocket(to: address, on: loop)
  }

  func random() -> UInt64 { .random(in: 1...UInt64.max) }
}

/// A socket, which may be encrypted.
private final class RedisSocket: ByteStream {
  weak var client: (any ByteStreamClient)?
  private let loop: Loop
  private let isEncrypted: Bool
  private var context: OpaquePointer?
  private var reader: DescriptorHandler?
  private var writer: DescriptorHandler?
  private(set) var isConnected = false
  /// Whether the server has sent something.
  private var hasHeard = false

  init(to address: RedisAddress, on loop: Loop) throws {
    (self.loop, isEncrypted) = (loop, address.isEncrypted)
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
    if isEncrypted,
      let failure = credis_encrypt(
        context, address.authorities, address.certificate, address.key, address.host)
    {
      let reason = "TLS cannot begin: \(String(cString: failure))"
      // If the connection has no error, the files are wrong, and trying again does not help.
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
  }

  deinit { close() }

  func close() {
    guard let context else { return }
    self.context = nil
    loop.connectionCount -= 1
    reader?.stop()
    writer?.stop()
    (reader, writer) = (nil, nil)
    credis_free(context)
  }

  private func end(_ reason: String) {
    close()
    client?.streamEnded(reason)
  }

  /// Ends the connection with the error that hiredis has noted.
  private func endForReason() {
    guard let context else { return }
    let reason = String(cString: credis_error(context))
    end(reason.isEmpty ? "the server closed the connection" : reason)
  }

  private func read() {
    guard let context else { return }
    withExtendedLifetime(self) {
      var length = 0
      guard let bytes = credis_read(context, &length) else { return endForReason() }
      // The bytes may belong to the handshake of TLS, and need an answer.
      if length == 0 { return write() }
      hasHeard = true
      client?.received(UnsafeRawBufferPointer(start: bytes, count: length))
    }
  }

  // MARK: Writing

  /// Whether the handshake of TLS may be unfinished: no command can be written then, although the
  /// socket is writable.
  private var isInHandshake: Bool { isEncrypted && isConnected && !hasHeard }

  private func startWriting() throws {
    guard writer == nil, let context else { return }
    writer = try loop.onWritable(credis_descriptor(context)) { [unowned self] in
      withExtendedLifetime(self) {
        if !isInHandshake { client?.streamProceeded() }
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
    if !isConnected { end(String(cString: strerror(error))) }
    return isConnected
  }

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

  func send(_ bytes: [UInt8]) -> Bool {
    guard let context, bytes.withUnsafeBytes({ credis_send(context, $0.baseAddress, $0.count) })
    else { return false }
    if isConnected { try? startWriting() }
    return true
  }
}
