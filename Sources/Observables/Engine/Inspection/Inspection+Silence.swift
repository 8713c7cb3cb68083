extension Inspection {
  /// Why a watcher was not called; `watcher` is nil if it has ended.
  ///
  /// `cause` is the place of the write that caused its last call, if known.
  package func silence(
    of watcher: WatcherRef?, _ history: HistoryRecorder.History?, isRecording: Bool,
    cause: String? = nil
  ) -> Silence {
    guard let watcher, watcher.pointee.isActive else {
      let place = history?.stoppedAt
      return Silence(
        reason: .stopped, detail: place.map { "it was stopped at \($0)" } ?? "it has ended")
    }
    if watcher.pointee.isPaused {
      return Silence(reason: .paused, detail: "it is paused")
    }
    if watcher.pointee.isPending {
      return Silence(reason: .pending, detail: "it is pending and runs in the next flush")
    }
    if let place = firstUnreachable(of: watcher) {
      return Silence(reason: .unreachable, detail: "its path is unreachable at '\(place)'")
    }
    if let lazy = failedLazy(of: watcher) {
      return Silence(reason: .failed, detail: "'\(lazies.name(of: lazy))' could not be computed")
    }
    if let write = history?.lastEqual {
      return Silence(reason: .equal, detail: write.reasonForSilence)
    }
    if let history, history.lastTurn > 0 {
      return Silence(
        reason: .called,
        detail: "it was called in \(turnText(history.lastTurn, flush: history.lastFlush))")
    }
    if isRecording {
      return Silence(reason: .unwritten, detail: "nothing on its paths was written")
    }
    if let cause {
      return Silence(reason: .called, detail: "its last call was caused by the write at \(cause)")
    }
    return Silence(reason: .unwritten, detail: "no change on its paths is known")
  }
}
