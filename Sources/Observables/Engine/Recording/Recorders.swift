/// Who sees what the engine does (`log`, `record`); none costs one branch.
struct Recorders {
  private var all: [EngineRecorder] = []
  /// Tells all of them; nil where there is none.
  private(set) var recorder: EngineRecorder?
  private(set) var isRecording = false
  /// The loop's own recorder, which Swift programs ask.
  private(set) var history: HistoryRecorder?

  /// From now on the recorder sees what happens, or sees it no more; true when it is the first one,
  /// or was the last.
  mutating func use(_ recorder: EngineRecorder, isNeeded: Bool) -> Bool {
    all = all.filter { $0 !== recorder } + (isNeeded ? [recorder] : [])
    self.recorder = all.count < 2 ? all.first : RecorderGroup(all)
    let wasRecording = isRecording
    isRecording = !all.isEmpty
    return wasRecording != isRecording
  }

  /// The same of the loop's own.
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

  /// The loop's own recorder sees what happens while there is need of it.
  func use(_ history: HistoryRecorder) {
    if recorders.use(history) { rearmEverything() }
  }

  /// From now on the recorder sees what happens, or sees it no more.
  package func use(_ recorder: EngineRecorder, isNeeded: Bool) {
    if recorders.use(recorder, isNeeded: isNeeded) { rearmEverything() }
  }
}
