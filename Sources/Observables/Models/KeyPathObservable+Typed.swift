/// Watchers of paths that the compiler has checked.
///
/// They work like watchers of textual paths, but mistakes of the caller trap with the error's
/// sentence: a name that a model does not have, a digit at a place without an object, and an object
/// that a loop of another thread observes. Errors that a callback throws are reported to
/// ``Loop/onError`` as a ``WatcherError`` (T10).
extension KeyPathObservable {
  /// Calls `callback` at the end of each turn in which an element of one of the paths changed.
  ///
  /// ```swift
  /// user.observe(#path(\.name), #path(\.address?.zip)) { user in print(user.name) }
  /// ```
  ///
  /// Everything else is as for textual paths, except that an error in a path traps.
  ///
  /// - Precondition: a loop is given, or exactly one is selected. The object has the paths (P9).
  /// - Complexity: O(length of the paths).
  @discardableResult
  public func observe(
    _ path: PartialKeyPathTo<Self>, _ others: PartialKeyPathTo<Self>..., in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self) throws -> Void
  ) -> Watcher {
    checked(path, others, file, line) {
      try observe($0, in: loop, options, file, line, callback)
    }
  }

  /// Starts a task at the end of each turn in which an element of one of the paths changed.
  ///
  /// Two tasks never run at once. Everything else is as for textual paths, except that an error in
  /// a path traps.
  ///
  /// - Precondition: a loop is given, or exactly one is selected. The object has the paths (P9).
  /// - Complexity: O(length of the paths).
  @discardableResult
  public func observe(
    _ path: PartialKeyPathTo<Self>, _ others: PartialKeyPathTo<Self>..., in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self) async throws -> Void
  ) -> Watcher {
    checked(path, others, file, line) {
      try observe($0, in: loop, options, file, line, callback)
    }
  }

  /// Calls `callback` inside each write to an element of one of the paths, after the value is
  /// stored (T9).
  ///
  /// The callback receives this object and the change. Everything else is as for textual paths,
  /// except that an error in a path traps.
  ///
  /// - Precondition: a loop is given, or exactly one is selected. The object has the paths (P9).
  /// - Complexity: O(length of the paths).
  @discardableResult
  public func observeImmediately(
    _ path: PartialKeyPathTo<Self>, _ others: PartialKeyPathTo<Self>..., in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), file: StaticString = #fileID, line: UInt = #line,
    _ callback: @escaping (Self, ModelChange) throws -> Void
  ) -> Watcher {
    checked(path, others, file, line) {
      try observeImmediately($0, in: loop, options, file, line, callback)
    }
  }

  /// Does the same as ``breakOnChange(_:in:file:line:)-(Path,_,_,_)`` for a path that the compiler
  /// has checked.
  ///
  /// - Precondition: this thread has a loop, and the object has the path (P9).
  @discardableResult
  public func breakOnChange(
    _ path: PartialKeyPathTo<Self>, in loop: Loop? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Watcher {
    checked(path, [], file, line) { try breakOnChange($0[0], in: loop, file: file, line: line) }
  }

  /// Removes one path from the watchers of this object, or from an observer's watchers (L5).
  ///
  /// A watcher ends with its last path. Does nothing if no watcher matches.
  ///
  /// - Returns: the number of (watcher, path) pairs that ended.
  /// - Complexity: O(watchers of this object).
  @discardableResult
  public func stopObserving(_ path: PartialKeyPathTo<Self>, observer: AnyObject? = nil) -> Int {
    stopObserving(path.path, observer: observer)
  }

  /// Removes several paths from the watchers of this object, or from an observer's watchers (L5).
  ///
  /// A watcher ends with its last path. Does nothing if no watcher matches, or if `paths` is empty.
  ///
  /// - Returns: the number of (watcher, path) pairs that ended.
  /// - Complexity: O(paths · watchers of this object).
  @discardableResult
  public func stopObserving(_ paths: [PartialKeyPathTo<Self>], observer: AnyObject? = nil) -> Int {
    stopObserving(paths.map(\.path), observer: observer)
  }

  private func checked(
    _ path: PartialKeyPathTo<Self>, _ others: [PartialKeyPathTo<Self>], _ file: StaticString,
    _ line: UInt, _ register: ([Path]) throws -> Watcher
  ) -> Watcher {
    do {
      return try register([path.path] + others.map(\.path))
    } catch {
      preconditionFailure("\(error)", file: file, line: line)
    }
  }
}
