/// A batch as the stream has it.
struct StreamEntry: CustomStringConvertible {
  let version: Int
  let writer: String
  let number: Int
  var bytes: [UInt8]

  var description: String { "batch \(version) of writer \(writer)" }

  /// - Throws: `MirrorError` for an entry that is no batch.
  /// - Parameter last: The version of the previous entry.
  init(_ reply: Reply, after last: Int) throws {
    let parts = reply.list
    let fields = parts.count == 2 ? parts[1].list : []
    let id = parts.first?.text ?? ""
    guard id.hasSuffix("-1"), let version = Int(id.dropLast(2)), (1..<1 << 53).contains(version)
    else { throw MirrorError("the stream has an entry behind batch \(last) that is no batch") }
    guard fields.count == 6, let writer = fields[1].text, MirrorSession.isName(writer.utf8),
      let number = fields[3].integer, let bytes = fields[5].bytes ?? fields[5].beginning
    else { throw MirrorError("the entry \(version) of the stream is no batch") }
    (self.version, self.writer, self.number, self.bytes) = (version, writer, number, bytes)
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
