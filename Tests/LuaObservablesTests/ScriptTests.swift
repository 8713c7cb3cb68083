import Foundation
import Lua
import LuaObservables
import ScriptFixtures
import Testing

/// Scripts that check themselves: those over all of the script API, and those of the sections that
/// need no Swift objects but creatures.
///
/// `FIXTURE=text` runs those with this text in their names only.
@Suite struct `Scripts` {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Scripts")

  private static let fixtures = [
    "Scripts", "Scripts/Changes", "Scripts/KeyPaths", "Scripts/Lifetime", "Scripts/Module",
    "Scripts/Tables",
    "Scripts/Turns", "Scripts/Watching",
  ].flatMap { ScriptFixture.all(in: $0) }

  @Test(arguments: fixtures) func `find nothing wrong`(script: ScriptFixture) {
    // Friends of each other hold each other, as Swift has it.
    var creatures: [WeakCreature] = []
    defer { for creature in creatures { creature.creature?.friend = nil } }
    script.run { host in
      // Scripts that can do without take it as a sign that Swift models are to be had.
      try host.set(
        "new_creature",
        to: host.state.function("new_creature") { [unowned host] (name: String) -> LuaValue in
          let creature = Creature(name: name)
          creatures.append(WeakCreature(creature))
          return try host.value(for: creature)
        })
    }
  }

  private struct WeakCreature {
    weak var creature: Creature?
    init(_ creature: Creature) { self.creature = creature }
  }
}
