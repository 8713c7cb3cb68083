import ScriptFixtures
import Testing

/// Scripts about collections: the cases that all kinds of collections share, random programs
/// against a reference, lifetimes, and what is refused.
///
/// `FIXTURE=text` runs those with this text in their names only; `OBS_SEED=n` begins with another
/// random program, `OBS_COUNT=n` takes that many.
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
