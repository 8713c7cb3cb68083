internal import Glibc

/// The files for a list of paths: the files themselves, and the `.lua` files of folders.
struct TestFiles {
  private(set) var paths: [String] = []
  /// The paths that do not exist.
  private(set) var missing: [String] = []

  init(at paths: [String]) {
    var seen: Set<String> = []
    for path in paths {
      guard let found = Self.files(at: path) else {
        missing.append(path)
        continue
      }
      self.paths += found.filter { seen.insert($0).inserted }
    }
  }

  private static func files(at path: String) -> [String]? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    guard status.st_mode & S_IFMT == S_IFDIR else { return [path] }
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(".lua") { names.append(name) }
    }
    let base = path.hasSuffix("/") ? path : path + "/"
    return names.sorted().map { base + $0 }
  }
}
