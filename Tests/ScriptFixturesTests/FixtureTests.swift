import LuaObservables
import ScriptFixtures
import Testing

@Suite struct `Fixtures` {
  @Test(arguments: ScriptFixture.all()) func `pass`(fixture: ScriptFixture) {
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
    let names = ScriptFixture.all().map(\.name)
    #expect(
      names == [
        "anywhere.lua", "checks.lua", "first.lua", "model.lua", "second.lua", "time.lua",
        "waiting.lua",
      ])
  }

  @Test func `are selected by a text in their names`() {
    let names = ScriptFixture.all(in: "Fixtures", matching: "s").map(\.name)
    #expect(names == ["checks.lua", "first.lua", "second.lua"])
    #expect(ScriptFixture.all(in: "Fixtures", matching: "nothing").isEmpty)
  }

  @Test func `end with the host closed`() {
    var kept: LuaHost?
    ScriptFixture.all()[0].run { host in kept = host }
    #expect(kept?.isClosed == true)
  }

  private struct Refusal: Error, CustomStringConvertible {
    let description = "there is nothing"
  }
}
