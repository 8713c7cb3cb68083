import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// S7: all scripts of `Tests/Attacks`, one after the other in one process and one host, each in its
/// own sandbox; other scripts go on undisturbed.
@Suite(.disabled(if: ContainedHost.delaysSignals))
struct AttackTests {
  @Test func `a host contains all attacks, one after the other`() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Attacks")
    let scripts = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    ).filter { $0.pathExtension == "lua" }.sorted { $0.path < $1.path }
    let test = try ContainedHost { $0.turnTime = .milliseconds(30) }
    let neighbour = try test.host.sandbox(named: "neighbour")
    try neighbour.run(
      "obs = require 'obs' n, t = 0, { v = 0 } obs.observe(t, 'v', function() n = n + 1 end)")
    for (number, script) in scripts.enumerated() {
      let sandbox = try test.host.sandbox(named: script.lastPathComponent)
      let error = #expect(throws: LuaError.self) { try sandbox.run(file: script.path) }
      // Some functions are only for the host's own scripts.
      let isRefused = error?.message.contains("belongs to the host") == true
      #expect(
        error?.code == .timeLimit || error?.code == .memory || isRefused,
        "\(script.lastPathComponent): \(String(describing: error))")
      sandbox.close()
      while test.loop.step() {}
      try test.host.state.collectGarbage()
      try neighbour.run("t.v = t.v + 1")
      #expect(neighbour["n"] == .integer(Int64(number) + 1))
    }
    #expect(test.host.state.memoryInUse < 10 << 20)
  }
}
