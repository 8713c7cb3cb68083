import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// Scripts that check themselves.
///
/// Each is run as a program of its own: the file, then the loop until nothing is left to do.
@Suite struct `Scripts` {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Scripts")

  static let names = try! FileManager.default.contentsOfDirectory(atPath: folder.path())
    .filter { $0.hasSuffix(".lua") }.sorted()

  @Test(arguments: names) func `runs to its end without an error`(name: String) throws {
    let test = try TestHost()
    let host = test.host
    // Scripts that can do without take it as a sign that Swift models are to be had.
    var creatures: [WeakCreature] = []
    defer {
      // Friends of each other hold each other, as Swift has it.
      host.close()
      for creature in creatures { creature.creature?.friend = nil }
    }
    try host.set(
      "new_creature",
      to: host.state.function("new_creature") { [unowned host] (name: String) -> LuaValue in
        let creature = Creature(name: name)
        creatures.append(WeakCreature(creature))
        return try host.value(for: creature)
      })
    do {
      try host.run(file: Scripts.folder.appending(path: name).path())
      test.loop.run()
    } catch {
      Issue.record("\(error)")
    }
    #expect(test.reports.map(\.description) == [])
  }

  private struct WeakCreature {
    weak var creature: Creature?
    init(_ creature: Creature) { self.creature = creature }
  }
}
