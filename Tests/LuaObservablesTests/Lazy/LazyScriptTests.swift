import ScriptFixtures
import Testing

/// Scripts about lazy properties: the cases that all kinds of objects share, random graphs against
/// a reference, models, depth, lifetimes, and what is refused.
///
/// `FIXTURE=text` runs those with this text in their names only; `OBS_SEED=n` begins with another
/// random graph, `OBS_COUNT=n` takes that many.
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
