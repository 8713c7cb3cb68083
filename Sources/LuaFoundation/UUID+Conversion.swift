public import Foundation
public import Lua

/// A UUID becomes its text.
extension UUID: LuaEncodable, LuaDecodable {
  /// The text, with capital letters.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    .string(LuaString(uuidString))
  }

  /// Makes a UUID from its text, with letters of either case.
  public init(luaValue: LuaValue) throws(LuaError) {
    let text = try String(luaValue: luaValue)
    guard let value = UUID(uuidString: text) else {
      throw LuaError("text of a UUID expected, got '\(text)'")
    }
    self = value
  }
}
