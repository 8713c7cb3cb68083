import LibC
internal import Observables

/// The bytes that a connection has still to send.
final class Outbox {
  /// The bytes that a page may leave unread (V4).
  static let limit = 1 << 20

  private let descriptor: Int32
  private var bytes: [UInt8] = []
  private var sent = 0
  /// Whether the other side takes nothing more.
  private(set) var hasFailed = false

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  var isEmpty: Bool { sent == bytes.count }

  func hasRoom(for count: Int) -> Bool { bytes.count - sent + count <= Self.limit }

  func append(_ text: some Collection<UInt8>) {
    if hasFailed { return }
    if sent > 1 << 16 {
      bytes.removeSubrange(..<sent)
      sent = 0
    }
    bytes.append(contentsOf: text)
  }

  /// Adds any number of bytes, and waits for the other side if there is no room for them.
  ///
  /// If there is no room in time, the outbox fails.
  func append(_ text: UnsafeRawBufferPointer, waitingWith patience: Patience) {
    var rest = text
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 16))
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
      while !hasFailed, !hasRoom(for: piece.count) {
        flush()
        if hasRoom(for: piece.count) { break }
        if !patience.wait(for: descriptor) { return fail() }
      }
      append(piece)
    }
  }

  /// Sends as much as the other side takes now.
  func flush() {
    while !hasFailed, !isEmpty {
      let count = bytes.withUnsafeBytes {
        send(
          descriptor, $0.baseAddress! + sent, $0.count - sent,
          Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        sent += count
      } else if errno == EAGAIN {
        return
      } else if errno != EINTR {
        fail()
      }
    }
    if isEmpty { (bytes, sent) = ([], 0) }
  }

  /// Drops everything.
  func fail() {
    hasFailed = true
    (bytes, sent) = ([], 0)
  }
}

/// The time that the program waits for all pages together to read a checkpoint that is too long for
/// their outboxes.
///
/// The program stops waiting for a page that takes nothing in half of the remaining time, so that
/// some time remains for the other pages.
final class Patience {
  /// The remaining time, in nanoseconds.
  private(set) var left: UInt64

  init(nanoseconds: UInt64 = 1_000_000_000) { left = nanoseconds }

  /// Waits until a socket takes bytes; false if that takes too long.
  func wait(for descriptor: Int32) -> Bool {
    let (share, start) = (left / 2, monotonicNanoseconds())
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    let isReady = poll(&entry, 1, Int32(share / 1_000_000)) > 0
    left -= isReady ? min(share, monotonicNanoseconds() - start) : share
    return isReady
  }
}
