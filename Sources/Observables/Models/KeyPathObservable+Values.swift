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
    let (stream, continuation) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(1))
    let engine = try engine(of: loop)
    // The sink is released with the watcher's callback, and ends the stream then.
    let watcher = try feed(
      ValueSink(continuation, path: path), at: path, in: engine, file: file, line: line)
    // The stream may end in the middle of any operation.
    continuation.onTermination = { [inbox = engine.inbox] _ in inbox.post { watcher.stop() } }
    return stream
  }

  /// Hands the value at the end of `path` to `sink`, now and after each turn with a change.
  fileprivate func feed<Value: Sendable>(
    _ sink: ValueSink<Value>, at path: Path, in engine: Engine, file: StaticString, line: UInt
  ) throws -> Watcher {
    let watcher = try observe(path, in: engine.inbox.loop, file: file, line: line) {
      [unowned engine] object in
      do {
        try sink.send(object.value(at: path))
      } catch let error as PathError where error.code == .unsupported {
        engine.report(.value(watcher: "\(file):\(line)", message: "\(error)"))
      } catch {
        // The failed computation was reported already.
      }
    }
    do {
      try sink.send(value(at: path))
    } catch {
      watcher.stop()
      throw error
    }
    return watcher
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
    let (stream, continuation) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(1))
    let sink = ValueSink(continuation, path: path)
    let handle = register(on: inbox) { [self] loop, _ in
      try feed(sink, at: path, in: loop.engine, file: file, line: line)
    }
    continuation.onTermination = { _ in handle.stop() }
    return stream
  }
}

/// The end of a stream at which values go in; the stream ends with it.
private final class ValueSink<Value: Sendable>: Sendable {
  private let continuation: AsyncStream<Value>.Continuation
  private let path: Path

  init(_ continuation: AsyncStream<Value>.Continuation, path: Path) {
    (self.continuation, self.path) = (continuation, path)
  }

  deinit { continuation.finish() }

  func send(_ value: Any?) throws(PathError) {
    if let value = value as? Value {
      continuation.yield(value)
    } else if let value {
      throw PathError(
        .unsupported, path: String(decoding: path.text, as: UTF8.self),
        component: path.components.count,
        detail: "the value is of type \(type(of: value)), not \(Value.self)")
    }
  }
}
