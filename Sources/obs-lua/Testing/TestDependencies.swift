/// The Lua files loaded by each test file, which determine what to run again.
struct TestDependencies {
  private var loaded: [String: Set<WatchedFile>] = [:]
  /// The files that have failed: any other Lua file may be the missing one.
  private var failed: Set<String> = []

  /// Watches a file or a folder of tests.
  func watch(_ path: String, by watch: FileWatch) {
    // For a file this has no effect, and its folder is watched below.
    watch.add(path + "/")
    watch.add(path)
  }

  /// Records the files that the finished tests have loaded.
  mutating func note(_ results: [TestResult], by watch: FileWatch) {
    for result in results {
      if result.hasFailed { failed.insert(result.path) } else { failed.remove(result.path) }
      loaded[result.path] = Set((result.loaded + [result.path]).compactMap(watch.add))
    }
  }

  /// The files that have changed, have loaded changed files, or are new.
  func files(
    among paths: [String], after changes: Set<WatchedFile>, by watch: FileWatch
  ) -> [String] {
    let others = changes.subtracting(paths.compactMap(watch.add))
    let isMissing = others.contains(where: \.mayBeModule)
    watch.addFolders(of: changes)
    return paths.filter { path in
      guard let files = loaded[path], !(isMissing && failed.contains(path)) else { return true }
      return !files.isDisjoint(with: changes)
    }
  }
}
