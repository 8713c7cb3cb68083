import LibC

/// A recording that is replayed: gives back the inputs, and compares all events with the recorded
/// ones (D5).
package final class RunReplay: RunInputs {
  /// Why a replay stops before the program ends.
  package enum Stop {
    /// The recording ends in this turn: the program was killed, or still runs.
    case ended(in: String)
    /// An event differs: a sentence.
    case differs(String)
    /// The program makes a step that cannot be replayed (D6).
    case refused(String)
  }

  private let lines: RecordedLines
  private var inputs = RecordedLines.Cursor()
  private var events = RecordedLines.Cursor()
  /// The texts that lines refer to by number.
  private var texts: [Int: String] = [:]
  /// The turn that began last, such as "turn 17 (timer, app.lua:12)".
  package private(set) var turnTitle = "the main chunk"
  /// Whether the replay is over, and the program goes on for a prompt.
  private var isOver = false
  /// The latest inputs of some kinds, for code that runs after the replay.
  private var latest: [String: RunInput] = [:]
  /// Ends the process; set before the first input.
  package var onStop: (Stop) -> Never = { _ in exit(1) }
  private var recorder: RunRecorder?
  /// Called when a turn has ended.
  package var onTurnEnd: (Int) -> Void = { _ in }

  /// Opens a recording.
  ///
  /// - Throws: `RunRecordingError` if it cannot be read.
  package init(path: String) throws(RunRecordingError) {
    lines = try RecordedLines(path: path)
    // The header was read by others.
    _ = lines.next(&inputs)
    _ = lines.next(&events)
  }

  fileprivate func begin(_ recorder: RunRecorder) { self.recorder = recorder }

  /// Whether the recorded run made a step that cannot be replayed and has this name, and the
  /// seconds that the run took.
  ///
  /// - Complexity: O(lines).
  package func find(refused what: String) -> (isFound: Bool, seconds: Double) {
    var (cursor, isFound, end) = (RecordedLines.Cursor(), false, 0)
    while let line = lines.next(&cursor) {
      if RecordedLine.has(line, kind: "cannot"), RecordedLine(line).text(1) == what {
        isFound = true
      } else if RecordedLine.has(line, kind: "end") {
        end = RecordedLine(line).integer(2) ?? end
      } else if RecordedLine.has(line, kind: "stopped") {
        end = RecordedLine(line).integer(1) ?? end
      }
    }
    return (isFound, Double(end) * 1e-6)
  }

  /// Ends the replay, and lets the program go on: it gets nothing from outside then, and the clock
  /// stands still.
  package func finish() { isOver = true }

  // MARK: Inputs

  /// All recorded inputs of a kind.
  ///
  /// - Complexity: O(lines).
  package func all(_ kind: String) -> [RunInput] {
    let beginning = Array("[\"input\",\"\(kind)\",".utf8)
    var (cursor, found) = (RecordedLines.Cursor(), [RunInput]())
    while let line = lines.next(&cursor) {
      guard line.starts(with: beginning), let input = Self.input(RecordedLine(line)) else {
        continue
      }
      found.append(input)
    }
    return found
  }

  private static func input(_ line: RecordedLine) -> RunInput? {
    line.integer(3).map { result in
      RunInput(
        about: line.text(2), result: result, error: Int32(clamping: line.integer(4) ?? 0),
        bytes: line.data(5))
    }
  }

  package func take(_ kind: String, about: String?) -> RunInput? {
    if isOver { return afterwards(kind) }
    while let bytes = lines.next(&inputs) {
      if RecordedLine.has(bytes, kind: "cannot") {
        stop(.refused(RecordedLine(bytes).text(1) ?? ""))
      }
      guard RecordedLine.has(bytes, kind: "input") else { continue }
      let line = RecordedLine(bytes)
      guard line.text(1) == kind, line.text(2) == about, let input = Self.input(line) else {
        let now = "the input '\(kind)'" + (about.map { " of '\($0)'" } ?? "")
        stop(.differs(describe(line: inputs.number, bytes, now: now)))
      }
      if Self.clocks.contains(kind) { latest[kind] = input }
      return input
    }
    stop(.ended(in: turnTitle))
  }

  /// Called for a time that code asks for after the replay, if it did not before.
  package func note(_ kind: String, _ input: RunInput) {
    if Self.clocks.contains(kind) { latest[kind] = input }
  }

  package func refuse(_ what: String) { if !isOver { stop(.refused(what)) } }

  /// Stops, after a comparison of the events so far: a difference in them comes first.
  private func stop(_ reason: @autoclosure () -> Stop) -> Never {
    if !isOver { recorder?.passLines() }
    end(reason())
  }

  /// Ends the process; code that still runs gets nothing from the recording.
  private func end(_ reason: Stop) -> Never {
    isOver = true
    onStop(reason)
  }

  private static let clocks: Set<String> = [
    "now", "time", "clock", "clock_gettime", "gettimeofday", "getpid",
  ]

  /// An input after the replay: the time stands still, and files and processes are refused.
  private func afterwards(_ kind: String) -> RunInput? {
    if Self.clocks.contains(kind) { return latest[kind] }
    switch kind {
    case "localtime", "mktime": return nil
    case "poll", "settle", "terminal", "getenv", "descriptor": return RunInput()
    case "dlopen": return RunInput(bytes: Array("a replay loads no further modules\0".utf8))
    case "text": return RunInput(error: EPERM)
    default: return RunInput(result: -1, error: EPERM)
    }
  }

  // MARK: Events

  private func compare(_ now: UnsafeRawBufferPointer) {
    while let recorded = lines.next(&events) {
      if RecordedLine.has(recorded, kind: "input") { continue }
      if RecordedLine.has(recorded, kind: "cannot") {
        end(.refused(RecordedLine(recorded).text(1) ?? ""))
      }
      guard isSame(recorded, now) else {
        if RecordedLine.has(recorded, kind: "error") { endIfRefusedNext() }
        let now = String(decoding: now, as: UTF8.self)
        end(.differs(describe(line: events.number, recorded, now: now)))
      }
      return note(recorded)
    }
    end(.ended(in: turnTitle))
  }

  /// Ends the process if the next event is a step that cannot be replayed: the error that led there
  /// comes before it.
  private func endIfRefusedNext() {
    var cursor = events
    while let line = lines.next(&cursor) {
      if RecordedLine.has(line, kind: "input") { continue }
      guard RecordedLine.has(line, kind: "cannot") else { return }
      end(.refused(RecordedLine(line).text(1) ?? ""))
    }
  }

  private func note(_ line: UnsafeRawBufferPointer) {
    if RecordedLine.has(line, kind: "turn") {
      let turn = RecordedLine(line)
      let site = turn.integer(3).flatMap { texts[$0] }.map { ", \($0)" } ?? ""
      turnTitle = "turn \(turn.integer(1) ?? 0) (\(turn.text(2) ?? "")\(site))"
    } else if RecordedLine.has(line, kind: "text") {
      let text = RecordedLine(line)
      if let number = text.integer(1) { texts[number] = text.text(2) }
    }
  }

  /// Whether two lines are the same except for times and addresses of Swift objects.
  ///
  /// The system chooses these addresses; Lua's objects lie in the arena.
  private func isSame(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
    if first.elementsEqual(second) { return true }
    let (one, other) = (RecordedLine(first), RecordedLine(second))
    guard one.count == other.count, let kind = one.text(0) else { return false }
    let times = RunRecorder.times[kind] ?? []
    for part in 0..<one.count where !times.contains(part) {
      let (left, right) = (one[part], other[part])
      if left.elementsEqual(right) { continue }
      let isAddress = kind == "object" && part == 3
      guard Self.withoutAddresses(left, isAddress) == Self.withoutAddresses(right, isAddress) else {
        return false
      }
    }
    return true
  }

  /// JSON without the addresses of Swift objects, which follow `{"o":`, or are all of it.
  private static func withoutAddresses(
    _ json: UnsafeRawBufferPointer, _ isAddress: Bool
  ) -> [UInt8] {
    let mark = Array((isAddress ? "\"" : "{\"o\":\"").utf8)
    var (result, rest) = ([UInt8](), json[...])
    while let byte = rest.popFirst() {
      result.append(byte)
      if byte == mark.last, result.suffix(mark.count).elementsEqual(mark), !isInArena(rest) {
        rest = rest.drop { $0 != UInt8(ascii: "\"") }
      }
    }
    return result
  }

  /// Whether an address is one of the arena, which begins at 2 << 44.
  private static func isInArena(_ address: Slice<UnsafeRawBufferPointer>) -> Bool {
    address.starts(with: "2000".utf8) && address.prefix { $0 != UInt8(ascii: "\"") }.count == 12
  }

  /// A sentence about a difference: where it is, what was recorded, and what happens now.
  private func describe(line: Int, _ recorded: UnsafeRawBufferPointer, now: String) -> String {
    let parts = RecordedLine(recorded)
    let place = RunRecorder.places[parts.text(0) ?? ""].flatMap { parts.integer($0) }
    let site = place.flatMap { texts[$0] }.map { " at \($0)" } ?? ""
    let was = String(decoding: recorded.prefix(Self.shown), as: UTF8.self)
    return "line \(line), in \(turnTitle)\(site): recorded \(was), now \(now.prefix(Self.shown))"
  }

  private static let shown = 200
}

extension RunReplay: RunSink {
  package func take(_ bytes: UnsafeRawBufferPointer, lines: Int, isCheckpoint: Bool) {
    if isOver { return }
    for line in bytes.split(separator: 10, omittingEmptySubsequences: true) {
      compare(UnsafeRawBufferPointer(rebasing: line))
    }
  }

  package func save() {}

  package func turnEnded(_ turn: Int) -> Bool {
    if !isOver { onTurnEnd(turn) }
    return false
  }
}

extension Loop {
  /// Compares everything that the loop does with a recording.
  package func begin(_ replay: RunReplay, _ values: RunRecordingOptions.Values) {
    var options = RunRecordingOptions()
    options.values = values
    let recorder = runRecorder(options)
    replay.begin(recorder)
    record(to: replay, by: recorder)
  }
}
