/// The recorders that are notified of what the engine does (`log`, `record`); where there is none,
/// that costs one branch.
struct Recorders {
  private var all: [EngineRecorder] = []
  /// The recorder that notifies all of them; nil where there is none.
  private(set) var recorder: EngineRecorder?
  private(set) var isRecording = false
  /// The loop's own recorder, which Swift programs ask.
  private(set) var history: HistoryRecorder?

  /// Adds the recorder, or removes it where it is not needed; true when it is the first one, or was
  /// the last.
  mutating func use(_ recorder: EngineRecorder, isNeeded: Bool) -> Bool {
    all = all.filter { $0 !== recorder } + (isNeeded ? [recorder] : [])
    self.recorder = all.count < 2 ? all.first : RecorderGroup(all)
    let wasRecording = isRecording
    isRecording = !all.isEmpty
    return wasRecording != isRecording
  }

  /// Adds the loop's own recorder, or removes it; true when it is the first one, or was the last.
  mutating func use(_ history: HistoryRecorder) -> Bool {
    self.history = history.isNeeded ? history : nil
    return use(history, isNeeded: history.isNeeded)
  }
}

extension Engine {
  @inline(__always) var isRecording: Bool { recorders.isRecording }
  @inline(__always) var recorder: EngineRecorder? { recorders.recorder }

  /// The loop's own recorder, while there is need of it.
  var history: HistoryRecorder? { recorders.history }

  /// Adds the loop's own recorder, or removes it where there is no need of it.
  func use(_ history: HistoryRecorder) {
    if recorders.use(history) { rearmEverything() }
  }

  /// Adds the recorder, or removes it where it is not needed.
  package func use(_ recorder: EngineRecorder, isNeeded: Bool) {
    if recorders.use(recorder, isNeeded: isNeeded) { rearmEverything() }
  }
}
