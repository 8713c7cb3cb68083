extension Loop {
  /// Seconds on the loop's clock, which never goes back.
  public var now: Double { schedule.clock == .virtual ? schedule.virtualNow : systemTime }

  /// Seconds on the system's clock, or in a replay on that of the recorded run.
  var systemTime: Double {
    guard let outside else { return monotonicSeconds() }
    let time = outside.exchange("now") { RunInput(result: Int(monotonicNanoseconds())) }
    return Double(time.result) * 1e-9
  }

  /// Calls `body` once, in a separate turn, `seconds` from now.
  ///
  /// Call it on the loop's thread. It ends with ``LoopTimer/stop()``.
  @discardableResult
  public func after(_ seconds: Double, _ body: @escaping () -> Void) -> LoopTimer {
    schedule(in: seconds, every: nil, body)
  }

  /// Calls `body` every `seconds`, each time in a separate turn.
  ///
  /// Missed calls are not repeated. Call it on the loop's thread. It ends with
  /// ``LoopTimer/stop()``.
  ///
  /// - Precondition: `seconds` is above 0.
  @discardableResult
  public func every(_ seconds: Double, _ body: @escaping () -> Void) -> LoopTimer {
    precondition(seconds > 0, "A repeating timer needs an interval above 0, not \(seconds)")
    return schedule(in: seconds, every: seconds, body)
  }

  /// Calls `body` in the next turn.
  public func nextTurn(_ body: @escaping () -> Void) {
    calls.ready.append(body)
    driven?.ask()
  }

  /// Calls `body` at the beginning of the next turn; if no other turn is made, one is made for it.
  package func deferToNextTurn(_ body: @escaping () -> Void) {
    calls.deferred.append(body)
    if calls.hasTurnForDeferred { return }
    calls.hasTurnForDeferred = true
    nextTurn { [unowned self] in
      calls.hasTurnForDeferred = false
      // If this turn is nested in another one, it has not begun with the deferred calls.
      makeDeferredCalls()
    }
  }

  func makeDeferredCalls() {
    let bodies = calls.deferred
    calls.deferred = []
    for body in bodies { body() }
  }

  private func schedule(
    in seconds: Double, every interval: Double?, _ body: @escaping () -> Void
  ) -> LoopTimer {
    assertOnThread()
    schedule.sequence += 1
    let timer = LoopTimer(
      due: now + max(0, seconds), interval: interval, sequence: schedule.sequence, loop: self,
      body: body)
    schedule.timers.push(timer)
    references += 1
    engine.recording.run?.madeTimer(
      timer.sequence, seconds: seconds, repeats: interval != nil)
    driven?.ask(at: timer.due, now: now)
    return timer
  }

  func noteReference(of timer: LoopTimer) { references += timer.keepsLoopRunning ? 1 : -1 }
  func dropReference() { references -= 1 }

  /// Keeps ``run()`` from returning until the matching `release()`, because something outside the
  /// loop will post to its inbox.
  public func retain() { references += 1 }
  /// Undoes one `retain()`.
  public func release() { references -= 1 }
}
