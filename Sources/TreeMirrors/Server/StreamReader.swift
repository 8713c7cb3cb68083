/// Reads batches of the stream.
///
/// What has come of an answer stays when the connection is lost.
final class StreamReader {
  private let server: MirrorServer
  /// The beginning of the next batch, from a connection that was lost.
  private var begun: StreamEntry?
  private var isReading = false
  /// The number of batches that are read at once: fewer if they are large.
  private var atOnce = StreamReader.mostAtOnce
  private static let mostAtOnce = 500
  /// How many bytes of batches one answer should have.
  private static let bytesAtOnce = 4 << 20

  enum Reading {
    /// The next batches; none if there are none yet.
    case whole([StreamEntry])
    /// The batches that have come before the connection was lost.
    case part([StreamEntry])
    /// The server has no longer the batch that had begun to come.
    case changed
  }

  init(of server: MirrorServer) { self.server = server }

  /// Asks for single batches, each of which may be small enough; false if it did so before.
  func readLess() -> Bool {
    defer { atOnce = 1 }
    return atOnce > 1
  }

  /// Makes the next read check that the server still has the last one of some batches, which is
  /// taken out, unless the batch behind it has begun to come.
  func recheckLast(of entries: inout [StreamEntry]) {
    if let last = entries.last, begun?.version != last.version + 1 { begun = entries.popLast() }
  }

  /// Reads batches behind a version, or the rest of one that has begun to come.
  ///
  /// With `waits`, the server waits a while for one if there is none. Does nothing while a read is
  /// under way. An error that `body` throws ends the mirror.
  func read(after version: Int, waits: Bool, _ body: @escaping (Reading) throws -> Void) {
    if isReading { return }
    isReading = true
    let next = begun.flatMap { $0.version == version + 1 ? $0 : nil }
    begun = next
    let replied = { [weak self] (reply: Reply) in
      guard let self else { return }
      isReading = false
      do {
        if let reading = try next.map({ rest(of: $0, reply) }) ?? batches(reply, after: version) {
          try body(reading)
        }
      } catch {
        server.fail(error)
      }
    }
    guard let next else {
      return server.read(after: version, count: atOnce, waits: waits, replied)
    }
    let arguments =
      ["\(next.version)".bytes] + next.name.arguments + ["\(next.bytes.count)".bytes]
    server.run(.batch, arguments, forReading: true, replied)
  }

  private func rest(of entry: StreamEntry, _ reply: Reply) -> Reading? {
    if case .lost(.part(let more)?) = reply {
      begun?.bytes += more
      server.noteSuccess()
      return nil
    }
    guard server.check(reply) else { return nil }
    begun = nil
    return reply.bytes.map { .whole([entry.adding($0)]) } ?? .changed
  }

  private func batches(_ reply: Reply, after version: Int) throws -> Reading? {
    if case .lost(let part?) = reply { return .part(arrived(in: part, after: version)) }
    guard server.check(reply) else { return nil }
    switch reply {
    case .none, .list: break
    default:
      server.lost(MirrorServer.notRedis)
      return nil
    }
    var last = version
    let entries = try reply.entries.map { reply in
      let entry = try StreamEntry(reply, after: last)
      last = entry.version
      return entry
    }
    if !entries.isEmpty {
      let size = entries.reduce(0) { $0 + $1.bytes.count } / entries.count
      atOnce = max(1, min(Self.bytesAtOnce / max(size, 1), 2 * atOnce, Self.mostAtOnce))
    }
    return .whole(entries)
  }

  /// The batches that have come of a lost reply; notes the beginning of the next one.
  private func arrived(in reply: Reply, after version: Int) -> [StreamEntry] {
    var whole: [StreamEntry] = []
    for reply in reply.entries {
      guard let entry = try? StreamEntry(reply, after: version) else { break }
      if reply.isCut {
        begun = entry
      } else {
        whole.append(entry)
      }
    }
    if begun != nil || !whole.isEmpty { server.noteSuccess() }
    return whole
  }
}

extension Reply {
  /// The entries of the one stream that was read.
  fileprivate var entries: [Reply] { list.first?.list.last?.list ?? [] }
}
