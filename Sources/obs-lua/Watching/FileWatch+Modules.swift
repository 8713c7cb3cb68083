internal import LibC
internal import LuaObservables

extension FileWatch {
  /// Watches a file and the files beside it, and returns the file's absolute path.
  @discardableResult
  func addWithFolder(_ path: String, stamp: String? = nil) -> String? {
    guard let file = add(path, stamp: stamp), let slash = file.lastIndex(of: "/") else {
      return nil
    }
    add("/" + file[..<slash])
    return file
  }

  /// Watches the folders among these paths.
  func addFolders(among paths: Set<String>) {
    for path in paths where Self.isFolder(path) { add(path) }
  }

  /// Whether a script may have failed because this file or folder was missing.
  static func mayBeModule(_ path: String) -> Bool { path.hasSuffix(".lua") || isFolder(path) }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
