import Lua
import LuaObservables
import Observables
import Testing

/// S6: a host can require a release of Lua.
struct RequiredReleaseTests {
  @Test func `a host is made with the release that it requires`() throws {
    let host = try LuaHost(loop: Loop(), libraries: .safe, minimumLua: .loaded)
    #expect(try host.run("return 1 + 1") == [2])
  }

  @Test func `a library that is too old is an error with both releases`() throws {
    let later = LuaRelease(number: 50499)
    let error = #expect(throws: LuaError.self) {
      try LuaHost(loop: Loop(), libraries: .safe, minimumLua: later)
    }
    #expect(error?.code == .release)
    let message = error?.message ?? ""
    #expect(message.hasPrefix("the Lua library behaves as release \(LuaRelease.loaded)"))
    #expect(message.hasSuffix("; the program requires 5.4.99"))
  }
}
