// Overloads that only tell a program how to write the call: without them, the compiler says that
// nothing matches, or gives up.

@_documentation(visibility: internal)
@available(
  *, unavailable,
  message: "a Swift key path does not tell a name: write '#path(\\.name)', or \"name\""
)
extension KeyPathObservable {
  /// Tells a program how to name a property.
  @discardableResult
  public func observe<Value>(
    _ path: KeyPath<Self, Value>, _ others: PartialKeyPath<Self>..., in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), _ callback: @escaping (Self) async throws -> Void
  ) throws -> Watcher { fatalError() }

  /// Tells a program how to name a property.
  @discardableResult
  public func observeImmediately<Value>(
    _ path: KeyPath<Self, Value>, _ others: PartialKeyPath<Self>..., in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(),
    _ callback: @escaping (Self, ModelChange) throws -> Void
  ) throws -> Watcher { fatalError() }

  /// Tells a program how to name a property.
  public func values<Value>(
    _ path: KeyPath<Self, Value>, in loop: Loop? = nil
  ) throws -> AsyncStream<Value> { fatalError() }
}

@_documentation(visibility: internal)
@available(
  *, unavailable, message: "only a literal is a path: for another text write 'try Path(text)'"
)
extension KeyPathObservable {
  /// Tells a program how to use a text that it has made.
  @discardableResult
  public func observe(
    _ path: String, _ others: String..., in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(), _ callback: @escaping (Self) async throws -> Void
  ) throws -> Watcher { fatalError() }

  /// Tells a program how to use a text that it has made.
  @discardableResult
  public func observeImmediately(
    _ path: String, _ others: String..., in loop: Loop? = nil,
    options: WatcherOptions = WatcherOptions(),
    _ callback: @escaping (Self, ModelChange) throws -> Void
  ) throws -> Watcher { fatalError() }

  /// Tells a program how to use a text that it has made.
  public func values<Value>(
    _ path: String, as type: Value.Type = Value.self, in loop: Loop? = nil
  ) throws -> AsyncStream<Value> { fatalError() }
}

@_documentation(visibility: internal)
@available(
  *, unavailable,
  message: "a text does not tell the compiler a type: add it, as in 'as: Int.self'"
)
extension KeyPathObservable {
  /// Tells a program to name the type of the values.
  public func values(_ path: Path, in loop: Loop? = nil) throws -> AsyncStream<any Sendable> {
    fatalError()
  }

  /// Tells a program to name the type of the values.
  public func values(_ path: Path, on inbox: Inbox) -> AsyncStream<any Sendable>
  where Self: Sendable { fatalError() }
}
