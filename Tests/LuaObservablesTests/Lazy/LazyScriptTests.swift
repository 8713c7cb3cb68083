import ScriptFixtures
import Testing

/// Scripts about lazy properties: cases that all kinds of objects share, random graphs against a
/// reference, models, depth, lifetimes, and rejected input.
///
/// `FIXTURE=text` runs only the scripts with this text in their names. `OBS_SEED=n` starts with
/// random graph `n`; `OBS_COUNT=n` runs `n` graphs.
@Suite struct LazyScripts {
  @Test(arguments: ScriptFixture.all(in: "../Scripts/Lazy"))
  func `scripts find nothing wrong`(script: ScriptFixture) {
    var swift: SwiftGraph?
    defer { swift?.close() }
    script.run { host in
      let graph = SwiftGraph(host)
      swift = graph
      try graph.install()
    }
  }
}
