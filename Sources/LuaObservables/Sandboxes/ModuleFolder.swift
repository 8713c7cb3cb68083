internal import LibC
internal import Lua

/// A folder in which scripts find modules: `a.b` is the file `a/b.lua` in it; files outside are not
/// found.
struct ModuleFolder {
  private let folder: String
  /// The path of the folder with links resolved, and a slash at its end.
  private let root: String

  /// The limits for reading all modules at once.
  private static let limits = (modules: 10_000, bytes: 64 << 20)

  /// - Throws: `file` if the folder does not exist.
  init(_ folder: String) throws(LuaError) {
    guard let root = Self.resolved(folder) else {
      throw LuaError(.file, "the folder of modules cannot be opened: \(folder)")
    }
    self.folder = folder
    self.root = root.hasSuffix("/") ? root : root + "/"
  }

  /// The path of a module's file; nil if the module does not exist.
  func path(of name: String) -> String? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.allSatisfy(Self.isPlain) else { return nil }
    return inside("/" + parts.joined(separator: "/") + ".lua")
  }

  private static func isPlain(_ part: Substring) -> Bool {
    !part.isEmpty
      && part.utf8.allSatisfy {
        $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
          || ($0 | 32) >= UInt8(ascii: "a")
            && ($0 | 32) <= UInt8(ascii: "z")
          || $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")
      }
  }

  /// The resolved path of a file in the folder; nil if a link leads outside.
  private func inside(_ path: String) -> String? {
    guard let path = Self.resolved(folder + path), path.hasPrefix(root) else { return nil }
    return path
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  // MARK: All modules

  /// All modules by name; unreadable files stay files.
  ///
  /// - Throws: `file` if there is more than may be read at once.
  func readAll() throws(LuaError) -> [String: ScriptModule] {
    var found = Found()
    try read("", within: [root], into: &found)
    return found.modules
  }

  private struct Found {
    var modules: [String: ScriptModule] = [:]
    var bytes = 0
  }

  /// Reads the subfolder at a path; `outer` has the folders on the way, as a link may lead back to
  /// one.
  private func read(
    _ path: String, within outer: [String], into found: inout Found
  ) throws(LuaError) {
    guard let stream = opendir(folder + path) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(".lua"), Self.isPlain(name.dropLast(4)) {
        try readFile(path + "/" + name, into: &found)
      } else if Self.isPlain(name[...]), Int(entry.pointee.d_type) != DT_REG,
        let inner = inside(path + "/" + name), !outer.contains(inner)
      {
        try read(path + "/" + name, within: outer + [inner], into: &found)
      }
    }
  }

  private func readFile(_ path: String, into found: inout Found) throws(LuaError) {
    guard let file = inside(path) else { return }
    let name = String(path.dropFirst().dropLast(4).map { $0 == "/" ? "." : $0 })
    let bytes = Self.bytes(of: file, upTo: Self.limits.bytes - found.bytes)
    found.bytes += bytes?.count ?? 0
    found.modules[name] = bytes.map { .contents($0, path: file) } ?? .file(file)
    guard found.bytes < Self.limits.bytes, found.modules.count <= Self.limits.modules else {
      throw LuaError(
        .file,
        "the folder of modules has more than \(Self.limits.modules) modules, or 64 MB: \(folder)")
    }
  }

  /// The contents of a file, up to `limit` bytes; nil if it cannot be read, or is no regular file.
  private static func bytes(of path: String, upTo limit: Int) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < limit {
      let count = LibC.read(descriptor, &piece, min(piece.count, limit - bytes.count))
      guard count > 0 else { return count == 0 ? bytes : nil }
      bytes += piece[..<count]
    }
    return bytes
  }
}
