public import Lua

/// A module that `require` can load.
public enum ScriptModule: Sendable {
  /// A chunk of text, which gets the module's name as `...` and returns the module; error messages
  /// call it `name`.
  case text(String, name: String? = nil)
  /// The bytes of such a chunk, from the file at `path`, which errors name.
  case contents([UInt8], path: String)
  /// A file with such a chunk.
  case file(String)
  /// The module itself.
  case value(LuaValue)

  /// Returns the named module in a folder, or nil.
  static func inFolder(_ folder: String, named name: String) throws(LuaError) -> ScriptModule? {
    try ModuleFolder(folder).path(of: name).map { .file($0) }
  }
}
