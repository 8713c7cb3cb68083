import Glibc
import Lua
import LuaObservables
import Observables

/// A host for scripts that nobody trusts, in virtual time.
final class ContainedHost {
  let loop: Loop
  let host: LuaHost
  private(set) var reports: [LuaReport] = []

  /// Whether signals reach a busy thread only at its next system call: under the thread sanitizer,
  /// which makes it impossible to stop an endless loop.
  static let delaysSignals = dlsym(nil, "__tsan_init") != nil

  /// The time of a turn in milliseconds, enough for what is to end by itself on a busy machine.
  ///
  /// All takes many times as long under the address sanitizer.
  static let turnTime = dlsym(nil, "__asan_init") == nil ? 100 : 400
  /// What a script that takes longer ends with.
  static let overtime = "the turn has taken more time than it may (\(turnTime) ms)"

  init(_ change: (inout ScriptLimits) -> Void = { _ in }) throws {
    loop = Loop(clock: .virtual)
    var limits = ScriptLimits.untrusted
    limits.turnTime = .milliseconds(Self.turnTime)
    change(&limits)
    host = try LuaHost(loop: loop, libraries: .safe, limits: limits)
    host.onError = { [unowned self] in reports.append($0) }
  }

  /// The error with which a script ends; nil where it doesn't.
  func failure(_ script: String) -> LuaError? {
    do throws(LuaError) {
      try host.run(script)
      return nil
    } catch { return error }
  }

  /// Two sandboxes, each of which has run a script, if there is one.
  func sandboxes(running script: String? = nil) throws -> (a: LuaSandbox, b: LuaSandbox) {
    let (a, b) = (try host.sandbox(named: "a"), try host.sandbox(named: "b"))
    if let script { for sandbox in [a, b] { try sandbox.run(script) } }
    return (a, b)
  }

  /// The codes of the reports so far.
  var codes: [LuaError.Code] { reports.map(\.error.code) }
}
