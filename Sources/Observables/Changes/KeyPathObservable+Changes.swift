/// Changes of an object and everything below it, as data (X2).
extension KeyPathObservable {
  /// Calls `callback` at the end of each turn in which something at or below this object changed,
  /// with the net changes since the last call.
  ///
  /// The objects below are the models and collections in properties, elements, values and members,
  /// and the tables of scripts that these hold. Tables can be nested deeply: their data is split
  /// into several changes every 200 levels.
  /// Lazy and computed properties are not included. If a value changes and changes back, that is
  /// not a net change, and a turn without net changes causes no call. The callback runs on the
  /// loop's thread, after all other watchers of the flush. Errors that it throws are reported to
  /// ``Loop/onError`` (T10). The watcher ends with ``Watcher/stop()``, or when this object is gone.
  ///
  /// - Parameters:
  ///   - loop: the loop that observes the objects; by default, the loop of this object.
  ///   - skip: an origin of ``apply(_:force:origin:)``. Changes whose last write is from this
  ///     origin are left out.
  ///   - options: the options of the watcher.
  ///   - file: the file of the registration.
  ///   - line: the line of the registration.
  ///   - callback: receives this object and the changes.
  /// - Throws: ``PathError`` if another loop observes one of the objects.
  /// - Precondition: `options` has neither `initial` nor `equals`.
  /// - Complexity: O(objects below), once. Then O(written, added and removed values) in each turn,
  ///   and O(objects below) if an object that was removed from its key may still be reachable
  ///   another way.
  @discardableResult
  public func changes(
    in loop: Loop? = nil, skip: AnyHashable? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, [DeepChange]) throws -> Void
  ) throws -> Watcher {
    try changes(in: loop, skip: skip, options: options, file: file, line: line) {
      model, changes, _ in try callback(model, changes)
    }
  }

  /// Calls `callback` at the end of each turn in which something at or below this object changed,
  /// with the net changes since the last call, the turn, and the origins of the writes.
  ///
  /// Everything else is as for the callback without a delivery.
  ///
  /// - Throws: ``PathError`` if another loop observes one of the objects.
  /// - Precondition: `options` has neither `initial` nor `equals`.
  /// - Complexity: the same as for the callback without a delivery.
  @discardableResult
  public func changes(
    in loop: Loop? = nil, skip: AnyHashable? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, [DeepChange], ChangeDelivery) throws -> Void
  ) throws -> Watcher {
    precondition(
      !options.initial && options.equals == nil,
      "Changes are differences since the last call: 'initial' and 'equals' mean nothing for them")
    let (engine, isOnce) = (try engine(of: loop), options.once)
    var options = options
    options.once = false
    let handle = ShadowHandle()
    let watcher = try register(
      in: loop, options, .collecting, file, line,
      { observed, watcher in
        guard let shadow = handle.shadow, let taken = shadow.take() else {
          return engine.delivery.noteIdleCall()
        }
        let changes = TreeDifference(
          before: taken.before, after: taken.after, of: taken.entries
        ).changes
        let delivery = ChangeDelivery(
          turn: engine.reports.currentTurn, origins: shadow.origins)
        shadow.advance(to: taken)
        if changes.isEmpty { return engine.delivery.noteIdleCall() }
        if isOnce {
          watcher.stop()
          shadow.stop()
        }
        try callback(unsafeDowncast(observed, to: Self.self), changes, delivery)
      }
    ) { engine, record in try engine.wiring.add([Path.everything], to: record) }
    try watcher.beginShadow(of: self, in: engine, goesIntoTables: true, skip: skip, handle)
    return watcher
  }

  /// A stream of the net changes at or below this object, one list per turn.
  ///
  /// The stream ends when this object is gone, or when its watchers are stopped. Leaving the
  /// `for await` loop ends the watcher. Turns are buffered without limit until the consumer asks
  /// for them. If `skip` names an origin, changes whose last write is from it are left out. Call
  /// this method on the loop's thread.
  ///
  /// - Throws: ``PathError`` if another loop observes one of the objects.
  public func changes(
    in loop: Loop? = nil, skip: AnyHashable? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) throws -> AsyncStream<[DeepChange]> where Self: AnyObject {
    let (stream, continuation) = AsyncStream.makeStream(of: [DeepChange].self)
    // The watcher's callback owns the sink. Releasing the sink ends the stream.
    let sink = ChangeSink(continuation)
    let watcher = try changes(in: loop, skip: skip, file: file, line: line) { _, changes in
      nonisolated(unsafe) let changes = changes
      sink.continuation.yield(changes)
    }
    continuation.onTermination = { _ in watcher.stop() }
    return stream
  }
}

/// The sending end of a stream of changes; the stream ends when it is released.
private final class ChangeSink {
  let continuation: AsyncStream<[DeepChange]>.Continuation

  init(_ continuation: AsyncStream<[DeepChange]>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }
}

/// The turn that delivers changes, and the origins of the writes (X2).
///
/// It is used on the loop's thread, because an origin can be any value of the program.
public struct ChangeDelivery {
  /// The number of the delivering turn, which is the value of ``LoopStatistics/turns`` at its end.
  public let turn: Int
  /// The origins that have written at or below the object since the last delivery.
  ///
  /// Each occurs once, in the order of first writes. The origin that the watcher skips is left out.
  public let origins: [AnyHashable]
}
