import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// S5: one sandbox tries all functions of `obs` against another one.
///
/// The victim still works completely, and is neither stopped nor closed.
@Suite(.disabled(if: ContainedHost.delaysSignals))
struct SandboxAttackTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Scripts/Sandboxes").path

  /// `OBS_ATTACK=name` runs only the attacks with this text in their names.
  private static let wanted = ProcessInfo.processInfo.environment["OBS_ATTACK"] ?? ""

  /// The turn time of the attacker in milliseconds.
  ///
  /// Many attacks use it up, some repeatedly.
  private static let turnTime = ContainedHost.turnTime / 5

  /// Two sandboxes of one host, and their shared objects.
  private final class Neighbours {
    let test: ContainedHost
    let victim: LuaSandbox
    let attacker: LuaSandbox
    private(set) var reports: [LuaReport] = []

    init(_ policy: ScriptLimits.StopPolicy) throws {
      test = try ContainedHost()
      try test.host.set("document", to: Paper())
      try test.host.run(
        """
        obs = require 'obs'
        shared = { v = 1, w = 1, z = 1, list = obs.array { 1, 2 }, sub = { y = 1 } }
        given = obs.observe(shared, 'w', function() end, { name = 'secret' })
        """)
      var limits = ScriptLimits.untrusted
      limits.whenStopped = policy
      test.host.modules(inFolder: SandboxAttackTests.folder)
      // A turn of the victim ends only for an endless attack at its expense, not for a busy
      // machine.
      limits.turnTime = .seconds(10)
      victim = try test.host.sandbox(named: "victim", limits: limits)
      limits.turnTime = .milliseconds(SandboxAttackTests.turnTime)
      attacker = try Self.attacker(in: test.host, limits)
      // The victim's own handler checks the errors that it handles.
      victim.onError = { [unowned self] in if !$0.isHandled { reports.append($0) } }
      attacker.onError = { _ in }
      try victim.run(file: SandboxAttackTests.folder + "/victim.lua")
    }

    /// A sandbox that has loaded the attacks.
    private static func attacker(in host: LuaHost, _ limits: ScriptLimits) throws -> LuaSandbox {
      var attempts = 0
      while true {
        attempts += 1
        let attacker = try host.sandbox(named: "attacker", limits: limits)
        do throws(LuaError) {
          try attacker.run("attacks = require 'attacks'")
          return attacker
        } catch {
          // With a sanitizer, loading may take longer than a turn.
          guard error.code == .timeLimit, attempts < 20 else { throw error }
          attacker.close()
        }
      }
    }

    func check() throws {
      try victim.run("check()")
      let before = try victim.run("return times()")
      test.loop.advance(by: 2)
      #expect(try victim.run("return times()") != before, "timers and tasks do not run")
      #expect(!victim.isClosed && !victim.isPaused)
      #expect(reports.isEmpty, "\(reports.map(\.error))")
    }

    /// Runs the attack `name` and everything that it starts.
    func attack(_ name: String) {
      do throws(LuaError) { try attacker.run("attacks['\(name)']()") } catch {
        // A limit stopped it, but nothing was wrong with it.
        #expect(
          [.timeLimit, .memory, .quota].contains(error.code), "\(name): \(error.message)")
      }
      for _ in 0..<3 { test.loop.step() }
      test.loop.advance(by: 1)
    }
  }

  /// The names of all functions and methods that the module has or its definitions declare.
  private func names() throws -> Set<String> {
    let test = try ContainedHost()
    let text = try test.host.run(
      """
      local names = {}
      for name, value in pairs(require 'obs') do
        if type(value) == 'function' then names[#names + 1] = name end
      end
      return table.concat(names, ' ')
      """)[0].text
    var names = Set(text.split(separator: " ").map(String.init))
    let definitions = try String(
      contentsOfFile: Self.folder + "/../../../../Scripts/Definitions/obs.lua", encoding: .utf8)
    for line in definitions.split(separator: "\n") where line.hasPrefix("function ") {
      let name = line.dropFirst("function ".count).prefix { $0 != "(" }
      names.insert(String(name.hasPrefix("obs.") ? name.dropFirst("obs.".count) : name))
    }
    return names
  }

  @Test func `each function of the module is tried`() throws {
    let neighbours = try Neighbours(.endTurn)
    let tried = try neighbours.attacker.run(
      """
      local names = {}
      for name in pairs(attacks) do names[#names + 1] = name end
      return table.concat(names, ' ')
      """)[0].text
    #expect(try names() == Set(tried.split(separator: " ").map(String.init)))
  }

  @Test(arguments: [ScriptLimits.StopPolicy.endTurn, .close])
  func `a sandbox cannot harm another one`(policy: ScriptLimits.StopPolicy) throws {
    for name in try names().sorted() where Self.wanted.isEmpty || name.contains(Self.wanted) {
      let neighbours = try Neighbours(policy)
      neighbours.attack(name)
      do {
        try neighbours.check()
        neighbours.test.host.runExitHooks()
        #expect(neighbours.victim["exited"] == true, "\(name), \(policy)")
        neighbours.attacker.close()
        try neighbours.check()
      } catch {
        Issue.record("\(name), \(policy): \(error)")
      }
    }
  }
}

/// A model that sandboxes share.
final class Paper: ObservableModel {
  class var properties: ModelProperties { paperProperties }
  private static let paperProperties = ModelProperties(for: Paper.self) {
    Property("title", get: { $0.title }, set: { $0.title = $1 })
    Property("pages", get: { $0.pages }, set: { $0.pages = $1 })
  }

  let observation = ModelObservation()
  var title = "" { didSet { observation.didSet(0, from: oldValue, to: title) } }
  var pages = 0 { didSet { observation.didSet(1, from: oldValue, to: pages) } }
}
