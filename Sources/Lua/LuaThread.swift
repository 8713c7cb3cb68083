/// A Lua coroutine, kept alive by this handle.
///
/// Use it where its state is used; it may be released anywhere. Two handles are equal if they refer
/// to the same coroutine.
public struct LuaThread: Sendable, Hashable {
  package let pin: LuaPin

  package init(pin: LuaPin) { self.pin = pin }
}
