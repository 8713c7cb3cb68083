import Glibc

/// A file with the batches of this process that the server has not acknowledged: a later process
/// sends them under the same writer and numbers, so that each is taken once.
///
/// The file is written when a batch is made, and is emptied when all are acknowledged. It outlives a
/// process that is killed; it is not flushed to the disk.
final class MirrorJournal {
  typealias Record = (number: Int, bytes: [UInt8])

  /// The writer of the records that the file had; nil if it had none.
  private(set) var writer: String?
  /// The published state that they belong to.
  private(set) var epoch: String?
  private(set) var records: [Record] = []
  private var descriptor: Int32 = -1
  private var isEmpty = true

  private static let mark = Array("obs-mirror 1\n".utf8)

  /// - Throws: `MirrorError` if the file cannot be used, or another process uses it.
  init(_ path: String) throws {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw MirrorError("the journal '\(path)' cannot be opened: \(String(cString: strerror(errno)))")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      Glibc.close(descriptor)
      descriptor = -1
      throw MirrorError("the journal '\(path)' is used by another process")
    }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count <= 0 { break }
      bytes.append(contentsOf: buffer[..<count])
    }
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
      records.append((Int(number), record))
    }
    isEmpty = false
    if records.isEmpty { (self.writer, self.epoch) = (nil, nil) }
  }

  func takeRecords() -> [Record] {
    defer { records = [] }
    return records
  }

  /// Adds a batch, whose bytes are in the file when this returns.
  func add(_ number: Int, _ bytes: [UInt8], _ writer: String, _ epoch: String) throws {
    var record = MirrorWriter(.ids)
    if isEmpty {
      try clear()
      for byte in MirrorJournal.mark { record.add(byte: byte) }
      record.add(text: Array(writer.utf8))
      record.add(text: Array(epoch.utf8))
      isEmpty = false
    }
    record.add(Int64(number))
    record.add(text: bytes)
    var rest = record.bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw MirrorError(String(cString: strerror(errno))) }
      rest = rest.dropFirst(count)
    }
  }

  func clear() throws {
    if isEmpty, writer == nil { return }
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw MirrorError(String(cString: strerror(errno)))
    }
    isEmpty = true
  }

  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }
}
