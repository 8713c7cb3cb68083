internal import Foundation
public import LuaObservables
public import Testing

extension ScriptFixture {
  /// Runs the script in a fresh host, and the loop until nothing is left to do, in virtual time.
  ///
  /// `prepare` gives scripts what they need, such as models, before the script runs. Everything happens on
  /// the thread that calls this, before it returns; then the host is closed. The script finds the functions
  /// `expect`, `expect_equal`, `expect_error`, `log`, `expect_log`, `case` and `advance`. Recorded as issues
  /// of the current test, at the line of the script: each check that fails, an error that ends the script,
  /// each error that `host.onError` is told of, and a script that checked nothing. Where `timeLimit` seconds
  /// of virtual time after the script's end there are still timers, that is one, too. What `prepare` throws
  /// is recorded where this is called.
  ///
  /// - Complexity: that of the script.
  public func run(
    timeLimit: Double = 3600, sourceLocation: SourceLocation = #_sourceLocation,
    prepare: (LuaHost) throws -> Void = { _ in }
  ) {
    if let problem {
      Issue.record(Comment(rawValue: problem), sourceLocation: sourceLocation)
      return
    }
    do {
      let run = try FixtureRun(path)
      defer { run.close() }
      try prepare(run.host)
      run.perform(timeLimit: timeLimit)
      for failure in run.failures {
        Issue.record(Comment(rawValue: failure.text), sourceLocation: location(of: failure))
      }
    } catch {
      Issue.record(error, "\(path) was not run", sourceLocation: sourceLocation)
    }
  }

  private func location(of failure: FixtureFailure) -> SourceLocation {
    let current = FileManager.default.currentDirectoryPath
    let path = failure.file.hasPrefix("/") ? failure.file : "\(current)/\(failure.file)"
    // The part before the last slash is never shown, but has to be there.
    let parts = path.split(separator: "/").suffix(2)
    return SourceLocation(
      fileID: parts.joined(separator: "/"), filePath: path, line: max(1, failure.line), column: 1)
  }
}
