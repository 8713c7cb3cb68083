internal import Glibc
public import Lua

/// What `require` finds for a name.
public enum ScriptModule: Sendable {
  /// A chunk of text, which gets the module's name as `...` and returns the module; `name` is what
  /// error messages call it.
  case text(String, name: String? = nil)
  /// A file with such a chunk.
  case file(String)
  /// The module itself.
  case value(LuaValue)

  /// The module of that name in a folder; nil where there is none.
  static func inFolder(_ folder: String, named name: String) throws(LuaError) -> ScriptModule? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    let isPlain = parts.allSatisfy { part in
      !part.isEmpty
        && part.utf8.allSatisfy {
          $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            || ($0 | 32) >= UInt8(ascii: "a")
              && ($0 | 32) <= UInt8(ascii: "z")
            || $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")
        }
    }
    guard isPlain else { return nil }
    guard let root = resolved(folder) else {
      throw LuaError(.file, "the folder of modules cannot be opened: \(folder)")
    }
    // A link may lead out of the folder.
    guard let path = resolved(folder + "/" + parts.joined(separator: "/") + ".lua"),
      path.hasPrefix(root.hasSuffix("/") ? root : root + "/")
    else { return nil }
    return .file(path)
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
