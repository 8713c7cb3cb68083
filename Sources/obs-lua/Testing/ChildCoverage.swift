internal import CCommandLine
internal import LibC
internal import Lua
internal import LuaObservables

/// The lines of files that ran in this process.
struct ChildCoverage {
  /// For each file, by its path without links, how often each line ran that can run.
  private(set) var files: [String: [Int: Int]] = [:]

  init() {
    withUnsafeMutablePointer(to: &files) { files in
      ccl_readcounts(
        { context, path, hits, count in
          let path = String(cString: path!)
          guard let real = realpath(path, nil), let lines = ChildCoverage.lines(of: path) else {
            return
          }
          defer { free(real) }
          let counts = lines.map { ($0, $0 < count ? Int(hits![$0]) : 0) }
          let files = context!.assumingMemoryBound(to: [String: [Int: Int]].self)
          files.pointee[String(cString: real), default: [:]].merge(counts, uniquingKeysWith: +)
        }, files)
    }
  }

  /// The lines that can run; nil for a file that has changed, so that it no longer loads.
  private static func lines(of path: String) -> [Int]? {
    guard let state = try? LuaState(libraries: .all) else { return nil }
    return withExtendedLifetime(state) {
      try? state.loadProgramFile("coverage").callPlainly(path, as: [Int].self)
    }
  }
}
