import LibC
internal import Observables

/// A connection to the server: one request, and its answer.
final class Connection {
  private enum Phase {
    case receiving(HTTPRequestReader)
    case streaming(EventStream)
    /// The answer is being sent. Further input is read and dropped: closing a socket with unread
    /// input resets the connection, and the client can lose the answer.
    case closing
    case closed
  }

  private let descriptor: Int32
  private var phase = Phase.receiving(HTTPRequestReader())
  private let outbox: Outbox
  /// The time by which the request, or the reading of its answer, must end; nil for a stream.
  private(set) var deadline: UInt64?
  private var inputHasEnded = false

  /// The time for a request, and for reading its answer (V4).
  private static let patience: UInt64 = 5_000_000_000

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    outbox = Outbox(descriptor)
    deadline = monotonicNanoseconds() + Self.patience
  }

  deinit { close() }

  var isClosed: Bool { if case .closed = phase { true } else { false } }
  /// Whether a request or a stream is still under way.
  var isInUse: Bool {
    switch phase {
    case .receiving, .streaming: true
    case .closing, .closed: false
    }
  }
  var stream: EventStream? { if case .streaming(let stream) = phase { stream } else { nil } }
  /// Whether it has failed, and has to be closed.
  var hasFailed: Bool { outbox.hasFailed && !isClosed }

  /// The entry for `poll`.
  var polled: pollfd {
    let events = (inputHasEnded ? 0 : POLLIN) | (outbox.isEmpty ? 0 : POLLOUT)
    return pollfd(fd: isClosed ? -1 : descriptor, events: Int16(events), revents: 0)
  }

  /// Sends the bytes that the system takes now, and receives up to 16 KB.
  ///
  /// - Returns: a request that is now complete.
  /// - Throws: `HTTPRefusal` for a wrong request.
  func serve() throws(HTTPRefusal) -> HTTPRequest? {
    outbox.flush()
    let received = isClosed || inputHasEnded ? [] : receive()
    if case .receiving(var reader) = phase, !received.isEmpty {
      let request = try reader.take(received)
      phase = .receiving(reader)
      return request
    }
    return nil
  }

  /// The bytes that have arrived; none at the end of the input.
  private func receive() -> [UInt8] {
    let size = 1 << 14
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      let result = recv(descriptor, buffer.baseAddress, size, Int32(MSG_DONTWAIT))
      count = max(0, result)
      if result == 0 || result < 0 && errno != EAGAIN && errno != EINTR { inputHasEnded = true }
    }
    if inputHasEnded, isInUse { close() }
    return bytes
  }

  func answer(_ response: HTTPResponse) {
    guard !isClosed else { return }
    phase = .closing
    deadline = monotonicNanoseconds() + Self.patience
    outbox.append(response.bytes)
    outbox.flush()
  }

  /// Answers with the lines of a recording.
  func beginStream(header: [UInt8], after number: Int) {
    guard !isClosed else { return }
    phase = .streaming(EventStream(outbox, header: header, after: number))
    deadline = nil
  }

  /// Closes a finished, failed or late connection; a late request first gets an answer.
  func endIfDone() {
    if hasFailed { return close() }
    let isOver = deadline.map { $0 <= monotonicNanoseconds() } ?? false
    switch phase {
    case .receiving where isOver:
      answer(HTTPResponse(HTTPRefusal(408, "the request took too long")))
    case .closing where isOver || outbox.isEmpty && inputHasEnded: close()
    case .closing where outbox.isEmpty: shutdown(descriptor, Int32(SHUT_WR))
    default: break
    }
  }

  func close() {
    guard !isClosed else { return }
    outbox.flush()
    phase = .closed
    outbox.fail()
    _ = LibC.close(descriptor)
  }
}
