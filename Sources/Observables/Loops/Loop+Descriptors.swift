import Glibc

extension Loop {
  /// Calls `body`, in a turn of its own, whenever `descriptor` can be read or is at its end.
  ///
  /// It must be read in `body`, or the handler stopped: it is called again while there is something
  /// to read. The loop runs until the handler is stopped. In a loop that has a driver a thread of
  /// the library waits.
  ///
  /// Where the descriptor is found closed later, the handler ends, and ``onError`` gets a
  /// ``ClosedDescriptor``.
  ///
  /// - Complexity: O(1); each wait of the loop costs O(handlers).
  /// - Throws: if the descriptor is not open.
  @discardableResult
  public func onReadable(
    _ descriptor: Int32, _ body: @escaping () -> Void
  ) throws(ClosedDescriptor) -> DescriptorHandler {
    try add(descriptor, POLLIN, stream: nil, body)
  }

  /// Calls `body`, in a turn of its own, whenever bytes can be written to `descriptor`.
  ///
  /// As ``onReadable(_:_:)`` otherwise: it is called again and again until it is stopped.
  ///
  /// - Throws: if the descriptor is not open.
  @discardableResult
  public func onWritable(
    _ descriptor: Int32, _ body: @escaping () -> Void
  ) throws(ClosedDescriptor) -> DescriptorHandler {
    try add(descriptor, POLLOUT, stream: nil, body)
  }

  /// A handler of a stream, which knows more than its descriptor.
  package func onReadable(
    _ descriptor: Int32, stream: @escaping () -> DescriptorState, _ body: @escaping () -> Void
  ) throws(ClosedDescriptor) -> DescriptorHandler {
    try add(descriptor, POLLIN, stream: stream, body)
  }

  /// A handler of a stream, which knows when it was closed.
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
    guard fcntl(descriptor, F_GETFD) >= 0 else {
      throw ClosedDescriptor(descriptor: descriptor)
    }
    let handler = DescriptorHandler(descriptor, events, stream: stream, self, body)
    inputs.handlers.append(handler)
    references += 1
    driven?.ask()
    return handler
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

  /// Lets the loop of a library run inside of this one from now on; nil for none.
  package func run(inside inner: (any InnerLoop)?) {
    inputs.inner = inner
    driven?.ask()
  }

  /// The main queue where this loop serves it: it owns the main thread.
  var servedMainQueue: MainQueue? {
    inputs.isOnMainThread && driven == nil ? MainQueue.shared : nil
  }

  /// Calls the handlers of descriptors that are ready, each in a turn, after it has waited for one,
  /// for the inbox, the main queue and the inner loop.
  ///
  /// - Parameter timeout: milliseconds; 0 not to wait, -1 for ever.
  /// - Returns: whether a handler was called that keeps the loop running: virtual time has to wait.
  @discardableResult
  func lookAtDescriptors(timeout: Int32) -> Bool {
    let waiting = inputs.handlers
    let states = waiting.map(\.state)
    let isReady = states.contains { $0 != .unknown }
    let mainQueue = servedMainQueue
    var polled = waiting.map(\.polled)
    polled.append(pollfd(fd: mainQueue?.descriptor ?? -1, events: Int16(POLLIN), revents: 0))
    polled.append(pollfd(fd: inbox.wakeDescriptor, events: Int16(POLLIN), revents: 0))
    polled.append(pollfd(fd: inputs.inner?.descriptor ?? -1, events: Int16(POLLIN), revents: 0))
    guard poll(&polled, timeout: isReady ? 0 : timeout) > 0 || isReady else {
      return false
    }
    var hasServed = false
    if let mainQueue, polled[waiting.count].revents != 0 {
      turn { mainQueue.drain() }
    }
    for (index, handler) in waiting.enumerated() {
      // An earlier one may have stopped it.
      guard !isStopping, let body = handler.body else { continue }
      let found = polled[index].revents
      if states[index] == .closed || found & Int16(POLLNVAL) != 0 {
        end(handler)
      } else if states[index] == .ready || found != 0 {
        if handler.keepsLoopRunning { hasServed = true }
        turn(body)
        noteOuterCode()
      }
    }
    return hasServed
  }

  /// Whether one of the handlers would be called, or the inner loop has something to read.
  var hasReadyDescriptor: Bool {
    if inputs.handlers.isEmpty, inputs.inner == nil { return false }
    if inputs.handlers.contains(where: { $0.state != .unknown }) { return true }
    var polled = descriptorsToWaitFor
    return poll(&polled, timeout: 0) > 0
  }

  /// Ends a handler whose descriptor is closed: nothing will be read from it any more.
  private func end(_ handler: DescriptorHandler) {
    let onClose = handler.onClose
    handler.stop()
    engine.reports.statistics.errors += 1
    if let onClose { return turn(onClose) }
    report(ClosedDescriptor(descriptor: handler.descriptor))
  }

  /// What has to be waited for by somebody else, where this loop lives in another one.
  var descriptorsToWaitFor: [pollfd] {
    var polled = inputs.handlers.map(\.polled)
    if let inner = inputs.inner {
      polled.append(pollfd(fd: inner.descriptor, events: Int16(POLLIN), revents: 0))
    }
    return polled
  }
}
