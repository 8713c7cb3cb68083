import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// S7: after a stop at any operation, also in callbacks, comparisons, getters and batches, each
/// watcher receives exactly the changes on its paths.
@Suite(.disabled(if: ContainedHost.delaysSignals))
struct StoppedProgramTests {
  private static let first = Int(ProcessInfo.processInfo.environment["OBS_SEED"] ?? "") ?? 1
  private static let count = Int(ProcessInfo.processInfo.environment["OBS_COUNT"] ?? "") ?? 150

  @Test func `a stopped random program continues as if it had not been stopped`() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Scripts/Stopped/program.lua").path
    for seed in Self.first..<(Self.first + Self.count) {
      let test = try ContainedHost {
        $0.turnTime = .seconds(100)
        $0.memory = nil
      }
      var ticks = 0
      var end = 0
      try test.host.set("tick") { [unowned test] () -> Void in
        ticks += 1
        if ticks == end { test.host.interrupt() }
      }
      try test.host.run(file: file)
      for step in 1...6 {
        end = ticks + 1 + (seed * 7919 + step * 104_729) % 40
        _ = test.failure("run(\(seed * 10 + step), 20)")
        test.loop.advance(by: 1)
        end = 0
        try test.host.run("settle()")
        test.loop.advance(by: 1)
        if let error = test.failure("check(\(seed * 10 + step))") {
          Issue.record("seed \(seed), step \(step): \(error)")
          return
        }
      }
    }
  }
}
