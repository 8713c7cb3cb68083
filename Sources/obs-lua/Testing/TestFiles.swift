internal import LibC

/// The files for a list of paths: the files themselves, and the files of folders.
///
/// All `.lua` files of a folder are tests. Subfolders may also hold modules, so only their files
/// with names of tests count.
struct TestFiles {
  private(set) var paths: [String] = []
  /// The subfolders of folders.
  private(set) var folders: [String] = []
  /// The paths that do not exist.
  private(set) var missing: [String] = []

  init(at paths: [String]) {
    var seen: Set<String> = []
    for path in paths {
      var status = stat()
      guard stat(path, &status) == 0 else {
        missing.append(path)
        continue
      }
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      let found = isFolder ? files(in: path.hasSuffix("/") ? path : path + "/") : [path]
      self.paths += found.filter { seen.insert($0).inserted }
    }
  }

  /// The files of a folder, whose path ends with a slash, before those of its subfolders.
  private mutating func files(in base: String, isInner: Bool = false) -> [String] {
    guard let folder = opendir(base) else { return [] }
    defer { closedir(folder) }
    var (found, inner): ([String], [String]) = ([], [])
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      var status = stat()
      // Links are not followed, as they may lead to an outer folder.
      if !name.hasPrefix("."), lstat(base + name, &status) == 0,
        status.st_mode & S_IFMT == S_IFDIR
      {
        inner.append(base + name + "/")
      } else if name.hasSuffix(".lua"), !isInner || Self.isTest(name) {
        found.append(base + name)
      }
    }
    folders += inner
    return inner.sorted().reduce(into: found.sorted()) { $0 += files(in: $1, isInner: true) }
  }

  private static func isTest(_ name: String) -> Bool {
    name.hasPrefix("test_") || name.hasSuffix("_test.lua") || name.hasSuffix("_spec.lua")
  }
}
