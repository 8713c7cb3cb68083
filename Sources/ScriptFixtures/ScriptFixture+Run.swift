internal import FixtureChecks
public import LuaObservables
public import Testing

extension ScriptFixture {
  /// Runs the script in a fresh host, and the loop until nothing is left to do, in virtual time.
  ///
  /// `prepare` gives scripts what they need, such as models, before the script runs. Everything
  /// happens on the thread that calls this, before it returns; then the host is closed. The script
  /// finds the functions `expect`, `expect_equal`, `expect_error`, `log`, `expect_log`, `case` and
  /// `advance`. The following are recorded as issues of the current test, at the line of the
  /// script: each check that fails, an error that ends the script, each error with which
  /// `host.onError` is called, and a script that checked nothing. Where `timeLimit` seconds of
  /// virtual time after the script's end there are still timers, that is one, too. What `prepare`
  /// throws is recorded where this is called.
  ///
  /// - Complexity: that of the script.
  public func run(
    timeLimit: Double = 3600, sourceLocation: SourceLocation = #_sourceLocation,
    prepare: (LuaHost) throws -> Void = { _ in }
  ) {
    for issue in issues(timeLimit: timeLimit, sourceLocation: sourceLocation, prepare: prepare) {
      issue.record()
    }
  }

  /// Runs the script as `run` does, and returns what that records.
  package func issues(
    timeLimit: Double = 3600, sourceLocation: SourceLocation = #_sourceLocation,
    prepare: (LuaHost) throws -> Void = { _ in }
  ) -> [FixtureIssue] {
    if let problem { return [FixtureIssue(problem, at: sourceLocation)] }
    do {
      let run = try FixtureRun(path)
      defer { run.close() }
      try prepare(run.host)
      run.perform(timeLimit: timeLimit)
      return run.failures.map { FixtureIssue($0) }
    } catch {
      return [FixtureIssue("\(path) was not run", error: error, at: sourceLocation)]
    }
  }
}
