import Lua
import LuaObservables
import Observables
import Testing

/// Modules that the program offers to hosts with the library `package`.
struct OfferedModuleTests {
  @Test func `they are found after preloaded modules, and before files`() throws {
    let test = try TestHost()
    var asked: [String] = []
    test.host.modules { name in
      asked.append(name)
      return name == "offered" ? .text("count = (count or 0) + 1 return { name = ... }") : nil
    }
    try test.host.run(
      """
      package.preload.early = function() return "preloaded" end
      assert(require "early" == "preloaded")
      assert(require "offered" == require "offered" and count == 1)
      assert(require "offered".name == "offered" and package.loaded.offered.name == "offered")
      package.loaded.offered = nil
      assert(require "offered".name == "offered" and count == 2)
      assert(#package.searchers == 5)
      """)
    #expect(asked == ["offered", "offered"])
    let error = #expect(throws: LuaError.self) { try test.host.run("require 'missing'") }
    #expect(error?.message.contains("the host program offers no module 'missing'") == true)
    #expect(error?.message.contains("no file") == true)
  }

  @Test func `an error of the program or of a module is raised by require`() throws {
    struct Failure: Error, CustomStringConvertible { let description = "not today" }
    let test = try TestHost()
    test.host.modules { name in
      if name == "refused" { throw Failure() }
      return .text("error 'inside'")
    }
    for (name, text) in [("refused", "not today"), ("broken", "inside")] {
      let error = #expect(throws: LuaError.self) { try test.host.run("require '\(name)'") }
      #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    }
  }

  @Test func `a host without offered modules has Lua's searchers`() throws {
    #expect(try TestHost().host.run("return #package.searchers", as: Int.self) == 4)
  }
}
