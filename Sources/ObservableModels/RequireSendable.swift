/// For the code that `@ObservableModel(.threadSafe)` writes: what several threads hand to each
/// other is `Sendable`, or the compiler says so.
@_documentation(visibility: internal)
@inlinable @inline(__always)
public func requireSendable<Value: Sendable & ~Copyable>(_ value: borrowing Value) {}
