import LibC

/// Runs random programs with optimized code.
///
/// Its arguments are the first seed and the number of seeds.
@main struct Program {
  static func main() throws {
    let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    guard numbers.count == 2, numbers[1] > 0 else {
      print("usage: sandbox-programs FIRST-SEED COUNT")
      exit(2)
    }
    let programs = try SandboxPrograms()
    if let failure = try programs.failure(of: numbers[0]..<numbers[0] + numbers[1]) {
      print("✘ Programs in sandboxes: \(failure)")
      exit(1)
    }
    print("✔ Programs in sandboxes: \(numbers[1])")
  }
}
