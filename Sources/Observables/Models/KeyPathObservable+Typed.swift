/// Watchers of paths that the compiler has checked.
///
/// They are those of paths as text, but for errors: a name that a model does not have, a digit
/// where no object is, and an object that the loop of another thread observes are mistakes of the
/// caller, and trap with the sentence of the error. What a callback throws is reported to
/// ``Loop/onError``, as a ``WatcherError`` (T10).
extension KeyPathObservable {
  /// Calls `callback` at the end of each turn in which an element of one of the paths changed.
  ///
  /// ```swift
  /// user.observe(#path(\.name), #path(\.address?.zip)) { user in print(user.name) }
  /// ```
  ///
  /// All else is as for paths as text, except that an error in a path traps.
  ///
  /// - Precondition: a loop is given, or exactly one is meant; the object has the paths (P9).
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

  /// Starts a task at the end of each turn in which an element of one of the paths changed, and
  /// never two at once.
  ///
  /// All else is as for paths as text, except that an error in a path traps.
  ///
  /// - Precondition: a loop is given, or exactly one is meant; the object has the paths (P9).
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
  /// stored (T9), with this object and the change.
  ///
  /// All else is as for paths as text, except that an error in a path traps.
  ///
  /// - Precondition: a loop is given, or exactly one is meant; the object has the paths (P9).
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

  /// As ``breakOnChange(_:in:file:line:)-(Path,_,_,_)``, for a path that the compiler has checked.
  ///
  /// - Precondition: there is a loop on this thread, and the object has the path (P9).
  @discardableResult
  public func breakOnChange(
    _ path: PartialKeyPathTo<Self>, in loop: Loop? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Watcher {
    checked(path, [], file, line) { try breakOnChange($0[0], in: loop, file: file, line: line) }
  }

  /// Ends the watchers of this object on one path, or those of an observer (L5).
  ///
  /// Does nothing when no watcher matches.
  ///
  /// - Returns: how many (watcher, path) pairs were ended.
  /// - Complexity: O(watchers of this object).
  @discardableResult
  public func stopObserving(_ path: PartialKeyPathTo<Self>, observer: AnyObject? = nil) -> Int {
    stopObserving(path.path, observer: observer)
  }

  /// Ends each of several paths of the watchers of this object, or of those of an observer (L5).
  ///
  /// Does nothing when no watcher matches, or there are no paths.
  ///
  /// - Returns: how many (watcher, path) pairs were ended.
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
