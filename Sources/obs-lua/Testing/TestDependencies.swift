/// Which files of Lua the files of tests have loaded, by which it is known what to run again.
struct TestDependencies {
  private var loaded: [String: Set<WatchedFile>] = [:]
  /// The files that have failed: any other file of Lua may be what was missing.
  private var failed: Set<String> = []

  /// Watches a file or a folder of tests.
  func watch(_ path: String, by watch: FileWatch) {
    // Where it is none, this is nothing: the folder of the file is watched then.
    watch.add(path + "/")
    watch.add(path)
  }

  /// Notes what files have loaded that have run.
  mutating func note(_ results: [TestResult], by watch: FileWatch) {
    for result in results {
      if result.hasFailed { failed.insert(result.path) } else { failed.remove(result.path) }
      loaded[result.path] = Set((result.loaded + [result.path]).compactMap(watch.add))
    }
  }

  /// Those of the files that have changed, have loaded what has changed, or are new.
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
