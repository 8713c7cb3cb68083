import TestSupport
import Testing
@testable import sandbox_programs

/// S5, S7, S8: random programs of several sandboxes that are stopped and closed anywhere.
///
/// `Scripts/test` runs 2,000 programs with optimized code.
@Suite(.disabled(if: ContainedHost.delaysSignals))
struct RandomSandboxTests {
  @Test func `after a stop, watchers and values agree with the contents`() throws {
    let failure = try SandboxPrograms().failure(of: Size.seeds(200, light: 20))
    #expect(failure == nil, "\(failure ?? "")")
  }
}
