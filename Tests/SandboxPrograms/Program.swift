import TestSupport

/// Runs random programs with optimized code.
@main struct Program {
  static func main() throws {
    try trySeeds(of: "Programs in sandboxes", failure: SandboxPrograms().failure)
  }
}
