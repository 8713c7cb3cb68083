import LibC

/// The main function of a program that tries seeds: its arguments are the first one and how many
/// there are.
///
/// Prints the first failure, and ends the program with status 1.
package func trySeeds(of title: String, failure: (Range<Int>) throws -> String?) rethrows {
  let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
  guard numbers.count == 2, numbers[1] > 0 else {
    print("usage: \(CommandLine.arguments[0]) FIRST-SEED COUNT")
    exit(2)
  }
  if let failure = try failure(numbers[0]..<numbers[0] + numbers[1]) {
    print("✘ \(title): \(failure)")
    exit(1)
  }
  print("✔ \(title): \(numbers[1]) seeds")
}
