import LibC

/// Runs schedules with optimized code.
///
/// Its arguments are the first seed and the number of seeds.
@main struct Program {
  static func main() throws {
    let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    guard numbers.count == 2, numbers[1] > 0 else {
      print("usage: mirror-simulation FIRST-SEED COUNT")
      exit(2)
    }
    if let failure = try Simulation.failure(of: numbers[0]..<numbers[0] + numbers[1]) {
      print("✘ Mirrors in a simulated network: \(failure)")
      exit(1)
    }
    print("✔ Mirrors in a simulated network: \(numbers[1]) schedules")
  }
}
