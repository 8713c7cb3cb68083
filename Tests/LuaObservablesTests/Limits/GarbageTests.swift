import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// S3: garbage that the engine makes for scripts is collected in time, and at a limit garbage is
/// collected before memory is refused.
struct GarbageTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Scripts/Limited")

  /// Returns the error of a script with a memory limit, or nil.
  private func failure(_ memory: Int, _ script: String) throws -> String? {
    var limits = ScriptLimits()
    limits.memory = memory
    let test = try TestHost { loop in try LuaHost(loop: loop, limits: limits) }
    do {
      try test.host.run("obs = require 'obs' nop = function() end")
      try test.host.run(script)
    } catch { return "\(error)" }
    test.loop.run()
    return test.reports.first.map { "\($0)" }
  }

  /// The same for a script in the folder, with arguments.
  private func failure(_ memory: Int, of name: String, _ arguments: Int...) throws -> String? {
    let script = Self.folder.appending(path: name).path
    let list = arguments.map { "'\($0)'" }.joined(separator: ", ")
    return try failure(memory, "arg = { [0] = '\(script)', \(list) } dofile(arg[0])")
  }

  @Test func `every function of the module can be called in endless turns`() throws {
    let turns = ProcessInfo.processInfo.environment["OBS_LIGHT"] == nil ? 400 : 40
    #expect(try failure(6 << 20, of: "EveryFunction.lua", turns, 20) == nil)
  }

  /// X3, X4: all or nothing.
  @Test func `apply and merge change all or nothing if memory runs out`() throws {
    #expect(try failure(4 << 20, of: "Writes.lua") == nil)
  }

  /// S3, S7: an operation that fails for want of memory leaves nothing open, hanging or wrong.
  @Test func `scopes, tasks and operators still work after memory has run out`() throws {
    #expect(try failure(4 << 20, of: "Waiting.lua") == nil)
  }

  @Test(arguments: [
    "obs.observe({ a = 1 }, 'a', nop)",
    "obs.after(1, nop):stop()",
    "obs.observe({ a = 1 }, 'a', nop):stop()",
    "local t = { a = 1 } obs.computed(t, 'b', { 'a' }, function(self) return self.a end) n = t.b",
    "n = obs.model('M', { c = obs.computed({ 'a' }, nop), a = obs.none }) {}.c",
    "obs.task(nop)",
    "obs.path('a', {})",
  ])
  func `garbage of one turn does not count against the limit`(statement: String) throws {
    let error = try failure(2 << 20, "for _ = 1, 5000 do \(statement) end")
    #expect(error == nil)
  }
}
