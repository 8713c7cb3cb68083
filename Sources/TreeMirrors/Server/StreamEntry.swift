/// The place of a tree in the stream of a published state.
struct StreamPosition {
  /// The name of the state; empty before this process has joined.
  var epoch = ""
  /// The number of batches that the tree has, and the last one.
  var version = 0
  var last = EntryName()

  mutating func advance(to entry: StreamEntry) {
    (version, last) = (entry.version, entry.name)
  }
}

/// The identity of a batch in the stream.
///
/// A batch that the server has lost is appended again with another mark, because other batches may
/// then precede it: a process that has read the lost entry must not continue after it (A7).
struct EntryName: Equatable {
  var writer = ""
  var number = 0
  var mark = ""

  /// As arguments of the server's scripts.
  var arguments: [[UInt8]] { [writer, "\(number)", mark].map(\.bytes) }
}

/// A batch as the stream has it.
struct StreamEntry: CustomStringConvertible {
  let version: Int
  let name: EntryName
  var bytes: [UInt8]

  var description: String { "batch \(version) of writer \(name.writer)" }

  /// - Throws: `MirrorError` for an entry that is no batch.
  /// - Parameter last: The version of the previous entry.
  init(_ reply: Reply, after last: Int) throws {
    let parts = reply.list
    let fields = parts.count == 2 ? parts[1].list : []
    let id = parts.first?.text ?? ""
    guard id.hasSuffix("-1"), let version = Int(id.dropLast(2)), (1..<1 << 53).contains(version)
    else { throw MirrorError("the stream has an entry behind batch \(last) that is no batch") }
    guard fields.count == 8, let writer = fields[1].text, MirrorName.isValid(writer.utf8),
      let number = fields[3].integer, let mark = fields[5].text,
      let bytes = fields[7].bytes ?? fields[7].beginning
    else { throw MirrorError("the entry \(version) of the stream is no batch") }
    name = EntryName(writer: writer, number: number, mark: mark)
    (self.version, self.bytes) = (version, bytes)
  }

  /// The error for a batch whose bytes cannot be read.
  func malformed(_ error: any Error) -> MirrorError {
    var reason = ""
    if let error = error as? MirrorFormatError {
      reason = " at byte \(error.place): \(error.expected) expected"
    }
    return MirrorError("\(self) is malformed\(reason)")
  }

  /// The batch with more of its bytes.
  func adding(_ bytes: [UInt8]) -> StreamEntry {
    var entry = self
    entry.bytes += bytes
    return entry
  }
}

extension Reply {
  /// Whether the bytes of a batch have not all come.
  var isCut: Bool { if case .part? = list.last?.list.last { true } else { false } }

  /// The beginning of a text whose end did not come.
  var beginning: [UInt8]? { if case .part(let bytes) = self { bytes } else { nil } }
}
