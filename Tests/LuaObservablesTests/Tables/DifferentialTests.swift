import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// Random programs print the same in plain Lua and in a host, full of watchers (L7).
///
/// The test runs 1,500 seeds, or as many as fit in its time. `OBS_SEED=n` starts with seed `n`;
/// `OBS_COUNT=n` runs `n` seeds, however long it takes:
///
///     OBS_SEED=100000 OBS_COUNT=20000 Scripts/test --filter Differential
///
/// `lua Scripts/Differential/generate.lua seed` prints a program that differs.
@Suite struct `Differential tests` {
  private static let environment = ProcessInfo.processInfo.environment
  private static let first = environment["OBS_SEED"].flatMap { Int($0) } ?? 1
  private static let count = environment["OBS_COUNT"].flatMap { Int($0) }

  /// The printed lines of a program, including its error.
  private final class Output {
    var lines: [String] = []
  }

  private func run(_ program: String, in state: LuaState, observing: Bool) throws -> Output {
    let output = Output()
    let print = try state.function("print") { (line: LuaString) in
      output.lines.append(line.description)
    }
    try state.globals.set("print", to: print)
    try state.globals.set("OBSERVE", to: observing)
    do {
      try state.run(program, name: "=program")
    } catch {
      output.lines.append("error: \(error.message)")
    }
    return output
  }

  @Test func `random programs print the same with and without watchers`() throws {
    let generator = try LuaState()
    let module = try generator.runFile(
      Scripts.folder.appending(path: "Differential/generate.lua").path())
    guard case .table(let module)? = module.first else {
      Issue.record("the generator gives no module")
      return
    }
    let generate = try module.get("generate", as: LuaFunction.self)
    let end = ContinuousClock.now + .seconds(20)
    for seed in Self.first..<Self.first + (Self.count ?? 1500) {
      if Self.count == nil, ContinuousClock.now > end { break }
      let program = try generate.call(seed, as: String.self)

      let state = try LuaState()
      let plain = try run(program, in: state, observing: false)
      state.close()

      let test = try TestHost()
      let observed = try run(program, in: test.host.state, observing: true)
      test.loop.endTurn()
      // Finalizers print, too.
      test.host.close()

      #expect(observed.lines == plain.lines, "seed \(seed)")
      #expect(test.reports.map(\.description) == [], "seed \(seed)")
      #expect(test.loop.statistics.watchers == 0, "seed \(seed)")
      #expect(test.loop.statistics.observedObjects == 0, "seed \(seed)")
    }
  }
}
