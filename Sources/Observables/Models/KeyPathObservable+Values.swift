extension KeyPathObservable {
  /// The values at the end of `path`: the one that is there now, and then one after each turn in
  /// which something on the path changed.
  ///
  /// ```swift
  /// for await zip in try user.values("address.zip", as: String.self) { print(zip) }
  /// ```
  ///
  /// A reader that is slower than the turns gets the latest value. Where the path leads to nothing
  /// there is nil, if `Value` is optional, and no value otherwise. To be called on the loop's
  /// thread; the stream may be read anywhere. It ends when its task is cancelled, no code reads it
  /// any more, or the object or the loop is gone; it keeps neither of them alive. A value of
  /// another type later on is reported to ``Loop/onError`` and left out.
  ///
  /// - Throws: ``PathError`` for a component that its object doesn't have (P9) and for a value that
  ///   is not of the type, and what a getter throws.
  /// - Complexity: O(length of the path), for each value.
  public func values<Value: Sendable>(
    _ path: Path, as type: Value.Type = Value.self, in loop: Loop? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> AsyncStream<Value> {
    let read = { (object: Self) -> Value? in
      let value = try object.value(at: path)
      if let value = value as? Value { return value }
      if let value { throw PathError(value, at: path, isNo: Value.self) }
      return nil
    }
    let (stream, sink, watcher) = try stream(path, in: loop, file, line, read)
    do {
      try sink.send(read(self))
    } catch {
      watcher.stop()
      throw error
    }
    return stream
  }

  /// The values at the end of `path`, which the compiler has checked: the one that is there now,
  /// and then one after each turn in which something on the path changed.
  ///
  /// ```swift
  /// for await zip in user.values(#path(\.address?.zip)) { print(zip ?? "none") }
  /// ```
  ///
  /// A reader that is slower than the turns gets the latest value. Where the path leads to nothing
  /// there is nil, if `Value` is optional, and no value otherwise. To be called on the loop's
  /// thread; the stream may be read anywhere. It ends when its task is cancelled, no code reads it
  /// any more, or the object or the loop is gone; it keeps neither of them alive. What a getter
  /// throws is reported to ``Loop/onError``, and there is no value then.
  ///
  /// - Precondition: there is a loop on this thread, and the object has the path (P9).
  /// - Complexity: O(length of the path), for each value.
  public func values<Value: Sendable>(
    _ path: KeyPathTo<Self, Value>, in loop: Loop? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> AsyncStream<Value> {
    let read = { (object: Self) in try object.existingValue(at: path) }
    do {
      let (stream, sink, _) = try stream(path.path, in: loop, file, line, read)
      sink.send(reportingTo: engine(of: loop), "\(file):\(line)") { try read(self) }
      return stream
    } catch {
      preconditionFailure("\(error)", file: file, line: line)
    }
  }

  /// A stream of what `read` gives after each turn in which something on the path changed, without
  /// the value that is there now.
  private func stream<Value: Sendable>(
    _ path: Path, in loop: Loop?, _ file: StaticString, _ line: UInt,
    _ read: @escaping (Self) throws -> Value?
  ) throws -> (AsyncStream<Value>, ValueSink<Value>, Watcher) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(1))
    let engine = engine(of: loop)
    // The sink is released with the watcher's callback, and ends the stream then.
    let sink = ValueSink(continuation)
    let watcher = try observe(path, in: loop, file: file, line: line) {
      [unowned engine] object in
      sink.send(reportingTo: engine, "\(file):\(line)") { try read(object) }
    }
    // The watcher is used on the loop's thread only.
    nonisolated(unsafe) let ending = watcher
    let inbox = engine.inbox
    continuation.onTermination = { _ in inbox.post { ending.stop() } }
    return (stream, sink, watcher)
  }
}

private final class ValueSink<Value: Sendable> {
  private let continuation: AsyncStream<Value>.Continuation

  init(_ continuation: AsyncStream<Value>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }

  func send(_ value: Value?) {
    if let value { continuation.yield(value) }
  }

  /// Sends what `read` gives, or reports its error.
  func send(
    reportingTo engine: Engine, _ name: @autoclosure () -> String, _ read: () throws -> Value?
  ) {
    do {
      try send(read())
    } catch let error as PathError where error.code == .unsupported {
      engine.report(.value(watcher: name(), message: "\(error)"))
    } catch {
      // The failed computation was reported already.
    }
  }
}
