/// What became of an object and all below it, as data (X2).
extension KeyPathObservable {
  /// Calls `callback` at the end of each turn in which something at or below this object changed,
  /// with the net changes since the last call.
  ///
  /// Objects below are those of properties, elements, values and members that are models or
  /// collections; lazy and computed properties are no part of it. A value that changed and changed
  /// back is in no change, and a turn without net changes is no call. The callback runs on the
  /// loop's thread, after all other watchers of the flush. Ends with ``Watcher/stop()``, or when
  /// this object is gone.
  ///
  /// - Parameters:
  ///   - loop: the loop that observes the objects; without one, that of this object.
  ///   - skip: an origin of ``apply(_:force:origin:)``; changes that it wrote last are left out.
  ///   - options: of the watcher.
  ///   - file: where the watcher is registered.
  ///   - line: where the watcher is registered.
  ///   - callback: gets this object and the changes.
  /// - Throws: ``PathError`` where another loop observes one of the objects.
  /// - Precondition: `options` have neither `initial` nor `equals`.
  /// - Complexity: O(objects below), once; then O(what was written, came or left) in each turn, and
  ///   O(objects below) where an object that left its key may still be there by another way.
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
  /// with the net changes since the last call, the turn, and the origins that have written.
  ///
  /// The objects, the thread and the end are those of the callback without a delivery.
  ///
  /// - Throws: ``PathError`` where another loop observes one of the objects.
  /// - Precondition: `options` have neither `initial` nor `equals`.
  /// - Complexity: that of the callback without a delivery.
  @discardableResult
  public func changes(
    in loop: Loop? = nil, skip: AnyHashable? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, [DeepChange], ChangeDelivery) throws -> Void
  ) throws -> Watcher {
    precondition(
      !options.initial && options.equals == nil,
      "Changes are what differs since the last call: 'initial' and 'equals' mean nothing for them")
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
    try watcher.beginShadow(of: self, in: engine, skip: skip, handle)
    return watcher
  }

  /// The net changes at or below this object, turn by turn.
  ///
  /// The sequence ends when this object is gone; ending the loop over it ends the watcher. Turns
  /// are buffered without limit until the consumer asks for them. What an origin wrote last is left
  /// out if `skip` names it.
  ///
  /// - Throws: ``PathError`` where another loop observes one of the objects.
  public func changes(
    in loop: Loop? = nil, skip: AnyHashable? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) throws -> AsyncStream<[DeepChange]> where Self: AnyObject {
    let (stream, continuation) = AsyncStream.makeStream(of: [DeepChange].self)
    let options = WatcherOptions(onEnd: { _ in continuation.finish() })
    let watcher = try changes(in: loop, skip: skip, options: options, file: file, line: line) {
      _, changes in
      nonisolated(unsafe) let changes = changes
      continuation.yield(changes)
    }
    continuation.onTermination = { _ in watcher.stop() }
    return stream
  }
}

/// Which turn delivers changes, and who has written (X2).
///
/// Used on the loop's thread: an origin may be any value of the program.
public struct ChangeDelivery {
  /// The number of the turn that delivers, which ``LoopStatistics/turns`` has at its end.
  public let turn: Int
  /// The origins that have written at or below the object since the last delivery, each once, in
  /// the order of their first writes; not the one that the watcher skips.
  public let origins: [AnyHashable]
}
