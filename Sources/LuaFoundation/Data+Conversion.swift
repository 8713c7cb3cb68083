public import Foundation
public import Lua

/// Data becomes a string of its bytes.
extension Data: LuaEncodable, LuaDecodable {
  /// The bytes.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    .string(LuaString(bytes: Array(self)))
  }

  /// The bytes of a string.
  public init(luaValue: LuaValue) throws(LuaError) {
    self.init(try LuaString(luaValue: luaValue).bytes)
  }
}
