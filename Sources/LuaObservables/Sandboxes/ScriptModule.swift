public import Lua

/// What `require` finds for a name.
public enum ScriptModule: Sendable {
  /// A chunk of text, which gets the module's name as `...` and returns the module; `name` is what
  /// error messages call it.
  case text(String, name: String? = nil)
  /// The same in bytes, as they are in the file at `path`, which errors name.
  case contents([UInt8], path: String)
  /// A file with such a chunk.
  case file(String)
  /// The module itself.
  case value(LuaValue)

  /// The module of that name in a folder; nil where there is none.
  static func inFolder(_ folder: String, named name: String) throws(LuaError) -> ScriptModule? {
    try ModuleFolder(folder).path(of: name).map { .file($0) }
  }
}
