import Foundation
import Testing

/// S1, S3: each function of the module, and each method of the objects it returns, is stopped when
/// the time of the turn is up, with the largest input that its memory allows.
@Suite(.disabled(if: Command.delaysSignals || !Command.reusesMemory))
struct LatenessTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  /// The names in the definitions, which declare the whole module.
  private static let names: [String] = {
    let definitions = try? String(
      contentsOfFile: "\(root)/Scripts/Definitions/obs.lua", encoding: .utf8)
    return (definitions ?? "").split(separator: "\n").compactMap { line in
      guard line.hasPrefix("function "), let end = line.firstIndex(of: "(") else { return nil }
      return String(line[..<end].dropFirst("function ".count))
    }
  }()

  // The goal is 20 milliseconds of CPU time in a release build, which `Scripts/late` checks; a
  // collection may take as much again. A reference loop measures how much slower the build and the
  // machine are, and a quarter of the whole call's time is allowed on top: this test finds
  // functions that are not stopped at all, on any machine.
  @Test(arguments: names) func `a function is stopped soon`(name: String) throws {
    let outcome = try Command(
      "timeout 300 $L \(Self.root)/Tests/Late/measure.lua $L 20 0.25 300 2 \(name)"
    ).run()
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
  }

  @Test func `the definitions contain functions and methods`() {
    #expect(Self.names.contains("obs.observe") && Self.names.contains("History:undo"))
  }
}
