/// Which files of Lua the files of tests have loaded, by which it is known what to run again.
struct TestDependencies {
  private var loaded: [String: Set<WatchedFile>] = [:]

  /// Watches a file or a folder of tests.
  func watch(_ path: String, by watch: FileWatch) {
    // Where it is none, this is nothing: the folder of the file is watched then.
    watch.add(path + "/")
    watch.add(path)
  }

  /// Notes what files have loaded that have run.
  mutating func note(_ results: [TestResult], by watch: FileWatch) {
    for result in results {
      loaded[result.path] = Set((result.loaded + [result.path]).compactMap(watch.add))
    }
  }

  /// Those of the files that have changed, have loaded what has changed, or are new.
  func files(among paths: [String], after changes: Set<WatchedFile>) -> [String] {
    paths.filter { path in
      guard let files = loaded[path] else { return true }
      return !files.isDisjoint(with: changes)
    }
  }
}
