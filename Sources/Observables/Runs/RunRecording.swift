import LibC

/// The options of a recording of a run.
public struct RunRecordingOptions: Sendable {
  /// How the values of writes and computations are recorded (D4).
  public enum Values: String, Sendable, CaseIterable {
    /// Numbers, booleans, and the first 60 characters of texts; objects by address and type.
    case short
    /// As `short`, but with whole texts.
    case all
    /// No values.
    case none
  }

  /// Keeps at least this many of the newest turns, and at most twice as many; nil for all.
  public var last: Int?
  /// How values are recorded.
  public var values = Values.short
  /// Names of keys whose values are not recorded, on any object.
  public var hiddenKeys: Set<String> = []
  /// The fields of the first line that say what was recorded, as JSON.
  package var origin: [(name: String, json: String)] = []

  /// Makes options that keep all turns, with short values.
  public init() {}

  /// The first line of a recording that begins now.
  package var header: [UInt8] {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let fields =
      [("obs-lua", "\"recording\""), ("version", "1")] + origin
      + [
        ("started", "\(Double(time.tv_sec) + Double(time.tv_nsec / 1000) * 1e-6)"),
        ("values", "\"\(values.rawValue)\""),
        ("last", last.map { "\($0)" } ?? "null"),
      ]
    return Array("{\(fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ","))}\n".utf8)
  }
}

/// A recording could not begin, could not be read, or has ended early.
public struct RunRecordingError: Error, Sendable, CustomStringConvertible {
  /// The file.
  public let path: String
  /// What happened, such as "No space left on device".
  public let reason: String
  private let attempt: Attempt

  enum Attempt: String {
    case record = "record to"
    case replay
  }

  init(_ attempt: Attempt = .record, path: String, reason: String) {
    (self.attempt, self.path, self.reason) = (attempt, path, reason)
  }

  /// "cannot record to 'run.rec': No space left on device".
  public var description: String { "cannot \(attempt.rawValue) '\(path)': \(reason)" }
}

/// A recording of a run that is being written to a file.
///
/// It ends with ``stop()``, when the loop is deallocated, or when the file cannot be written.
/// Dropping it doesn't end it.
public final class RunRecording {
  private let recorder: RunRecorder
  private let file: RunFile
  private let inputs: RecordedInputs?
  private weak var loop: Loop?

  fileprivate init(
    _ recorder: RunRecorder, _ file: RunFile, _ inputs: RecordedInputs?, _ loop: Loop
  ) {
    (self.recorder, self.file, self.inputs, self.loop) = (recorder, file, inputs, loop)
  }

  /// The file.
  public var path: String { file.path }

  /// Whether turns are still recorded: false after ``stop()``, and after the file could not be
  /// written.
  public private(set) var isActive = true

  /// Writes what was recorded, and ends the recording.
  ///
  /// Does nothing if it has ended.
  public func stop() {
    guard isActive else { return }
    finish()
    loop?.engine.recording.use(recorder)
    loop?.recordings.removeAll { $0 === self }
  }

  /// Writes the last lines and closes the file; also called when the loop is deallocated.
  func finish() {
    isActive = false
    recorder.finish(file)
    // With inputs, the file stays open: finalizers run after the last turn.
    if let inputs { inputs.recorderDidEnd() } else { file.close() }
  }

  fileprivate func fail() {
    isActive = false
    recorder.remove(file)
    loop?.engine.recording.use(recorder)
    loop?.recordings.removeAll { $0 === self }
  }

  /// Begins a recording of a loop.
  fileprivate static func begin(
    on loop: Loop, _ path: String, _ options: RunRecordingOptions, _ inputs: RecordedInputs?
  ) throws(RunRecordingError) -> RunRecording {
    let file = inputs == nil ? try loop.openRunFile(path, options) : try RunFile(path, options)
    let recorder = loop.runRecorder(options)
    let recording = RunRecording(recorder, file, inputs, loop)
    inputs?.begin(file, recorder)
    file.onFailure = { [weak loop, weak recording] error in
      recording?.fail()
      if inputs == nil { loop?.outside?.refuse("a recording that cannot be written") }
      loop?.report(error)
    }
    // A program that is killed soon leaves a recording, too.
    file.save()
    recorder.add(file)
    loop.engine.recording.use(recorder)
    loop.recordings.append(recording)
    return recording
  }
}

extension Loop {
  /// Records the turns of the loop, and everything that its watchers and lazy properties do, to a
  /// file (D1–D4).
  ///
  /// The file has a line of JSON for each event; `obs-lua --report` shows it. It is replaced if it
  /// is a recording, and is readable by its owner only. Recording changes nothing but the time that
  /// the program takes; off, it costs one branch. If the file cannot be written later, the loop
  /// reports this once (``onError``) and goes on. Call it on the loop's thread.
  ///
  /// - Throws: ``RunRecordingError`` if the file cannot be opened, or is no recording.
  @discardableResult
  public func startRecording(
    to path: String, _ options: RunRecordingOptions = RunRecordingOptions()
  ) throws(RunRecordingError) -> RunRecording {
    assertOnThread()
    return try RunRecording.begin(on: self, path, options, nil)
  }

  /// Opens the file of a recording; in a replay, none is written.
  fileprivate func openRunFile(
    _ path: String, _ options: RunRecordingOptions
  ) throws(RunRecordingError) -> RunFile {
    guard let outside else { return try RunFile(path, options) }
    var opened: RunFile?
    let answer = outside.exchange("recording", about: path) {
      do throws(RunRecordingError) {
        opened = try RunFile(path, options)
        return RunInput()
      } catch {
        return RunInput(result: -1, bytes: Array(error.reason.utf8))
      }
    }
    if answer.result < 0 {
      let reason = answer.bytes ?? Array(String(cString: strerror(answer.error)).utf8)
      throw RunRecordingError(path: path, reason: String(decoding: reason, as: UTF8.self))
    }
    return opened ?? RunFile(discarding: path, options)
  }

  /// Records the turns, and the inputs, also after the recording has stopped.
  ///
  /// - Throws: as ``startRecording(to:_:)``.
  package func startRecording(
    to path: String, _ options: RunRecordingOptions, inputs: RecordedInputs
  ) throws(RunRecordingError) -> RunRecording {
    try RunRecording.begin(on: self, path, options, inputs)
  }

  /// Notes an error of work outside of turns, for recordings.
  package func noteError(_ message: String) { engine.recording.run?.noteError(message, "") }

  /// Returns the recorder for sinks that come and go.
  ///
  /// As long as the caller keeps it, all recordings use it, so that times and numbers go on.
  package func makeRunRecorder(_ options: RunRecordingOptions) -> RunRecorder {
    let recorder = runRecorder(options)
    keptRecorder = recorder
    return recorder
  }

  /// Passes the lines of the run to `sink`, which first gets a checkpoint.
  package func record(to sink: any RunSink, by recorder: RunRecorder) {
    recorder.add(sink)
    engine.recording.use(recorder)
  }

  /// Passes everything that is observed now to all sinks; call it between turns.
  package func recordCheckpoint() { engine.recording.run?.writeCheckpoint() }

  /// Ends the recording to `sink`, which gets the last lines.
  package func endRecording(to sink: any RunSink) {
    guard let recorder = engine.recording.run else { return }
    recorder.finish(sink)
    engine.recording.use(recorder)
  }

  /// The recorder of the loop; it is added to the engine when it has a sink.
  func runRecorder(_ options: RunRecordingOptions) -> RunRecorder {
    if let known = engine.recording.run ?? keptRecorder {
      known.restrict(to: options)
      return known
    }
    let made = RunRecorder(of: engine, options)
    made.outerOrigin = outerOrigin
    made.place = { [unowned self] in
      for source in placeSources { if let place = source.currentPlace { return place } }
      return nil
    }
    made.callStack = { [unowned self] in
      placeSources.lazy.map(\.currentCalls).first { !$0.isEmpty } ?? ""
    }
    return made
  }
}

/// Knows the place in a program that is running now: a bridge to scripts.
package protocol PlaceSource: AnyObject {
  /// The place that is running now; nil if no script is running.
  var currentPlace: RunRecorder.Place? { get }
  /// The calls under way, a line for each; empty if no script is running.
  var currentCalls: String { get }
}
