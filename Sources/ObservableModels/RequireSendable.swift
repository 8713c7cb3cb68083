/// Makes the compiler report a value that is not `Sendable`; called by the code that
/// `@ObservableModel(.threadSafe)` writes for values that several threads use.
@_documentation(visibility: internal)
@inlinable @inline(__always)
public func requireSendable<Value: Sendable & ~Copyable>(_ value: borrowing Value) {}
