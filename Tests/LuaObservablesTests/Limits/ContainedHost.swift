import LibC
import Lua
import LuaObservables
import Observables

/// A host for untrusted scripts, in virtual time.
final class ContainedHost {
  let loop: Loop
  let host: LuaHost
  private(set) var reports: [LuaReport] = []

  /// Whether a busy thread receives signals only at its next system call.
  ///
  /// The thread sanitizer does that, so endless loops cannot be stopped.
  static let delaysSignals = dlsym(nil, "__tsan_init") != nil

  /// The time of a turn in milliseconds, long enough for terminating scripts on a busy machine.
  ///
  /// The address sanitizer makes everything many times slower.
  static let turnTime = dlsym(nil, "__asan_init") == nil ? 100 : 400
  /// The error of a script that exceeds the time.
  static let overtime = "the turn took longer than its limit (\(turnTime) ms)"

  init(_ change: (inout ScriptLimits) -> Void = { _ in }) throws {
    loop = Loop(clock: .virtual)
    var limits = ScriptLimits.untrusted
    limits.turnTime = .milliseconds(Self.turnTime)
    change(&limits)
    host = try LuaHost(loop: loop, libraries: .safe, limits: limits)
    host.onError = { [unowned self] in reports.append($0) }
  }

  /// The error of a script, or nil if it succeeds.
  func failure(_ script: String) -> LuaError? {
    do throws(LuaError) {
      try host.run(script)
      return nil
    } catch { return error }
  }

  /// Two sandboxes that have both run `script`, if there is one.
  func sandboxes(running script: String? = nil) throws -> (a: LuaSandbox, b: LuaSandbox) {
    let (a, b) = (try host.sandbox(named: "a"), try host.sandbox(named: "b"))
    if let script { for sandbox in [a, b] { try sandbox.run(script) } }
    return (a, b)
  }

  /// The codes of the reports so far.
  var codes: [LuaError.Code] { reports.map(\.error.code) }
}
