/// An input: the result of one call to the world outside of the program.
package struct RunInput {
  /// The subject of the call, such as a path.
  package var about: String?
  package var result: Int
  /// The error number of a call that failed.
  package var error: Int32
  package var bytes: [UInt8]?

  package init(about: String? = nil, result: Int = 0, error: Int32 = 0, bytes: [UInt8]? = nil) {
    (self.about, self.result, self.error, self.bytes) = (about, result, error, bytes)
  }
}

/// Notes the inputs of a program, or gives them back in a replay (D5).
package protocol RunInputs: AnyObject {
  /// The next input, which must be of this kind and about this; nil unless this is a replay.
  func take(_ kind: String, about: String?) -> RunInput?
  /// Notes an input; does nothing in a replay.
  func note(_ kind: String, _ input: RunInput)
  /// Called for a step that cannot be replayed (D6).
  func refuse(_ what: String)
}

extension RunInputs {
  /// Returns the recorded input, or else makes one and notes it.
  package func exchange(
    _ kind: String, about: String? = nil, _ make: () -> RunInput
  ) -> RunInput {
    if let recorded = take(kind, about: about) { return recorded }
    var made = make()
    made.about = about
    note(kind, made)
    return made
  }
}

extension Optional where Wrapped == any RunInputs {
  package func exchange(
    _ kind: String, about: String? = nil, _ make: () -> RunInput
  ) -> RunInput {
    self?.exchange(kind, about: about, make) ?? make()
  }
}

/// Notes inputs in a recording.
package final class RecordedInputs: RunInputs {
  private var lines: RunLines
  /// The recorder whose lines come before those of later inputs, while it runs.
  private var recorder: RunRecorder?
  /// The file; nil while inputs come before the recording.
  private var file: RunFile?
  /// Called for the first step that cannot be replayed, with the place where it was made.
  package var onRefusal: (String) -> Void = { _ in }
  private var refused: Set<String> = []

  package init() { lines = RunLines(RunRecordingOptions()) }

  package func take(_ kind: String, about: String?) -> RunInput? { nil }

  package func note(_ kind: String, _ input: RunInput) {
    lines.add(kind, input)
    pass()
  }

  package func refuse(_ what: String) {
    guard refused.insert(what).inserted else { return }
    let place = recorder?.whereabouts
    lines.add(cannot: what)
    pass()
    if refused.count == 1 { onRefusal([what, place].compactMap { $0 }.joined(separator: ", ")) }
  }

  /// Writes all inputs to a file.
  func begin(_ file: RunFile, _ recorder: RunRecorder) {
    (self.file, self.recorder) = (file, recorder)
    pass()
  }

  /// The recorder has written its last line; inputs may follow until the process ends.
  func recorderDidEnd() {
    recorder = nil
    file?.save()
  }

  private func pass() {
    guard let file else { return }
    recorder?.passLines()
    lines.bytes.withUnsafeBytes { file.take($0, lines: lines.count, isCheckpoint: false) }
    lines.removeAll()
    if recorder == nil { file.save() }
  }
}

extension RunLines {
  fileprivate mutating func add(_ kind: String, _ input: RunInput) {
    begin("input")
    add(text: kind)
    if let about = input.about { add(text: about) } else { addNull() }
    add(input.result)
    guard input.error != 0 || input.bytes != nil else { return end() }
    add(Int(input.error))
    if let bytes = input.bytes { bytes.withUnsafeBytes { addWhole($0) } }
    end()
  }

  fileprivate mutating func add(cannot what: String) {
    begin("cannot")
    add(text: what)
    end()
  }
}
