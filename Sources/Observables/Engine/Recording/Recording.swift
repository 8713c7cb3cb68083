/// The recorders that are notified of each step of the engine (`log`, `record`).
///
/// Without a recorder a step costs one branch.
package struct Recording: Room {
  package let rooms: Rooms

  struct State {
    fileprivate var all: [EngineRecorder] = []
    /// Notifies all recorders; nil if there are none.
    fileprivate var recorder: EngineRecorder?
    fileprivate var isRecording = false
    /// The loop's own recorder, for queries of Swift programs.
    fileprivate var history: HistoryRecorder?
    /// The recorder of the whole run.
    fileprivate var run: RunRecorder?
  }
  private var state: State {
    @inline(__always) unsafeAddress { rooms.address(of: &rooms.memory.pointee.recording) }
    @inline(__always) nonmutating unsafeMutableAddress {
      rooms.mutableAddress(of: &rooms.memory.pointee.recording)
    }
  }

  /// Whether there is a recorder.
  @inline(__always) var isOn: Bool { state.isRecording }
  /// Notifies all recorders; nil if there are none.
  @inline(__always) var recorder: EngineRecorder? { state.recorder }
  /// The loop's own recorder, while it is needed.
  var history: HistoryRecorder? { state.history }

  /// The recorder of the whole run, while there is one.
  package var run: RunRecorder? { state.run }

  /// Adds the recorder of the whole run, or removes it if it has no sinks.
  func use(_ run: RunRecorder) {
    state.run = run.isNeeded ? run : nil
    use(run, isNeeded: run.isNeeded)
  }

  /// Adds the loop's own recorder, or removes it if it is not needed.
  func use(_ history: HistoryRecorder) {
    state.history = history.isNeeded ? history : nil
    use(history, isNeeded: history.isNeeded)
  }

  /// Adds the recorder, or removes it if it is not needed.
  package func use(_ recorder: EngineRecorder, isNeeded: Bool) {
    let all = state.all.filter { $0 !== recorder } + (isNeeded ? [recorder] : [])
    state.all = all
    state.recorder = all.count < 2 ? all.first : RecorderGroup(all)
    let wasRecording = state.isRecording
    state.isRecording = !all.isEmpty
    if wasRecording != state.isRecording { slots.rearmEverything() }
  }
}
