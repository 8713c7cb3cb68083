internal import FixtureChecks
public import LuaObservables
public import Testing

extension ScriptFixture {
  /// Runs the script in a new host, and the loop until nothing remains to do, in virtual time.
  ///
  /// `prepare` adds objects for the script, such as models, before the script runs. Everything
  /// happens on the calling thread before this returns; then the host is closed. The script can use
  /// the functions `expect`, `expect_equal`, `expect_error`, `log`, `expect_log`, `case`,
  /// `advance`, and those of busted, such as `describe`. The following are recorded as issues of
  /// the current test, at the line of the script: each check that fails, an error that ends the
  /// script, each error with which `host.onError` is called, a script that checked
  /// nothing, and timers that remain `timeLimit` seconds of virtual time after the script's end.
  /// Errors of `prepare` are recorded at the line of this call.
  ///
  /// - Complexity: the script's.
  public func run(
    timeLimit: Double = 3600, sourceLocation: SourceLocation = #_sourceLocation,
    prepare: (LuaHost) throws -> Void = { _ in }
  ) {
    for issue in issues(timeLimit: timeLimit, sourceLocation: sourceLocation, prepare: prepare) {
      issue.record()
    }
  }

  /// Runs the script like `run`, and returns the issues to record.
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
