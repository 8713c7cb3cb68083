import Foundation
import LuaObservables
import ScriptFixtures
import Testing

@Suite struct `Fixtures` {
  // The test of failing fixtures runs this for another folder, in a separate process.
  private static let folder = ProcessInfo.processInfo.environment["FIXTURE_FOLDER"] ?? "Fixtures"

  @Test(arguments: ScriptFixture.all(in: folder)) func `pass`(fixture: ScriptFixture) {
    let counter = Counter()
    fixture.run { host in
      try host.set("counter", to: counter)
      try host.set("fetch") { (id: Int) in
        AsyncResult {
          if id == 0 { throw Refusal() }
          return "answer \(id)"
        }
      }
    }
    #expect(counter.count == (fixture.name == "model.lua" ? 2 : 0))
  }

  @Test func `are the scripts of a folder, by name`() {
    let names = ScriptFixture.all(in: "Fixtures", matching: "").map(\.name)
    #expect(
      names == [
        "anywhere.lua", "checks.lua", "first.lua", "hooked.lua", "model.lua", "second.lua",
        "time.lua", "waiting.lua",
      ])
  }

  @Test func `are selected by a text in their names`() {
    let names = ScriptFixture.all(in: "Fixtures", matching: "s").map(\.name)
    #expect(names == ["checks.lua", "first.lua", "second.lua"])
    #expect(ScriptFixture.all(in: "Fixtures", matching: "nothing").isEmpty)
  }

  @Test func `end with the host closed`() {
    var kept: LuaHost?
    ScriptFixture.all(in: "Fixtures", matching: "")[0].run { host in kept = host }
    #expect(kept?.isClosed == true)
  }

  // It waits for threads that long tests use at the same time.
  @Test(.timeLimit(.minutes(30)))
  func `may await results side by side, more than there are threads`() async {
    let fixtures = ScriptFixture.all(in: "Fixtures", matching: "first").first!
    let runs = ProcessInfo.processInfo.activeProcessorCount + 2
    await withTaskGroup { group in
      for _ in 0..<runs {
        group.addTask {
          var answers = 0
          fixtures.run { host in
            try host.set("fetch") { AsyncResult { await Task.yield() } }
            try host.set("arrived") { answers += 1 }
            try host.run("require('obs').task(function() fetch() arrived() end)")
          }
          #expect(answers == 1)
        }
      }
      await group.waitForAll()
    }
  }

  private struct Refusal: Error, CustomStringConvertible {
    let description = "there is nothing"
  }
}
