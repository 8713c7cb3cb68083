/// The reply to a command.
enum Reply {
  case none
  case integer(Int)
  case bytes([UInt8])
  case list([Reply])
  /// The text of an error. Messages show it as `RedisAddress.quoted(_:)` returns it.
  case error([UInt8])
  /// The connection ended before the whole reply came; the beginning of the reply, if there is one.
  indirect case lost(Reply?)
  /// The beginning of a text, as the last part of a lost reply.
  case part([UInt8])
}

/// Reads replies (RESP2) from bytes as they come.
///
/// Each byte is looked at once. The size of a reply is limited: a text has at most `limit` bytes,
/// and a whole reply four times as many. Each element of a list counts as 64 more bytes, because it
/// needs about as much memory here.
struct ReplyReader {
  /// The bytes of the incomplete line or text.
  private var begun: [UInt8] = []
  /// The number of bytes that the text lacks, including the two that end it; nil in a line.
  private var missing: Int?
  /// The incomplete lists, the outermost first.
  private var lists: [(elements: [Reply], missing: Int)] = []
  /// The size of the reply so far.
  private var size = 0
  private let limit: Int

  /// The protocol has no longer lines.
  private static let longestLine = 1 << 16
  /// The replies of the commands of mirrors have at most five levels.
  private static let deepest = 8

  init(limit: Int) { self.limit = limit }

  /// The beginning of an incomplete reply, whose last text may be a part.
  var incomplete: Reply? {
    // The end of a line is no part of the text.
    var reply = missing.map { Reply.part(Array(begun.dropLast(max(0, 2 - $0)))) }
    for list in lists.reversed() { reply = .list(list.elements + (reply.map { [$0] } ?? [])) }
    return reply
  }

  /// Whether the next byte begins a reply.
  var isAtStart: Bool { begun.isEmpty && missing == nil && lists.isEmpty }

  /// Takes bytes off the front, up to the end of a reply; nil if they do not end one.
  ///
  /// - Throws: `ConnectionFailure` if the bytes are no reply, or are too many.
  mutating func next(_ bytes: inout Slice<UnsafeRawBufferPointer>) throws(ConnectionFailure)
    -> Reply?
  {
    while !bytes.isEmpty {
      let isText = missing != nil
      let end = isText ? nil : bytes.firstIndex(of: UInt8(ascii: "\n"))
      let piece =
        missing.map { bytes.prefix($0) } ?? bytes[..<(end.map { $0 + 1 } ?? bytes.endIndex)]
      begun.append(contentsOf: piece)
      bytes = bytes[piece.endIndex...]
      missing = missing.map { $0 - piece.count }
      guard isText ? missing == 0 : end != nil else {
        if !isText, begun.count > Self.longestLine { throw .malformed("a line that is too long") }
        continue
      }
      missing = nil
      var whole: [UInt8] = []
      swap(&whole, &begun)
      guard whole.popLast() == UInt8(ascii: "\n"), whole.popLast() == UInt8(ascii: "\r") else {
        throw .malformed(isText ? "a text of a wrong length" : "a line with a wrong end")
      }
      if let part = isText ? .bytes(whole) : try begin(whole), let reply = complete(part) {
        return reply
      }
    }
    return nil
  }

  /// Reads a line; returns its reply, or nil if the line begins a text or a list.
  private mutating func begin(_ line: [UInt8]) throws(ConnectionFailure) -> Reply? {
    try count(line.count)
    let rest = line.dropFirst()
    switch line.first {
    case UInt8(ascii: "+"): return .bytes(Array(rest))
    case UInt8(ascii: "-"): return .error(Array(rest))
    case UInt8(ascii: ":"): return .integer(try number(rest))
    case UInt8(ascii: "$"):
      let length = try number(rest)
      if length == -1 { return Reply.none }
      guard length >= 0 else { throw .malformed("a text of \(length) bytes") }
      guard length <= limit else {
        throw .tooLarge(
          "it sends a text of \(length) bytes, and the option 'limit' allows \(limit)")
      }
      try count(length)
      begun.reserveCapacity(length + 2)
      missing = length + 2
      return nil
    case UInt8(ascii: "*"):
      let length = try number(rest)
      if length == -1 { return Reply.none }
      guard length >= 0 else { throw .malformed("a list of \(length) elements") }
      guard lists.count < Self.deepest else { throw .malformed("lists that are nested too deeply") }
      try count(length > Int.max / 64 ? .max : length * 64)
      if length > 0 { lists.append(([], length)) }
      return length > 0 ? nil : .list([])
    default: throw .malformed("a kind of answer that no command asked for")
    }
  }

  private func number(_ digits: ArraySlice<UInt8>) throws(ConnectionFailure) -> Int {
    guard digits.count <= 20, let number = Int(String(decoding: digits, as: UTF8.self)) else {
      throw .malformed("an invalid number")
    }
    return number
  }

  private mutating func count(_ more: Int) throws(ConnectionFailure) {
    guard more <= 4 * limit - size else {
      throw .tooLarge(
        "its answer is more than four times as long as the option 'limit' allows (\(limit))")
    }
    size += more
  }

  /// Adds a part to the list that it belongs to; returns the reply if it is complete.
  private mutating func complete(_ part: Reply) -> Reply? {
    var part = part
    while let last = lists.indices.last {
      lists[last].elements.append(part)
      lists[last].missing -= 1
      if lists[last].missing > 0 { return nil }
      part = .list(lists.removeLast().elements)
    }
    size = 0
    return part
  }
}

extension Reply {
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

  var isLost: Bool { if case .lost = self { true } else { false } }
  var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
  var list: [Reply] { if case .list(let list) = self { list } else { [] } }
}

/// Why a server cannot be reached now.
struct ConnectionFailure: Error {
  enum Kind {
    /// The network or the server failed. A short break is not reported.
    case broken
    /// The server sent something that Redis would not send.
    case malformed
    /// The server did not send or take anything for a long time.
    case silent
    /// An answer is larger than allowed.
    case tooLarge
  }

  var kind = Kind.broken
  let reason: String

  static func malformed(_ what: String) -> ConnectionFailure {
    ConnectionFailure(
      kind: .malformed, reason: "it does not speak the protocol of Redis: it sends \(what)")
  }

  static func tooLarge(_ reason: String) -> ConnectionFailure {
    ConnectionFailure(kind: .tooLarge, reason: reason)
  }
}
