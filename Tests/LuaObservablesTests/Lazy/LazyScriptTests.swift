import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// Scripts about lazy properties: the cases that all kinds of objects share, random graphs against a
/// reference, models, depth, lifetimes, and what is refused.
///
/// `OBS_SCRIPT=text` runs those with this text in their names only; `OBS_SEED=n` begins with another
/// random graph, `OBS_COUNT=n` takes that many.
@Suite struct LazyScripts {
  static let folder = Scripts.folder.appending(path: "Lazy")

  static let names = try! FileManager.default.contentsOfDirectory(atPath: folder.path())
    .filter { name in
      name.hasSuffix(".lua")
        && ProcessInfo.processInfo.environment["OBS_SCRIPT"].map(name.contains) != false
    }.sorted()

  @Test(arguments: names) func `runs to its end without an error`(name: String) throws {
    let test = try TestHost()
    let graph = SwiftGraph(test.host)
    defer { graph.close() }
    try graph.install()
    do {
      try test.host.run(file: LazyScripts.folder.appending(path: name).path())
      test.loop.run()
    } catch {
      Issue.record("\(error)")
    }
    #expect(test.reports.map(\.description) == [])
  }
}
