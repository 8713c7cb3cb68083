extension Loop {
  /// Switches recording on or off, which ``Watcher/why()`` and `whyNot` need (W4).
  ///
  /// While it is off, it costs one branch.
  public func record(_ isOn: Bool) { use { $0.keepsHistory = isOn } }

  /// Reports all events of this loop's watchers and lazy properties to `sink`; nil switches the log
  /// off.
  ///
  /// The sink is called on the loop's thread at the end of each turn, once per event. Events that
  /// the sink causes itself are reported with the next turn.
  public func log(_ sink: ((LoopEvent) -> Void)?) {
    self.sink = sink
    use { $0.isLogging = sink != nil }
  }

  private func use(_ change: (HistoryRecorder) -> Void) {
    let recorder = engine.recording.history ?? HistoryRecorder(of: engine)
    change(recorder)
    engine.recording.use(recorder)
  }

  /// Called at the end of a turn: passes the events to the sink.
  func drainLog() {
    guard let sink, let recorder = engine.recording.history else { return }
    for event in recorder.takeEvents() { sink(event) }
  }
}

extension Watcher {
  /// The writes that caused the last call (W4).
  ///
  /// The list contains all of them since ``Loop/record(_:)`` switched recording on. It is empty
  /// before that, and after the watcher has ended.
  ///
  /// - Complexity: O(writes).
  public func why() -> [RecordedWrite] { activeRecord.flatMap(history)?.last ?? [] }

  /// The reason why the watcher was not called.
  ///
  /// It is complete only if ``Loop/record(_:)`` has switched recording on.
  public func whyNot() -> Silence {
    guard let record = activeRecord else {
      return Silence(reason: .stopped, detail: "it has ended")
    }
    let isRecording = engine.recording.history?.keepsHistory == true
    var silence = engine.inspection.silence(
      of: record, history(of: record), isRecording: isRecording)
    if !isRecording { silence.detail += "; recording is off, Loop.record(true) keeps more" }
    return silence
  }

  private func history(of record: WatcherRef) -> HistoryRecorder.History? {
    engine.recording.history?.history(of: record)
  }
}
