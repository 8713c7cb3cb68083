/// A coroutine of Lua, kept alive by this handle.
///
/// To be used where its state is used; may be released anywhere. Two handles are equal if they mean
/// the same coroutine.
public struct LuaThread: Sendable, Hashable {
  package let pin: LuaPin

  package init(pin: LuaPin) { self.pin = pin }
}
