import Glibc

extension Loop {
  /// Handles what is due, each in its turn, without waiting.
  ///
  /// This is for a host with a loop of its own.
  ///
  /// - Returns: whether anything could still happen: a timer or message is to come.
  @discardableResult
  public func step() -> Bool {
    assertOnThread()
    defer { isStopping = false }
    if engine.delivery.hasPending { endTurn() }
    handleDue()
    let hasServed = !inputs.handlers.isEmpty && lookAtDescriptors(timeout: 0)
    if let driven { askForSteps(driven, soon: hasServed) }
    return isAlive
  }

  /// Opens what the loop otherwise opens when it first waits.
  ///
  /// For a process that is about to lose the right to open anything, as by seccomp.
  public func prepareToWait() {
    assertOnThread()
    _ = servedMainQueue
  }

  /// Handles messages and timers until nothing could wake the loop any more, or `stop()`.
  ///
  /// Sleeps when idle; on the main thread the main queue's work goes on meanwhile.
  public func run() { run { true } }

  /// As ``run()``, while `condition` is true as well: it is asked before the loop sleeps.
  package func run(while condition: () -> Bool) {
    assertOnThread()
    precondition(driven == nil, "A loop that has a driver gets its turns from that")
    defer { isStopping = false }
    if engine.delivery.hasPending { endTurn() }
    while !isStopping {
      handleDue()
      if isStopping || !isAlive || !condition() { break }
      wait(until: nextDue)
    }
  }

  /// Lets virtual time pass: everything due within `seconds` happens, in order.
  public func advance(by seconds: Double) {
    precondition(schedule.clock == .virtual, "Only a loop with virtual time can be advanced")
    let end = schedule.virtualNow + seconds
    defer { isStopping = false }
    if engine.delivery.hasPending { endTurn() }
    handleDue()
    // An inner loop that is never idle is not served for ever.
    var extraRounds = 100
    while !isStopping {
      let due = min(nextDue ?? end, end)
      if inputs.inner?.isAlive == true, isIdle || inputs.isInnerBusy && !hasMessages {
        if now >= end {
          if isIdle || extraRounds == 0 { break }
          extraRounds -= 1
        }
        wait(until: due)
      } else if isIdle, inputs.handlers.isEmpty || !lookAtDescriptors(timeout: 0) {
        guard due == nextDue else { break }
        schedule.virtualNow = max(schedule.virtualNow, due)
      }
      handleDue()
    }
    if !isStopping { schedule.virtualNow = end }
  }

  /// Makes ``run()`` return after the turn under way, or at once when it is called next.
  public func stop() {
    isStopping = true
    inbox.wake()
  }

  /// Whether the loop waits for something.
  public var isAlive: Bool {
    !calls.ready.isEmpty || !calls.unread.isEmpty || references > 0 || !inbox.isEmpty
      || engine.delivery.hasPending
      || inputs.inner?.isAlive == true
  }

  /// Whether the loop of a library, which runs inside this one, waits for something.
  package var isInnerLoopAlive: Bool { inputs.inner?.isAlive == true }

  /// Whether ``step()`` has something to do.
  package var mayStep: Bool {
    !isIdle || !calls.unread.isEmpty || engine.delivery.hasPending
      || nextDue.map { $0 <= now } == true
      || hasReadyDescriptor || isInnerDue
  }

  /// Code outside of the loop's own turns has run: what it began in the loop of a library is
  /// registered in the next iteration of that.
  package func noteOuterCode() { if inputs.inner != nil { inputs.isInnerBusy = true } }

  /// Whether a timer of the inner loop is due.
  private var isInnerDue: Bool {
    guard let inner = inputs.inner else { return false }
    inner.updateTime()
    return inner.secondsToNext.map { $0 <= 0 } == true
  }

  private var hasMessages: Bool { !calls.ready.isEmpty || !inbox.isEmpty }

  /// Whether there is nothing that could be done at once.
  private var isIdle: Bool { !hasMessages && !inputs.isInnerBusy }

  /// When the next timer is due.
  public var nextDue: Double? { schedule.timers.first?.due }

  private func handleDue() {
    engine.delivery.letGoOfModels()
    inputs.inner?.updateTime()
    let messages = calls.unread + inbox.takeAll()
    calls.unread = []
    for (index, message) in messages.enumerated() {
      if isStopping {
        calls.unread = Array(messages[index...])
        return
      }
      turn(message)
    }
    let callbacks = calls.ready
    calls.ready = []
    for (index, body) in callbacks.enumerated() {
      if isStopping {
        calls.ready.insert(contentsOf: callbacks[index...], at: 0)
        return
      }
      turn(body)
    }
    // Timers made meanwhile are not due before the next round, however short: a timer of 0 seconds
    // that makes another must not keep messages waiting.
    let (time, newest) = (now, schedule.sequence)
    var made: [LoopTimer] = []
    while !isStopping, let timer = schedule.timers.first, timer.due <= time {
      _ = schedule.timers.pop()
      if timer.sequence > newest {
        made.append(timer)
      } else {
        fire(timer)
      }
    }
    for timer in made { schedule.timers.push(timer) }
    inputs.isInnerBusy = false
    if let inner = inputs.inner, !isStopping {
      let isNeeded = references > 0
      turn { inputs.isInnerBusy = inner.iterate(isNeeded: isNeeded) }
      if schedule.clock == .virtual, !inner.isAlive {
        // Time does not wait for what keeps no program running.
        inputs.isInnerBusy = false
        schedule.passedUntil = nil
      }
    }
  }

  private func fire(_ timer: LoopTimer) {
    guard let body = timer.body else { return }
    if let interval = timer.interval {
      timer.due = schedule.clock == .virtual ? timer.due + interval : max(timer.due + interval, now)
      schedule.timers.push(timer)
    } else {
      timer.stop()
    }
    turn(body)
  }

  // MARK: Waiting

  /// Sleeps until there is something to do; in virtual time it jumps there.
  ///
  /// While the loop of a library is alive, virtual time passes as real time: what that waits for
  /// does.
  package func wait(until due: Double?) {
    let hasInputs = !inputs.handlers.isEmpty || inputs.inner != nil
    let passesTime = schedule.clock == .virtual && inputs.inner?.isAlive == true
    let start = passesTime ? schedule.passedUntil ?? monotonicSeconds() : 0
    defer { if passesTime { passTime(since: start, until: due) } }
    // What is ready must not keep the main queue and the inputs waiting for ever.
    if !isIdle {
      if inputs.isOnMainThread || hasInputs { lookAtDescriptors(timeout: 0) }
      return
    }
    if schedule.clock == .virtual, !passesTime, let due {
      if inputs.isOnMainThread || hasInputs, lookAtDescriptors(timeout: 0) { return }
      schedule.virtualNow = max(schedule.virtualNow, due)
      return
    }
    let milliseconds = secondsToWait(until: due).map { max(0, min($0, 86_400)) * 1000 }
    lookAtDescriptors(timeout: milliseconds.map { Int32($0.rounded(.up)) } ?? -1)
  }

  /// Lets virtual time pass as real time did, but not beyond the next timer.
  private func passTime(since start: Double, until due: Double?) {
    let time = monotonicSeconds()
    schedule.passedUntil = time
    schedule.virtualNow = max(
      schedule.virtualNow, min(schedule.virtualNow + time - start, due ?? .infinity))
  }

  /// Seconds until a timer is due, of this loop or the inner one; nil without any.
  private func secondsToWait(until due: Double?) -> Double? {
    let own = due.map { $0 - now }
    guard let inner = inputs.inner, inner.isAlive, let next = inner.secondsToNext else {
      return own
    }
    return own.map { min($0, next) } ?? next
  }

  /// Asks the driver for what is to come.
  private func askForSteps(_ driven: DrivenLoop, soon: Bool) {
    if soon || !isIdle || !calls.unread.isEmpty || engine.delivery.hasPending {
      return driven.ask()
    }
    driven.ask(at: secondsToWait(until: nextDue).map { now + $0 }, now: now)
    driven.wait(for: descriptorsToWaitFor)
  }
}
