import TestSupport

/// Runs schedules with optimized code.
@main struct Program {
  static func main() throws {
    try trySeeds(of: "Mirrors in a simulated network") {
      try Simulation.failure(of: $0, measuringMemory: true)
    }
  }
}
