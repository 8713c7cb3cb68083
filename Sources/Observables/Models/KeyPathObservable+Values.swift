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
  /// - Throws: ``PathError`` for a component that its object doesn't have (P9), for a value that
  ///   is not of the type, and for a model that several threads use where no loop is on this
  ///   thread; what a getter throws.
  /// - Complexity: O(length of the path), for each value.
  public func values<Value: Sendable>(
    _ path: Path, as type: Value.Type = Value.self, in loop: Loop? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) throws -> AsyncStream<Value> {
    let engine = try engine(of: loop)
    let (stream, sink) = ValueSink<Value>.stream()
    // The sink is released with the watcher's callback, and ends the stream then.
    let watcher = try feed(sink, at: path, in: engine, file, line) {
      try $0.existingValue(at: path, as: type)
    }
    // The stream may end in the middle of any operation.
    sink.onTermination { [inbox = engine.inbox] in inbox.postEnding { watcher.stop() } }
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

  /// Hands what `read` gives to `sink`, now and after each turn with a change.
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

  /// Hands what `read` gives to `sink` after each turn with a change.
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
  /// The values at the end of `path`, for a task of any thread: the one that is there when the loop
  /// of `inbox` begins, and then one after each turn of it in which something on the path changed.
  ///
  /// ```swift
  /// Task.detached {
  ///   for await count in counter.values("count", as: Int.self, on: loop.inbox) { print(count) }
  /// }
  /// ```
  ///
  /// May be called on any thread; the loop begins in a turn for which it wakes. An error in the
  /// path, a first value of another type, and what a getter throws is reported to ``Loop/onError``,
  /// and ends the stream. It ends, too, where the loop is gone before it began. All else is as for
  /// the values of the current thread's loop.
  ///
  /// - Complexity: O(length of the path), for each value.
  public func values<Value: Sendable>(
    _ path: Path, as type: Value.Type = Value.self, on inbox: Inbox, file: StaticString = #fileID,
    line: UInt = #line
  ) -> AsyncStream<Value> {
    values(at: path, on: inbox, file, line) { try $0.existingValue(at: path, as: type) }
  }

  /// The values at the end of `path`, which the compiler has checked, for a task of any thread: the
  /// one that is there when the loop of `inbox` begins, and then one after each turn of it in which
  /// something on the path changed.
  ///
  /// ```swift
  /// Task.detached {
  ///   for await count in counter.values(#path(\.count), on: loop.inbox) { print(count) }
  /// }
  /// ```
  ///
  /// May be called on any thread. All else is as for a path as text.
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

/// The end of a stream at which values go in; the stream ends with it.
private final class ValueSink<Value: Sendable>: Sendable {
  private let continuation: AsyncStream<Value>.Continuation

  private init(_ continuation: AsyncStream<Value>.Continuation) {
    self.continuation = continuation
  }

  deinit { continuation.finish() }

  /// A stream whose reader gets the latest value, and its other end.
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
