internal import Observables

/// The lines of a recording, on their way to one page.
///
/// The page gets the first line and a checkpoint before other lines. Lines that it does not read in
/// time are dropped; once it reads again, it gets their number, the first line and a checkpoint.
final class EventStream {
  private let outbox: Outbox
  private let header: [UInt8]
  /// The number of the last line that was sent, or that the page had before.
  private var number: Int
  private var missed = 0
  private var isLive = false

  init(_ outbox: Outbox, header: [UInt8], after number: Int) {
    (self.outbox, self.header, self.number) = (outbox, header, number)
    outbox.append(HTTPResponse.eventStream.utf8)
    outbox.flush()
  }

  /// Whether a checkpoint should be written for the page.
  var wantsCheckpoint: Bool { !isLive && outbox.isEmpty && !outbox.hasFailed }

  /// Takes whole lines.
  ///
  /// Waits for the page, within `patience`, until it has read a checkpoint. A page that is too slow
  /// has to connect again.
  func take(
    _ bytes: UnsafeRawBufferPointer, lines: Int, isCheckpoint: Bool, _ patience: Patience
  ) {
    if isCheckpoint, isLive || outbox.isEmpty {
      if !isLive { begin() }
      forEachLine(of: bytes) { line in
        append(nextFrame())
        outbox.append(line, waitingWith: patience)
        append("\n\n")
      }
    } else if isLive, hasRoom(for: bytes.count + lines * Self.maximumFrameLength) {
      forEachLine(of: bytes) { line in
        append(nextFrame())
        outbox.append(line)
        append("\n\n")
      }
    } else {
      isLive = false
      missed += lines
    }
  }

  func flush() { outbox.flush() }

  /// The most bytes that the fields `id` and `data` add to a line.
  private static let maximumFrameLength = 36

  private func hasRoom(for count: Int) -> Bool {
    if !outbox.hasRoom(for: count) { outbox.flush() }
    return outbox.hasRoom(for: count)
  }

  private func begin() {
    if missed > 0 { append("event: gap\ndata: \(missed)\n\n") }
    (isLive, missed) = (true, 0)
    append(nextFrame())
    outbox.append(header)
    append("\n\n")
  }

  private func nextFrame() -> String {
    number += 1
    return "id: \(number)\ndata: "
  }

  private func append(_ text: String) { outbox.append(text.utf8) }

  private func forEachLine(
    of bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      body(UnsafeRawBufferPointer(rebasing: rest[..<end]))
      rest = rest[(end + 1)...]
    }
  }
}
