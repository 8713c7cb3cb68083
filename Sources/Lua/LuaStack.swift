/// The stack of a Lua thread that runs: what is read and pushed there belongs to what runs in it.
@frozen @usableFromInline package struct LuaStack {
  /// The thread, as functions of C know it.
  @usableFromInline package let pointer: OpaquePointer

  @inlinable @inline(__always) package init(_ pointer: OpaquePointer) { self.pointer = pointer }
}
