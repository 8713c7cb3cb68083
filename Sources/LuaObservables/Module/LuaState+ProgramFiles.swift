internal import CLua
internal import CScripts
package import Lua

extension LuaState {
  /// Pushes the function of a file in Lua that is part of the program. [-0, +1, -]
  ///
  /// `name` is that of the file, without `.lua`.
  func pushProgramFile(_ name: String, to L: LuaStack) throws(LuaError) {
    try check(cscripts_try_load(L.pointer, name), L)
  }

  /// Returns the function of a file in Lua that is part of the program.
  package func loadProgramFile(_ name: String) throws(LuaError) -> LuaFunction {
    try withStack { L throws(LuaError) in
      try pushProgramFile(name, to: L)
      return LuaFunction(pin: try pin(at: -1, of: L))
    }
  }
}
