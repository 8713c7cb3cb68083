import LibC

extension Loop {
  /// Calls `body` in a separate turn whenever `descriptor` is readable or at its end.
  ///
  /// `body` has to read from the descriptor or stop the handler, because it is called again while
  /// there is something to read. The loop keeps running until the handler is stopped. For a loop
  /// with a driver, a thread of the library does the waiting. Call this method on the loop's
  /// thread, where `body` is called, too.
  ///
  /// If the descriptor is found closed later, the handler ends and ``onError`` receives a
  /// ``ClosedDescriptor``.
  ///
  /// - Complexity: O(1). Each wait of the loop costs O(handlers).
  /// - Throws: ``ClosedDescriptor`` if the descriptor is not open.
  @discardableResult
  public func onReadable(
    _ descriptor: Int32, _ body: @escaping () -> Void
  ) throws(ClosedDescriptor) -> DescriptorHandler {
    try add(descriptor, POLLIN, stream: nil, body)
  }

  /// Calls `body` in a separate turn whenever `descriptor` is writable.
  ///
  /// The call repeats until the handler is stopped. Everything else is as for ``onReadable(_:_:)``.
  ///
  /// - Throws: ``ClosedDescriptor`` if the descriptor is not open.
  @discardableResult
  public func onWritable(
    _ descriptor: Int32, _ body: @escaping () -> Void
  ) throws(ClosedDescriptor) -> DescriptorHandler {
    try add(descriptor, POLLOUT, stream: nil, body)
  }

  /// Adds a handler for a stream, which may hold bytes that were read already.
  package func onReadable(
    _ descriptor: Int32, stream: @escaping () -> DescriptorState, _ body: @escaping () -> Void
  ) throws(ClosedDescriptor) -> DescriptorHandler {
    try add(descriptor, POLLIN, stream: stream, body)
  }

  /// Adds a handler for a stream, which knows whether it was closed.
  package func onWritable(
    _ descriptor: Int32, stream: @escaping () -> DescriptorState, _ body: @escaping () -> Void
  ) throws(ClosedDescriptor) -> DescriptorHandler {
    try add(descriptor, POLLOUT, stream: stream, body)
  }

  private func add(
    _ descriptor: Int32, _ events: Int32, stream: (() -> DescriptorState)?,
    _ body: @escaping () -> Void
  ) throws(ClosedDescriptor) -> DescriptorHandler {
    assertOnThread()
    guard isOpen(descriptor) else { throw ClosedDescriptor(descriptor: descriptor) }
    let handler = DescriptorHandler(descriptor, events, stream: stream, self, body)
    inputs.handlers.append(handler)
    references += 1
    driven?.ask()
    return handler
  }

  /// Whether a descriptor is open.
  package func isOpen(_ descriptor: Int32) -> Bool {
    let isOpen = outside.exchange("descriptor") {
      RunInput(result: fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0)
    }
    return isOpen.result != 0
  }

  /// Whether a handler waits for the descriptor.
  package func isWaiting(for descriptor: Int32) -> Bool {
    inputs.handlers.contains { $0.descriptor == descriptor }
  }

  func noteReference(of handler: DescriptorHandler) {
    references += handler.keepsLoopRunning ? 1 : -1
  }

  func remove(_ handler: DescriptorHandler) {
    if handler.keepsLoopRunning { references -= 1 }
    inputs.handlers.removeAll { $0 === handler }
  }

  /// Runs the loop of a library inside this one from now on; nil removes it.
  package func run(inside inner: (any InnerLoop)?) {
    inputs.inner = inner
    driven?.ask()
  }

  /// The main queue, if this loop serves it because it owns the main thread.
  var servedMainQueue: MainQueue? {
    inputs.isOnMainThread && driven == nil ? MainQueue.shared : nil
  }

  /// Waits for a descriptor, the inbox, the main queue or the inner loop, and calls the ready
  /// handlers, each in a turn.
  ///
  /// - Parameter timeout: milliseconds; 0 doesn't wait, -1 waits without limit.
  /// - Returns: whether a handler was called that keeps the loop running. If so, virtual time has
  ///   to wait.
  @discardableResult
  func lookAtDescriptors(timeout: Int32) -> Bool {
    if inputs.servers.isEmpty { return lookOnce(timeout: timeout) == .handled }
    let start = monotonicNanoseconds()
    var rest = timeout
    while true {
      let result = lookOnce(timeout: rest)
      // A request that ran no code of the program must not end the wait: it would add a round.
      guard result == .servedOutside, rest != 0, !isStopping else {
        if result == .servedOutside { noteReady([]) }
        return result == .handled
      }
      let waited = Int32(clamping: (monotonicNanoseconds() - start) / 1_000_000)
      if timeout > 0 { rest = max(0, timeout - waited) }
    }
  }

  /// The result of one look at the descriptors.
  private enum Look {
    /// A handler was called that keeps the loop running.
    case handled
    /// Only servers were called, and they ran no code of the program.
    case servedOutside
    /// No descriptor was ready, or only code was called that does not keep the loop running.
    case other
  }

  private func lookOnce(timeout: Int32) -> Look {
    let waiting = inputs.handlers
    let states = waiting.map(\.state)
    let isReady = states.contains { $0 != .unknown }
    let mainQueue = servedMainQueue
    var polled = waiting.map(\.polled)
    polled.append(pollfd(fd: mainQueue?.descriptor ?? -1, events: Int16(POLLIN), revents: 0))
    polled.append(pollfd(fd: inbox.wakeDescriptor, events: Int16(POLLIN), revents: 0))
    polled.append(pollfd(fd: inputs.inner?.descriptor ?? -1, events: Int16(POLLIN), revents: 0))
    let (own, servers) = (polled.count, inputs.servers)
    let served = servers.map(\.polled)
    for entries in served { polled += entries }
    let count = replayReady(&polled) ?? poll(&polled, timeout: isReady ? 0 : limited(timeout))
    guard count > 0 || isReady || count == 0 && servers.contains(where: \.isDue) else {
      noteReady([])
      return .other
    }
    if !servers.isEmpty, !isStopping {
      let hasRun = serve(servers, served.map(\.count), polled[own...])
      let isOnlyServed = !isReady && polled[..<own].allSatisfy { $0.revents == 0 }
      if hasRun { outside?.refuse("code of the page of an inspector") }
      if isOnlyServed { return hasRun ? .other : .servedOutside }
    }
    noteReady(polled[..<own])
    var hasServed = false
    if let mainQueue, polled[waiting.count].revents != 0 {
      turn { mainQueue.drain() }
    }
    for (index, handler) in waiting.enumerated() {
      // An earlier handler may have stopped it.
      guard !isStopping, let body = handler.body else { continue }
      let found = polled[index].revents
      if states[index] == .closed || found & Int16(POLLNVAL) != 0 {
        end(handler)
      } else if states[index] == .ready || found != 0 {
        if handler.keepsLoopRunning { hasServed = true }
        turn(.descriptor, body)
        noteOuterCode()
      }
    }
    return hasServed ? .handled : .other
  }

  /// Sets the entries to those that were recorded, and returns how many are ready; nil unless this
  /// is a replay.
  private func replayReady(_ polled: inout [pollfd]) -> Int32? {
    guard let recorded = outside?.take("poll", about: nil) else { return nil }
    // Pairs of a place and the events there.
    let pairs = recorded.bytes ?? []
    for pair in stride(from: 0, to: pairs.count - 1, by: 2) where pairs[pair] < polled.count {
      polled[Int(pairs[pair])].revents = Int16(pairs[pair + 1])
    }
    return Int32(clamping: recorded.result)
  }

  /// Notes the entries that are ready, after a wait that returns to the program.
  private func noteReady(_ polled: ArraySlice<pollfd>) {
    guard let outside else { return }
    var pairs: [UInt8] = []
    for (place, entry) in polled.enumerated() where entry.revents != 0 {
      // More handlers than this are not worth a longer form.
      guard place < 256 else { return outside.refuse("more than 256 descriptors to wait for") }
      pairs += [UInt8(place), UInt8(truncatingIfNeeded: entry.revents)]
    }
    outside.note(
      "poll", RunInput(result: pairs.count / 2, bytes: pairs.isEmpty ? nil : pairs))
  }

  /// Whether a handler would be called now, or the inner loop has something to read.
  var hasReadyDescriptor: Bool {
    if inputs.areEmpty { return false }
    if inputs.handlers.contains(where: { $0.state != .unknown }) { return true }
    var polled = descriptorsToWaitFor
    return poll(&polled, timeout: 0) > 0 || inputs.servers.contains(where: \.isDue)
  }

  /// Ends a handler whose descriptor is closed.
  private func end(_ handler: DescriptorHandler) {
    let onClose = handler.onClose
    handler.stop()
    engine.reports.statistics.errors += 1
    if let onClose { return turn(.descriptor, onClose) }
    report(ClosedDescriptor(descriptor: handler.descriptor))
  }

  /// The descriptors that another thread has to wait for, if this loop has a driver.
  var descriptorsToWaitFor: [pollfd] {
    var polled = inputs.handlers.map(\.polled)
    if let inner = inputs.inner {
      polled.append(pollfd(fd: inner.descriptor, events: Int16(POLLIN), revents: 0))
    }
    for server in inputs.servers { polled += server.polled }
    return polled
  }
}
