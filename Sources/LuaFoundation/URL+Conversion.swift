public import Foundation
public import Lua

/// A URL becomes its text.
extension URL: LuaEncodable, LuaDecodable {
  /// The text, including the base URL.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    .string(LuaString(absoluteString))
  }

  /// Makes a URL from its text.
  public init(luaValue: LuaValue) throws(LuaError) {
    let text = try String(luaValue: luaValue)
    guard let url = URL(string: text, encodingInvalidCharacters: false) else {
      throw LuaError("text of a URL expected, got '\(text)'")
    }
    self = url
  }
}
