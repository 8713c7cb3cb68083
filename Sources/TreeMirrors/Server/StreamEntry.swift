/// A batch as the stream has it.
struct StreamEntry {
  let version: Int
  let writer: String
  let number: Int
  let bytes: [UInt8]

  /// - Throws: `MirrorError` that names an entry which is no batch.
  init(_ reply: RedisConnection.Reply) throws {
    let parts = reply.list
    let fields = parts.count == 2 ? parts[1].list : []
    let id = parts.first?.text ?? "?"
    guard parts.count == 2, fields.count == 6, id.hasSuffix("-1"),
      let version = Int(id.dropLast(2)), version < 1 << 53, let writer = fields[1].text,
      let number = fields[3].integer, let bytes = fields[5].bytes
    else { throw MirrorError("the entry \(id) of the stream is no batch") }
    (self.version, self.writer, self.number, self.bytes) = (version, writer, number, bytes)
  }
}
