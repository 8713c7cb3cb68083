import Foundation
import Lua
import LuaObservables
import ScriptFixtures
import Testing

/// Scripts that check themselves.
///
/// `FIXTURE=text` runs those with this text in their names only.
@Suite struct `Scripts` {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Scripts")

  @Test(arguments: ScriptFixture.all(in: "Scripts")) func `find nothing wrong`(
    script: ScriptFixture
  ) {
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
