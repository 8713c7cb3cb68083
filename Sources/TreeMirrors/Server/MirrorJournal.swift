import LibC
internal import Observables

/// A file with the batches of this process that the server has not acknowledged: a later process
/// sends them under the same writer and numbers, so that each is taken once.
///
/// The file is written when a batch is made, and is emptied when all are acknowledged. It outlives
/// a process that is killed; it is not flushed to the disk.
final class MirrorJournal {
  typealias Record = (number: Int, bytes: [UInt8])

  /// The writer of the records that the file had; nil if it had none.
  private(set) var writer: String?
  /// The published state that they belong to.
  private(set) var epoch: String?
  private(set) var records: [Record] = []
  private let path: String
  private var descriptor: Int32 = -1
  private var size = 0
  /// The size when the file was last written as a whole.
  private var firstSize = 0
  private var isEmpty: Bool { size == 0 }

  /// Whether the file should be written anew, without what was acknowledged.
  var isLarge: Bool { size > max(4 << 20, 2 * firstSize) }

  private static let mark = Array("obs-mirror 1\n".utf8)

  /// - Throws: `MirrorError` if the file cannot be used, or another process uses it.
  init(_ path: String) throws {
    self.path = path
    // A pipe must not block here.
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else {
      throw MirrorError(
        "the journal '\(path)' cannot be opened: \(String(cString: strerror(errno)))")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw MirrorError("the journal '\(path)' is not a regular file")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      LibC.close(descriptor)
      descriptor = -1
      throw MirrorError("the journal '\(path)' is used by another process")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = LibC.read(descriptor, &buffer, buffer.count)
      if count <= 0 { break }
      bytes.append(contentsOf: buffer[..<count])
    }
    size = bytes.count
    if bytes.isEmpty { return }
    guard bytes.starts(with: MirrorJournal.mark) else {
      throw MirrorError("'\(path)' is no journal of a mirror")
    }
    try read(Array(bytes.dropFirst(MirrorJournal.mark.count)))
  }

  deinit { close() }

  private func read(_ bytes: [UInt8]) throws {
    var reader = MirrorReader(bytes) { reader in throw reader.failure("no object") }
    guard let writer = try? reader.text(), let epoch = try? reader.text() else { return }
    self.writer = String(decoding: writer, as: UTF8.self)
    self.epoch = String(decoding: epoch, as: UTF8.self)
    // A record that the process did not finish was never sent.
    while let number = try? reader.number(Int64.self), let record = try? reader.text() {
      guard number >= 1, number < 1 << 53,
        records.last.map({ $0.number + 1 == Int(number) }) ?? true
      else { throw MirrorError("the journal '\(path)' is damaged: its numbers are not in order") }
      records.append((Int(number), record))
    }
    if records.isEmpty { (self.writer, self.epoch) = (nil, nil) }
  }

  func takeRecords() -> [Record] {
    defer { records = [] }
    return records
  }

  /// Adds a batch, whose bytes are in the file when this returns.
  func add(_ number: Int, _ bytes: [UInt8], _ writer: String, _ epoch: String) throws {
    if isEmpty { return try replace(by: [(number, bytes)], writer, epoch) }
    var record = MirrorWriter(.ids)
    record.add(Int64(number))
    record.add(text: bytes)
    do { try write(record.bytes, to: descriptor) } catch {
      // Later records must not come behind a part of this one.
      ftruncate(descriptor, off_t(size))
      lseek(descriptor, off_t(size), SEEK_SET)
      throw error
    }
    size += record.bytes.count
  }

  /// Replaces the file as a whole, so that there is always one.
  func replace(by records: [Record], _ writer: String, _ epoch: String) throws {
    if records.isEmpty { return try clear() }
    var text = MirrorWriter(.ids)
    for byte in MirrorJournal.mark { text.add(byte: byte) }
    text.add(text: Array(writer.utf8))
    text.add(text: Array(epoch.utf8))
    for (number, bytes) in records {
      text.add(Int64(number))
      text.add(text: bytes)
    }
    let new = open(path + ".new", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard new >= 0 else { throw failure() }
    do {
      guard flock(new, LOCK_EX | LOCK_NB) == 0 else { throw failure() }
      try write(text.bytes, to: new)
      guard rename(path + ".new", path) == 0 else { throw failure() }
    } catch {
      MirrorJournal.release(new)
      throw error
    }
    MirrorJournal.release(descriptor)
    (descriptor, size, firstSize) = (new, text.bytes.count, text.bytes.count)
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32) throws {
    guard bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }) else { throw failure() }
  }

  private func failure() -> MirrorError { MirrorError(String(cString: strerror(errno))) }

  func clear() throws {
    if isEmpty { return }
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw failure()
    }
    size = 0
  }

  func close() {
    if descriptor >= 0 { MirrorJournal.release(descriptor) }
    descriptor = -1
  }

  /// Unlocks and closes a file.
  ///
  /// A process that was just forked has the descriptor until it runs its program, and would keep
  /// the file locked.
  private static func release(_ descriptor: Int32) {
    flock(descriptor, LOCK_UN)
    LibC.close(descriptor)
  }
}
