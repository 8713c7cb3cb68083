extension Loop {
  /// Switches the record on or off that ``Watcher/why()`` and `whyNot` need (W4); while it is off
  /// it costs one branch.
  public func record(_ isOn: Bool) { use { $0.keepsHistory = isOn } }

  /// Reports to `sink` what happens to the watchers and lazy properties of this loop: at the end of
  /// each turn, one event after the other; nil switches it off.
  ///
  /// Events that the sink causes itself are reported with the next turn.
  public func log(_ sink: ((LoopEvent) -> Void)?) {
    self.sink = sink
    use { $0.isLogging = sink != nil }
  }

  private func use(_ change: (HistoryRecorder) -> Void) {
    let recorder = engine.recording.history ?? HistoryRecorder(of: engine)
    change(recorder)
    engine.recording.use(recorder)
  }

  /// The turn is over: calls the sink.
  func drainLog() {
    guard let sink, let recorder = engine.recording.history else { return }
    for event in recorder.takeEvents() { sink(event) }
  }
}

extension Watcher {
  /// The writes that caused the last call (W4): all of them since ``Loop/record(_:)`` switched the
  /// record on, none before, and none after its end.
  ///
  /// - Complexity: O(writes).
  public func why() -> [RecordedWrite] { activeRecord.flatMap(history)?.last ?? [] }

  /// Why the watcher was not called; in full where ``Loop/record(_:)`` has switched the record on.
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
