// The part of the fleet that writes.
import Foundation

guard CommandLine.arguments.count == 3 else {
  print("usage: fleet URL JOURNAL")
  exit(2)
}
do {
  try Writer(at: CommandLine.arguments[1], journal: CommandLine.arguments[2]).run()
} catch {
  print("fleet: \(error)")
  exit(1)
}
