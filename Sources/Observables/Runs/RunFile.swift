import LibC

/// Writes the lines of a recording to a file.
final class RunFile: RunSink {
  let path: String
  private var descriptor: CInt
  private let header: [UInt8]
  private var waiting: [UInt8] = []
  /// The bytes in the file.
  private var size = 0
  /// Whether lines are dropped: after a failure, or in a replay.
  private var dropsLines = false
  var onFailure: (RunRecordingError) -> Void = { _ in }
  /// The state of a file that drops old turns; nil for a file that keeps all turns.
  private var dropping: Dropping?

  private struct Dropping {
    /// The least number of turns that the file keeps.
    let turns: Int
    /// The offsets of the newest two checkpoints that this file requested.
    var checkpoints: [Int] = []
    /// The turn after which this file last requested a checkpoint.
    var lastTurn = 0
    /// Whether a requested checkpoint is still to come; checkpoints for other sinks do not count.
    var isAwaiting = true

    /// Notes that the checkpoint begins at this place.
    mutating func began(at place: Int) {
      isAwaiting = false
      checkpoints = checkpoints.suffix(1) + [place]
    }
  }

  /// Opens a file.
  ///
  /// - Throws: `RunRecordingError` if it cannot be opened, or is no recording.
  init(_ path: String, _ options: RunRecordingOptions) throws(RunRecordingError) {
    self.path = path
    dropping = options.last.map { Dropping(turns: $0) }
    header = options.header
    descriptor = RunFile.open(path, O_RDWR)
    if descriptor < 0 { throw systemError() }
    do throws(RunRecordingError) {
      try prepare()
    } catch {
      _ = LibC.close(descriptor)
      descriptor = -1
      throw error
    }
    waiting = header
  }

  /// Makes a file that keeps nothing, for a replay: only its checkpoints are as recorded.
  init(discarding path: String, _ options: RunRecordingOptions) {
    self.path = path
    dropping = options.last.map { Dropping(turns: $0) }
    header = options.header
    descriptor = -1
    dropsLines = true
  }

  private static func open(_ path: String, _ flags: CInt) -> CInt {
    aboveStandardStreams(LibC.open(path, flags | O_CREAT | O_CLOEXEC, 0o600))
  }

  deinit { close() }

  /// Checks that the file is a recording or empty, and empties it.
  private func prepare() throws(RunRecordingError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw systemError() }
    guard status.st_mode & S_IFMT == S_IFREG else {
      if dropping == nil { return }
      throw RunRecordingError(path: path, reason: "old turns can only be dropped from a file")
    }
    let beginning = Array("{\"obs-lua\":\"recording\"".utf8)
    var read = [UInt8](repeating: 0, count: beginning.count)
    if pread(descriptor, &read, read.count, 0) > 0, read != beginning {
      throw RunRecordingError(path: path, reason: "the file exists, and is not a recording")
    }
    guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0 else { throw systemError() }
  }

  private func systemError() -> RunRecordingError {
    RunRecordingError(path: path, reason: String(cString: strerror(errno)))
  }

  func take(_ bytes: UnsafeRawBufferPointer, lines: Int, isCheckpoint: Bool) {
    if dropsLines { return }
    if isCheckpoint, dropping?.isAwaiting == true {
      save()
      dropping?.began(at: size)
    }
    waiting.append(contentsOf: bytes)
    if waiting.count > 1 << 16 { save() }
  }

  func turnEnded(_ turn: Int) -> Bool {
    guard let known = dropping, turn - known.lastTurn >= known.turns else { return false }
    dropping?.lastTurn = turn
    dropping?.isAwaiting = true
    save()
    if known.checkpoints.count > 1 { dropTurns(before: known.checkpoints[1]) }
    return true
  }

  func save() {
    if dropsLines || waiting.isEmpty { return }
    let wasWritten = waiting.withUnsafeBytes { writeAll($0, to: descriptor) }
    size += waiting.count
    waiting.removeAll(keepingCapacity: true)
    if !wasWritten { fail() }
  }

  private func fail() {
    let error = systemError()
    dropsLines = true
    onFailure(error)
  }

  /// Drops the turns before the checkpoint at `start`.
  ///
  /// Writes a new file and renames it, so that the path always has a complete recording.
  private func dropTurns(before start: Int) {
    let new = path + ".new"
    let made = RunFile.open(new, O_RDWR | O_TRUNC)
    guard made >= 0, copy(from: start, to: made), rename(new, path) == 0 else {
      let error = systemError()
      if made >= 0 {
        _ = LibC.close(made)
        unlink(new)
      }
      dropsLines = true
      return onFailure(error)
    }
    _ = LibC.close(descriptor)
    descriptor = made
    dropping?.checkpoints = [header.count]
    size = header.count + size - start
  }

  /// Writes the header and everything from `start` on; false if the system refuses it.
  private func copy(from start: Int, to made: CInt) -> Bool {
    guard header.withUnsafeBytes({ writeAll($0, to: made) }) else { return false }
    var (position, buffer) = (start, [UInt8](repeating: 0, count: 1 << 16))
    while position < size {
      let count = pread(descriptor, &buffer, buffer.count, off_t(position))
      guard count > 0, buffer.withUnsafeBytes({ writeAll(.init(rebasing: $0[..<count]), to: made) })
      else { return false }
      position += count
    }
    return true
  }

  func close() {
    save()
    if descriptor >= 0 { _ = LibC.close(descriptor) }
    descriptor = -1
  }
}
