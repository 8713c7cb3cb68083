public import Foundation
public import Lua

/// A date becomes the number of seconds since 1970 in UTC, as in `os.time`.
extension Date: LuaEncodable, LuaDecodable {
  /// The seconds since 1970, a float.
  public func luaValue(in state: LuaState) throws(LuaError) -> LuaValue {
    .number(timeIntervalSince1970)
  }

  /// The date this many seconds after 1970.
  public init(luaValue: LuaValue) throws(LuaError) {
    let seconds = try Double(luaValue: luaValue)
    guard seconds.isFinite else {
      throw LuaError("finite number of seconds expected, got \(seconds)")
    }
    self.init(timeIntervalSince1970: seconds)
  }
}
