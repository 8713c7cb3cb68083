/// What became of an object and all below it, as data (X2).
extension KeyPathObservable {
  /// Calls `callback` at the end of each turn in which something at or below this object changed,
  /// with the net changes since the last call.
  ///
  /// Objects below are those of properties, elements, values and members that are models or
  /// collections; lazy and computed properties are no part of it. A value that changed and changed
  /// back is in no change, and a turn without net changes is no call. Ends with ``Watcher/stop()``,
  /// or when this object is gone.
  ///
  /// - Throws: ``PathError`` where another loop observes one of the objects.
  /// - Complexity: O(objects below), once; then O(what was written) in each turn, and O(objects
  ///   below)
  ///   where objects came or left.
  @discardableResult
  public func changes(
    in loop: Loop? = nil, options: WatcherOptions = WatcherOptions(),
    file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, [DeepChange]) throws -> Void
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
        shadow.advance(to: taken)
        if changes.isEmpty { return engine.delivery.noteIdleCall() }
        if isOnce {
          watcher.stop()
          shadow.stop()
        }
        try callback(unsafeDowncast(observed, to: Self.self), changes)
      }
    ) { engine, record in try engine.wiring.add([Path.everything], to: record) }
    // The callback of the watcher owns the handle, and that the shadow.
    handle.shadow = try TreeShadow(of: self, in: engine) { [weak watcher, weak handle] in
      guard let record = watcher?.activeRecord else {
        handle?.shadow?.stop()
        return
      }
      engine.delivery.schedule(record)
    }
    return watcher
  }

  /// The net changes at or below this object, turn by turn.
  ///
  /// The sequence ends when this object is gone; ending the loop over it ends the watcher. Turns
  /// that come before the consumer asked for the last ones wait in it.
  ///
  /// - Throws: ``PathError`` where another loop observes one of the objects.
  public func changes(
    in loop: Loop? = nil, file: StaticString = #fileID, line: UInt = #line
  ) throws -> AsyncStream<[DeepChange]> where Self: AnyObject {
    let (stream, continuation) = AsyncStream.makeStream(of: [DeepChange].self)
    let options = WatcherOptions(onEnd: { _ in continuation.finish() })
    let watcher = try changes(in: loop, options: options, file: file, line: line) { _, changes in
      nonisolated(unsafe) let changes = changes
      continuation.yield(changes)
    }
    continuation.onTermination = { _ in watcher.stop() }
    return stream
  }
}

/// The shadow of a watcher, which its callback owns.
private final class ShadowHandle {
  var shadow: TreeShadow?
}
