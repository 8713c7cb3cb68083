import Foundation
import Lua
import LuaObservables
import Observables
import ScriptFixtures
import Testing

/// Scripts that check themselves: for the whole script API, and for sections that need no Swift
/// objects except creatures.
///
/// `FIXTURE=text` runs only the scripts with this text in their names.
@Suite struct `Scripts` {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Scripts")

  private static let fixtures = [
    "Scripts", "Scripts/Changes", "Scripts/KeyPaths", "Scripts/Lifetime", "Scripts/Module",
    "Scripts/Recording",
    "Scripts/Tables",
    "Scripts/Turns", "Scripts/Watching",
  ].flatMap { ScriptFixture.all(in: $0) }

  @Test(arguments: fixtures) func `find nothing wrong`(script: ScriptFixture) {
    // Friends hold each other, so their cycles must be broken.
    var creatures: [WeakCreature] = []
    defer { for creature in creatures { creature.creature?.friend = nil } }
    script.run { host in
      // For scripts that can do without it, its presence means that Swift models are available.
      try host.set(
        "new_creature",
        to: host.state.function("new_creature") { [unowned host] (name: String) -> LuaValue in
          let creature = Creature(name: name)
          creatures.append(WeakCreature(creature))
          return try host.value(for: creature)
        })
      #if DEBUG
        try host.set(
          "engine_steps",
          to: host.state.function("engine_steps") { [unowned host] () -> Int in
            host.engine.operations.steps
          })
      #endif
    }
  }

  private struct WeakCreature {
    weak var creature: Creature?
    init(_ creature: Creature) { self.creature = creature }
  }
}
