import LuaObservables
import ScriptFixtures
import Testing

@Suite struct `Fixtures` {
  @Test(arguments: ScriptFixture.all()) func `pass`(fixture: ScriptFixture) {
    let counter = Counter()
    fixture.run { host in try host.set("counter", to: counter) }
    #expect(counter.count == (fixture.name == "model.lua" ? 2 : 0))
  }

  @Test func `are the scripts of a folder, by name`() {
    let names = ScriptFixture.all().map(\.name)
    #expect(names == ["checks.lua", "first.lua", "model.lua", "second.lua", "time.lua"])
  }

  @Test func `end with the host closed`() {
    var kept: LuaHost?
    ScriptFixture.all()[0].run { host in kept = host }
    #expect(kept?.isClosed == true)
  }
}
