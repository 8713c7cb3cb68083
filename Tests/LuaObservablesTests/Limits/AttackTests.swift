import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// S7: the attacks of `Tests/Attacks`, one after the other in one process and one host, each in its
/// own sandbox; other scripts continue undisturbed.
@Suite(.disabled(if: ContainedHost.delaysSignals))
struct AttackTests {
  /// The kinds of attacks that a limit ends; `Tests/Attacks/run` explains their files.
  private static let kinds = [
    "calls", "libraries", "collections", "observing", "properties", "transactions",
  ]

  /// The scripts of a kind, by name: each after the code with which all of them begin.
  private static func attacks(of kind: String) throws -> [(name: String, script: String)] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Attacks")
    let text = try String(contentsOf: folder.appending(path: kind + ".lua"), encoding: .utf8)
    let parts = text.split(separator: "\n--- ")
    return parts.dropFirst().map { part in
      let name = part.prefix { $0 != "\n" }
      return (String(name), "\(parts[0])\n\(part.dropFirst(name.count))")
    }
  }

  @Test func `a host contains all attacks, one after the other`() throws {
    let attacks = try Self.kinds.flatMap(Self.attacks)
    #expect(attacks.count > 90)
    let test = try ContainedHost { $0.turnTime = .milliseconds(30) }
    let neighbour = try test.host.sandbox(named: "neighbour")
    try neighbour.run(
      "obs = require 'obs' n, t = 0, { v = 0 } obs.observe(t, 'v', function() n = n + 1 end)")
    for (number, attack) in attacks.enumerated() {
      let sandbox = try test.host.sandbox(named: attack.name)
      let error = #expect(throws: LuaError.self) { try sandbox.run(attack.script) }
      // Some functions are only for the host's own scripts.
      let isRefused = error?.message.contains("belongs to the host") == true
      #expect(
        error?.code == .timeLimit || error?.code == .memory || isRefused,
        "\(attack.name): \(String(describing: error))")
      sandbox.close()
      while test.loop.step() {}
      try test.host.state.collectGarbage()
      try neighbour.run("t.v = t.v + 1")
      #expect(neighbour["n"] == .integer(Int64(number) + 1))
    }
    #expect(test.host.state.memoryInUse < 10 << 20)
  }
}
