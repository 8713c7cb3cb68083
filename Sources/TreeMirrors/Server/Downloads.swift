/// A published state: a snapshot and the batches behind it.
struct Download {
  let epoch: String
  /// The version and the size of the snapshot.
  let at: Int, size: Int
  /// The version of the server, and the number of this writer's last batch there.
  let newest: Int, last: Int
  /// The last batch that the snapshot has.
  let lastEntry: EntryName
  fileprivate(set) var bytes: [UInt8] = []
  fileprivate(set) var entries: [StreamEntry] = []

  /// The version of the last batch that has come.
  var version: Int { at + entries.count }

  /// The place that a tree with the state has.
  var position: StreamPosition {
    var position = StreamPosition(epoch: epoch, version: at, last: lastEntry)
    if let entry = entries.last { position.advance(to: entry) }
    return position
  }

  /// Reads the reply to a process that joins; nil if it is incomplete.
  init?(_ reply: [Reply]) {
    let numbers = reply[2...5].compactMap(\.integer)
    guard let epoch = reply[1].text, numbers.count == 4, numbers[1] <= numbers[0],
      let writer = reply[6].text, let mark = reply[8].text
    else { return nil }
    (self.epoch, newest, at, last, size) = (epoch, numbers[0], numbers[1], numbers[2], numbers[3])
    lastEntry = EntryName(writer: writer, number: reply[7].integer ?? 0, mark: mark)
  }

  fileprivate func isSameSnapshot(as other: Download) -> Bool {
    epoch == other.epoch && at == other.at && size == other.size && lastEntry == other.lastEntry
  }

  /// Adds the batches that come next, in order; false if there are none.
  fileprivate mutating func add(_ more: [StreamEntry]) -> Bool {
    let before = entries.count
    for entry in more where entry.version == version + 1 && version < newest {
      entries.append(entry)
    }
    return entries.count > before
  }
}

/// Reads published states.
///
/// What has come of one stays when the connection is lost.
final class Downloads {
  private let server: MirrorServer
  private let reader: StreamReader
  private let limit: Int
  private var download: Download?
  /// The version of a snapshot behind which batches were missing.
  private var gapBehind: Int?

  init(from server: MirrorServer, _ reader: StreamReader, limit: Int) {
    (self.server, self.reader, self.limit) = (server, reader, limit)
  }

  /// Reads the state that a reply tells of; continues if a part of it has come before.
  ///
  /// `body` gets nil if the server has another one by then; an error of it ends the mirror.
  func begin(_ reply: [Reply], _ body: @escaping (Download?) throws -> Void) throws {
    guard var next = Download(reply) else { throw server.strange("its answer is incomplete") }
    if gapBehind == next.at {
      throw MirrorError("the stream of the mirror '\(server.name)' has a gap behind its snapshot")
    }
    gapBehind = nil
    guard next.size <= limit else {
      throw MirrorError(
        "the snapshot of the mirror '\(server.name)' has \(next.size) bytes, and the option "
          + "'limit' allows \(limit)")
    }
    if let former = download, former.isSameSnapshot(as: next) {
      (next.bytes, next.entries) = (former.bytes, former.entries)
      // If the server still has the last one, it has all before it.
      reader.recheckLast(of: &next.entries)
    }
    download = next
    try proceed(body)
  }

  private func proceed(_ body: @escaping (Download?) throws -> Void) throws {
    guard let download else { return }
    if download.bytes.count < download.size {
      let place = [download.at, download.bytes.count].map { "\($0)".bytes }
      server.run(.state, [download.epoch.bytes] + place, forReading: true) { [weak self] reply in
        guard let self else { return }
        if case .lost(.part(let bytes)?) = reply {
          self.download?.bytes += bytes
          return server.noteSuccess()
        }
        guard server.check(reply) else { return }
        do {
          guard let rest = reply.bytes, download.bytes.count + rest.count == download.size else {
            return try end(nil, body)
          }
          self.download?.bytes += rest
          try proceed(body)
        } catch {
          server.fail(error)
        }
      }
    } else if download.version < download.newest {
      reader.read(after: download.version, waits: false) { [weak self] reading in
        guard let self else { return }
        switch reading {
        case .part(let entries): _ = self.download?.add(entries)
        case .whole(let entries):
          if self.download?.add(entries) == true { return try proceed(body) }
          // With a newer snapshot, the stream may have been cut.
          gapBehind = download.at
          try end(nil, body)
        case .changed: try end(nil, body)
        }
      }
    } else {
      try end(download, body)
    }
  }

  private func end(_ result: Download?, _ body: (Download?) throws -> Void) throws {
    download = nil
    try body(result)
  }

  /// The objects of a downloaded state, whose root must be of a kind.
  func state(in download: Download, for kind: MirrorNode.Kind) throws -> MirrorSnapshot {
    let snapshot: MirrorSnapshot
    do { snapshot = try MirrorSnapshot(from: download.bytes) } catch let error as MirrorFormatError
    {
      throw MirrorError(
        "the snapshot of the mirror '\(server.name)' is malformed at byte \(error.place): "
          + "\(error.expected) expected")
    }
    guard snapshot.root.kind == kind else {
      throw MirrorError("the mirror '\(server.name)' was published by another kind of object")
    }
    if download.entries.isEmpty { return snapshot }
    let scratch = MirrorDocument()
    defer { scratch.end() }
    scratch.begin(with: snapshot)
    for entry in download.entries {
      do { scratch.apply(try scratch.batch(from: entry.bytes)) } catch {
        throw entry.malformed(error)
      }
    }
    return try MirrorSnapshot(from: scratch.stateBytes())
  }
}
