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
    let (stream, continuation) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(1))
    let engine = engine(of: loop)
    // The sink is released with the watcher's callback, and ends the stream then.
    let sink = ValueSink(continuation, path: path)
    let watcher = try observe(path, in: loop, file: file, line: line) {
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
    // The watcher is used on the loop's thread only.
    nonisolated(unsafe) let ending = watcher
    let inbox = engine.inbox
    continuation.onTermination = { _ in inbox.post { ending.stop() } }
    return stream
  }
}

private final class ValueSink<Value: Sendable> {
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
