internal import LibC

/// How often the lines of the tested files ran, over all processes.
///
/// These are the Lua files below the current folder and below the folders of the tests. The tests
/// themselves count only if they loaded no other file.
struct Coverage {
  private let tests: Set<String>
  private let current: String
  private var files: [String: [Int: Int]] = [:]

  /// Adds up the results of tests, which are in the folders at `operands`.
  init(of results: [TestResult], in operands: [String]) {
    tests = Set(results.map { Self.real($0.path) })
    current = Self.real(".") + "/"
    let folders = tests.map { $0[...($0.lastIndex(of: "/") ?? $0.startIndex)] }.map(String.init)
    let roots = [current] + operands.map { Self.real($0) + "/" } + folders
    for (path, counts) in results.flatMap(\.covered)
    where roots.contains(where: path.hasPrefix) {
      files[path, default: [:]].merge(counts, uniquingKeysWith: +)
    }
  }

  /// The files to show, sorted by the paths to show.
  private var shown: [(path: String, counts: [(line: Int, count: Int)])] {
    let others = files.filter { !tests.contains($0.key) }
    return (others.isEmpty ? files : others).map { path, counts in
      let name = path.hasPrefix(current) ? String(path.dropFirst(current.count)) : path
      return (name, counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }.sorted { $0.path < $1.path }
  }

  /// A line for each file, and one for all.
  var summary: String {
    let totals = shown.map { file in
      (name: file.path, hits: file.counts.count { $0.count > 0 }, lines: file.counts.count)
    }
    let all = (
      name: "all files", hits: totals.map(\.hits).reduce(0, +),
      lines: totals.map(\.lines).reduce(0, +)
    )
    return (totals + [all]).map { name, hits, lines in
      let tenths = lines == 0 ? 1000 : hits * 1000 / lines
      return "covered \(tenths / 10).\(tenths % 10) %, \(hits) of \(lines) lines: \(name)\n"
    }.joined()
  }

  /// The counts in the format of LCOV.
  var lcov: String {
    shown.map { path, counts in
      let lines = counts.map { "DA:\($0.line),\($0.count)\n" }.joined()
      let hits = counts.count { $0.count > 0 }
      return "TN:\nSF:\(path)\n\(lines)LF:\(counts.count)\nLH:\(hits)\nend_of_record\n"
    }.joined()
  }

  private static func real(_ path: String) -> String {
    guard let found = realpath(path, nil) else { return path }
    defer { free(found) }
    return String(cString: found)
  }
}
