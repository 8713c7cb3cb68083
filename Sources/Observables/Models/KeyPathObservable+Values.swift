extension KeyPathObservable {
  /// A stream of the values at the end of `path`: the current value, and then one after each turn
  /// in which something on the path changed.
  ///
  /// ```swift
  /// for await zip in try user.values("address.zip", as: String.self) { print(zip) }
  /// ```
  ///
  /// A slow reader skips values and gets the latest. If the path leads to nothing, the stream
  /// delivers nil if `Value` is optional, and no value otherwise. Call this method on the loop's
  /// thread; the stream can be read on any thread. It ends when its task is cancelled, when its
  /// last reader is gone, or when the object or the loop is gone. It retains neither of the two. If
  /// a later value has another type, it is skipped and reported to ``Loop/onError``.
  ///
  /// - Throws: ``PathError`` for a component that its object doesn't have (P9), for a value of
  ///   another type, and for a model that several threads use if this thread has no loop. Also
  ///   rethrows the errors of getters.
  /// - Complexity: O(length of the path), for each value.
  public func values<Value: Sendable>(
    _ path: Path, as type: Value.Type = Value.self, in loop: Loop? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> AsyncStream<Value> {
    let engine = try engine(of: loop)
    let (stream, sink) = ValueSink<Value>.stream()
    // The watcher's callback owns the sink. Releasing the sink ends the stream.
    let watcher = try feed(sink, at: path, in: engine, file, line) {
      try $0.existingValue(at: path, as: type)
    }
    // The stream may end in the middle of any operation.
    sink.onTermination { [inbox = engine.inbox] in inbox.postEnding { watcher.stop() } }
    return stream
  }

  /// A stream of the values at the end of a path that the compiler has checked: the current value,
  /// and then one after each turn in which something on the path changed.
  ///
  /// ```swift
  /// for await zip in user.values(#path(\.address?.zip)) { print(zip ?? "none") }
  /// ```
  ///
  /// A slow reader skips values and gets the latest. If the path leads to nothing, the stream
  /// delivers nil if `Value` is optional, and no value otherwise. Call this method on the loop's
  /// thread; the stream can be read on any thread. It ends when its task is cancelled, when its
  /// last reader is gone, or when the object or the loop is gone. It retains neither of the two. If
  /// a getter throws, the value is skipped and the error is reported to ``Loop/onError``.
  ///
  /// - Precondition: this thread has a loop, and the object has the path (P9).
  /// - Complexity: O(length of the path), for each value.
  public func values<Value: Sendable>(
    _ path: KeyPathTo<Self, Value>, in loop: Loop? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> AsyncStream<Value> {
    do {
      let engine = try engine(of: loop)
      let (stream, sink) = ValueSink<Value>.stream()
      let read = { (object: Self) in try object.existingValue(at: path) }
      let watcher = try follow(path.path, in: engine, file, line, sink, read)
      sink.onTermination { [inbox = engine.inbox] in inbox.postEnding { watcher.stop() } }
      sink.send(reportingTo: engine, "\(file):\(line)") { try read(self) }
      return stream
    } catch {
      preconditionFailure("\(error)", file: file, line: line)
    }
  }

  /// Sends the results of `read` to `sink`, now and after each turn with a change.
  fileprivate func feed<Value: Sendable>(
    _ sink: ValueSink<Value>, at path: Path, in engine: Engine, _ file: StaticString, _ line: UInt,
    _ read: @escaping (Self) throws -> Value?
  ) throws -> Watcher {
    let watcher = try follow(path, in: engine, file, line, sink, read)
    do {
      try sink.send(read(self))
    } catch {
      watcher.stop()
      throw error
    }
    return watcher
  }

  /// Sends the results of `read` to `sink` after each turn with a change.
  private func follow<Value: Sendable>(
    _ path: Path, in engine: Engine, _ file: StaticString, _ line: UInt, _ sink: ValueSink<Value>,
    _ read: @escaping (Self) throws -> Value?
  ) throws -> Watcher {
    try observe(path, in: engine.inbox.loop, file: file, line: line) { [unowned engine] object in
      sink.send(reportingTo: engine, "\(file):\(line)") { try read(object) }
    }
  }
}

extension KeyPathObservable where Self: Sendable {
  /// A stream of the values at the end of `path`, for a task on any thread: the value when the loop
  /// of `inbox` begins, and then one after each of its turns in which something on the path
  /// changed.
  ///
  /// ```swift
  /// Task.detached {
  ///   for await count in counter.values("count", as: Int.self, on: loop.inbox) { print(count) }
  /// }
  /// ```
  ///
  /// Can be called on any thread. The loop wakes and begins in a new turn. An error in the path, a
  /// first value of another type, and an error of a getter end the stream and are reported to
  /// ``Loop/onError``. The stream also ends if the loop is gone before it began. Everything else is
  /// as for a stream of the current thread's loop.
  ///
  /// - Complexity: O(length of the path), for each value.
  public func values<Value: Sendable>(
    _ path: Path, as type: Value.Type = Value.self, on inbox: Inbox, file: StaticString = #fileID,
    line: UInt = #line
  ) -> AsyncStream<Value> {
    values(at: path, on: inbox, file, line) { try $0.existingValue(at: path, as: type) }
  }

  /// A stream of the values at the end of a path that the compiler has checked, for a task on any
  /// thread: the value when the loop of `inbox` begins, and then one after each of its turns in
  /// which something on the path changed.
  ///
  /// ```swift
  /// Task.detached {
  ///   for await count in counter.values(#path(\.count), on: loop.inbox) { print(count) }
  /// }
  /// ```
  ///
  /// Can be called on any thread. Everything else is as for a textual path.
  ///
  /// - Complexity: O(length of the path), for each value.
  public func values<Value: Sendable>(
    _ path: KeyPathTo<Self, Value>, on inbox: Inbox, file: StaticString = #fileID,
    line: UInt = #line
  ) -> AsyncStream<Value> {
    values(at: path.path, on: inbox, file, line) { try $0.existingValue(at: path) }
  }

  private func values<Value: Sendable>(
    at path: Path, on inbox: Inbox, _ file: StaticString, _ line: UInt,
    _ read: @escaping @Sendable (Self) throws -> Value?
  ) -> AsyncStream<Value> {
    let (stream, sink) = ValueSink<Value>.stream()
    let handle = register(on: inbox) { [self] loop, _ in
      try feed(sink, at: path, in: loop.engine, file, line, read)
    }
    sink.onTermination { handle.stop() }
    return stream
  }
}

/// The sending end of a stream; the stream ends when it is released.
private final class ValueSink<Value: Sendable>: Sendable {
  private let continuation: AsyncStream<Value>.Continuation

  private init(_ continuation: AsyncStream<Value>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }

  /// Makes a stream whose reader gets the latest value, and its sending end.
  static func stream() -> (AsyncStream<Value>, ValueSink) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(1))
    return (stream, ValueSink(continuation))
  }

  /// Calls `body` when the stream has ended.
  func onTermination(_ body: @escaping @Sendable () -> Void) {
    continuation.onTermination = { _ in body() }
  }

  func send(_ value: Value?) {
    if let value { continuation.yield(value) }
  }

  /// Sends the result of `read`, or reports its error.
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
