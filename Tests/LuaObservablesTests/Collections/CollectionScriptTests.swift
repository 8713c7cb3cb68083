import ScriptFixtures
import Testing

/// Scripts about collections: cases that all kinds of collections share, random programs against a
/// reference, lifetimes, and rejected input.
///
/// `FIXTURE=text` runs only the scripts with this text in their names. `OBS_SEED=n` starts with
/// random program `n`; `OBS_COUNT=n` runs `n` programs.
@Suite struct `Collections` {
  @Test(arguments: ScriptFixture.all(in: "../Scripts/Collections"))
  func `scripts find nothing wrong`(script: ScriptFixture) {
    var swift: SwiftCollections?
    defer { swift?.close() }
    script.run { host in
      let collections = SwiftCollections(host)
      swift = collections
      try collections.install(in: host)
    }
  }
}
