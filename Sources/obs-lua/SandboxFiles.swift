internal import CCommandLine
internal import Lua
internal import LuaObservables

/// The Lua files of a sandbox, read before it runs any code and the process is locked.
struct SandboxFiles {
  /// The maximum size of a file in bytes: untrusted bytecode could crash Lua, and so could a chunk
  /// of several megabytes.
  private let limit: Int
  private var texts: [UnsafePointer<CChar>: ccl_text] = [:]

  /// Reads the files; nil if the command line asks for no sandbox.
  init?(_ arguments: Arguments) {
    guard arguments.options.isSandboxed, let limit = ScriptLimits.untrusted.chunkSize else {
      return nil
    }
    self.limit = limit
    for name in [arguments.environment()?.file, arguments.scriptName] {
      if let name { texts[name] = ccl_readtext(name, limit) }
    }
  }

  /// Pushes the chunk of a file or of the standard input, or an error; status as luaL_loadfile.
  /// [-0, +1, -]
  mutating func load(_ name: UnsafePointer<CChar>?, to L: LuaStack) -> CInt {
    let text = name.flatMap { texts.removeValue(forKey: $0) } ?? ccl_readtext(name, limit)
    return ccl_loadtext(L.pointer, name, text, limit)
  }
}
