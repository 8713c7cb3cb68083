import LibC

extension Loop {
  /// Handles everything that is due, each item in a separate turn, without waiting.
  ///
  /// This is for a host with a separate event loop. Call it on the loop's thread.
  ///
  /// - Returns: whether a timer, message or other event is still expected.
  @discardableResult
  public func step() -> Bool {
    assertOnThread()
    defer { isStopping = false }
    if engine.delivery.hasPending { endTurn() }
    handleDue()
    let hasServed = inputs.haveDescriptors && lookAtDescriptors(timeout: 0)
    if let driven { askForSteps(driven, soon: hasServed) }
    return isAlive
  }

  /// Opens the descriptors that the loop would otherwise open when it first waits.
  ///
  /// This is for a process that is about to lose the right to open anything, for example by
  /// seccomp.
  public func prepareToWait() {
    assertOnThread()
    _ = servedMainQueue
  }

  /// Handles messages and timers until nothing could wake the loop any more, or until `stop()`.
  ///
  /// The loop sleeps when idle. On the main thread, it also serves the main queue.
  ///
  /// - Precondition: the loop has no driver.
  public func run() { run { true } }

  /// Does the same as ``run()`` while `condition` is true; the condition is checked before the loop
  /// sleeps.
  package func run(while condition: () -> Bool) {
    assertOnThread()
    precondition(driven == nil, "A loop that has a driver gets its turns from the driver")
    defer { isStopping = false }
    if engine.delivery.hasPending { endTurn() }
    while !isStopping {
      handleDue()
      if isStopping || !isAlive || !condition() { break }
      wait(until: nextDue)
    }
  }

  /// Lets virtual time pass: everything due within `seconds` happens, in order.
  ///
  /// - Precondition: the loop has a virtual clock.
  public func advance(by seconds: Double) {
    precondition(schedule.clock == .virtual, "Only a loop with virtual time can be advanced")
    let end = schedule.virtualNow + seconds
    defer { isStopping = false }
    if engine.delivery.hasPending { endTurn() }
    handleDue()
    // An inner loop that is never idle is not served forever.
    var extraRounds = 100
    while !isStopping {
      let due = min(nextDue ?? end, end)
      if inputs.inner?.isAlive == true, isIdle || inputs.isInnerBusy && !hasMessages {
        if now >= end {
          if isIdle || extraRounds == 0 { break }
          extraRounds -= 1
        }
        wait(until: due)
      } else if isIdle, !inputs.haveDescriptors || !lookAtDescriptors(timeout: 0) {
        guard due == nextDue else { break }
        schedule.virtualNow = max(schedule.virtualNow, due)
      }
      handleDue()
    }
    if !isStopping { schedule.virtualNow = end }
  }

  /// Makes ``run()`` return after the turn under way.
  ///
  /// If the loop is not running, the next `run()` returns at once.
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

  /// The number of connections to other programs.
  ///
  /// While there are any, virtual time passes like real time when the loop waits.
  package var connectionCount: Int {
    get { inputs.connectionCount }
    set {
      inputs.connectionCount = newValue
      if newValue == 0, inputs.inner?.isAlive != true { schedule.passedUntil = nil }
    }
  }

  /// Whether the library's loop inside this one waits for something.
  package var isInnerLoopAlive: Bool { inputs.inner?.isAlive == true }

  /// Whether ``step()`` has something to do.
  package var mayStep: Bool {
    !isIdle || !calls.unread.isEmpty || engine.delivery.hasPending
      || nextDue.map { $0 <= now } == true
      || hasReadyDescriptor || isInnerDue
  }

  /// Notes that code outside the loop's turns has run; an inner loop registers operations that such
  /// code began in its next iteration.
  package func noteOuterCode() { if inputs.inner != nil { inputs.isInnerBusy = true } }

  /// Whether a timer of the inner loop is due.
  private var isInnerDue: Bool {
    guard let inner = inputs.inner else { return false }
    inner.updateTime()
    return inner.secondsToNext.map { $0 <= 0 } == true
  }

  private var hasMessages: Bool { !calls.ready.isEmpty || !inbox.isEmpty }

  /// Whether there is nothing to do at once.
  private var isIdle: Bool { !hasMessages && !inputs.isInnerBusy }

  /// The time at which the next timer is due.
  public var nextDue: Double? { schedule.timers.first?.due }

  private func handleDue() {
    engine.delivery.letGoOfObjects()
    inputs.inner?.updateTime()
    let messages = calls.unread + inbox.takeAll()
    calls.unread = []
    if !messages.isEmpty { outside?.refuse("a message from another thread") }
    for (index, message) in messages.enumerated() {
      if isStopping {
        calls.unread = Array(messages[index...])
        return
      }
      turn(.message, message)
    }
    let callbacks = calls.ready
    calls.ready = []
    for (index, body) in callbacks.enumerated() {
      if isStopping {
        calls.ready.insert(contentsOf: callbacks[index...], at: 0)
        return
      }
      turn(.next, body)
    }
    // Timers made during this round are not due before the next one, however short they are.
    // Otherwise a timer of 0 seconds that makes another one could keep messages waiting forever.
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
      turn(.innerLoop) { inputs.isInnerBusy = inner.iterate(isNeeded: isNeeded) }
      if schedule.clock == .virtual, !inner.isAlive, inputs.connectionCount == 0 {
        // Time does not wait for work that doesn't keep a program running.
        inputs.isInnerBusy = false
        schedule.passedUntil = nil
      }
    }
  }

  private func fire(_ timer: LoopTimer) {
    guard let body = timer.body else { return }
    if let interval = timer.interval {
      // Times of several hundred years are too coarse for a short interval.
      let next = max(timer.due + interval, timer.due.nextUp)
      timer.due = schedule.clock == .virtual ? next : max(next, now)
      schedule.timers.push(timer)
    } else {
      timer.stop()
    }
    turn(.timer(timer.sequence), body)
  }

  // MARK: Waiting

  /// Sleeps until there is something to do.
  ///
  /// In virtual time it jumps there. While the loop of a library is alive, or there are connections
  /// to other programs, virtual time passes like real time, because they wait in real time.
  package func wait(until due: Double?) {
    engine.recording.run?.willWait()
    let hasInputs = !inputs.areEmpty
    let passesTime =
      schedule.clock == .virtual && (inputs.inner?.isAlive == true || inputs.connectionCount > 0)
    let start = passesTime ? schedule.passedUntil ?? systemTime : 0
    defer { if passesTime { passTime(since: start, until: due) } }
    // Ready work must not keep the main queue and the inputs waiting forever.
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
    let time = systemTime
    schedule.passedUntil = time
    schedule.virtualNow = max(
      schedule.virtualNow, min(schedule.virtualNow + time - start, due ?? .infinity))
  }

  /// Seconds until a timer of this loop or the inner one is due; nil if there is no timer.
  private func secondsToWait(until due: Double?) -> Double? {
    let own = due.map { $0 - now }
    guard let inner = inputs.inner, inner.isAlive, let next = inner.secondsToNext else {
      return own
    }
    return own.map { min($0, next) } ?? next
  }

  /// Asks the driver for the steps that the loop needs next.
  private func askForSteps(_ driven: DrivenLoop, soon: Bool) {
    if soon || !isIdle || !calls.unread.isEmpty || engine.delivery.hasPending {
      return driven.ask()
    }
    let wait = limited(-1)
    let seconds = [secondsToWait(until: nextDue), wait < 0 ? nil : Double(wait) / 1000]
    driven.ask(at: seconds.compactMap { $0 }.min().map { now + $0 }, now: now)
    driven.wait(for: descriptorsToWaitFor)
  }
}
