internal import LuaObservables

/// The Lua files loaded by each test file, which determine what to run again.
struct TestDependencies {
  private var loaded: [String: Set<String>] = [:]
  /// The files that have failed: any other Lua file may be the missing one.
  private var failed: Set<String> = []

  /// Records the files that the finished tests have loaded.
  mutating func note(_ results: [TestResult], by watch: FileWatch) {
    for result in results {
      if result.hasFailed { failed.insert(result.path) } else { failed.remove(result.path) }
      let files = result.loaded.compactMap { watch.addWithFolder($0, stamp: $1) }
      loaded[result.path] = Set(files + [watch.addWithFolder(result.path)].compactMap { $0 })
    }
  }

  /// The files that have changed, have loaded changed files, or are new.
  func files(among paths: [String], after changes: Set<String>, by watch: FileWatch) -> [String] {
    let others = changes.subtracting(paths.map(FileWatch.absolute))
    let isMissing = others.contains(where: FileWatch.mayBeModule)
    watch.addFolders(among: changes)
    return paths.filter { path in
      guard let files = loaded[path], !(isMissing && failed.contains(path)) else { return true }
      return !files.isDisjoint(with: changes)
    }
  }
}
