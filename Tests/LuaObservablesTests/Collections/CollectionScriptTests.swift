import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// Scripts about collections: the cases that all kinds of collections share, random programs against
/// a reference, lifetimes, and what is refused.
///
/// `OBS_SEED=n` begins with another random program, `OBS_COUNT=n` takes that many.
@Suite struct `Collections` {
  static let folder = Scripts.folder.appending(path: "Collections")

  static let names = try! FileManager.default.contentsOfDirectory(atPath: folder.path())
    .filter { $0.hasSuffix(".lua") }.sorted()

  @Test(arguments: names) func `runs to its end without an error`(name: String) throws {
    let test = try TestHost()
    let swift = SwiftCollections(test.host)
    defer { swift.close() }
    try swift.install(in: test.host)
    do {
      try test.host.run(file: Collections.folder.appending(path: name).path())
      test.loop.run()
    } catch {
      Issue.record("\(error)")
    }
    #expect(test.reports.map(\.description) == [])
  }
}
