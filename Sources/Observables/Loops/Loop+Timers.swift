extension Loop {
  /// Seconds on the loop's clock, which never goes back.
  public var now: Double { schedule.clock == .virtual ? schedule.virtualNow : monotonicSeconds() }

  /// Calls `body` in a turn of its own, `seconds` from now.
  @discardableResult
  public func after(_ seconds: Double, _ body: @escaping () -> Void) -> LoopTimer {
    schedule(in: seconds, every: nil, body)
  }

  /// Calls `body` every `seconds`, each time in a turn of its own; calls that were missed are not
  /// made up for.
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

  /// Calls `body` at the beginning of the next turn: one of its own, if no other one is made.
  package func deferToNextTurn(_ body: @escaping () -> Void) {
    calls.deferred.append(body)
    if calls.hasTurnForDeferred { return }
    calls.hasTurnForDeferred = true
    nextTurn { [unowned self] in
      calls.hasTurnForDeferred = false
      // A turn within another one has not begun with the deferred calls.
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
    driven?.ask(at: timer.due, now: now)
    return timer
  }

  func noteReference(of timer: LoopTimer) { references += timer.keepsLoopRunning ? 1 : -1 }
  func dropReference() { references -= 1 }

  /// Keeps ``run()`` from returning until the matching `release()`: something outside of the loop
  /// will post to its inbox.
  public func retain() { references += 1 }
  /// Takes one `retain()` back.
  public func release() { references -= 1 }
}
