import Foundation
import Testing

/// D5: a replay prints the same, whatever the system does differently.
///
/// The thread sanitizer reserves the addresses.
@Suite(.enabled(if: !Command.delaysSignals))
struct RepeatingTests {
  private static let script =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Repeating/everything.lua"

  /// Environments that make the C library and the system place other memory elsewhere.
  private static let environments = [
    "A=1", "A=1 B=2 C=3", "A=\(String(repeating: "x", count: 5000))", "LC_ALL=C.UTF-8",
    "TZ=Asia/Tokyo", "HOME=/nowhere", "LD_BIND_NOW=1", "MALLOC_ARENA_MAX=1", "MALLOC_PERTURB_=85",
    "MALLOC_MMAP_THRESHOLD_=4096", "MALLOC_TOP_PAD_=1000000", "GLIBC_TUNABLES=glibc.malloc.check=0",
  ]

  @Test func `output is the same in each environment and with each limit of the stack`() throws {
    let replays = Self.environments.flatMap { environment in
      [8192, 1024].map { stack in
        """
        (ulimit -s \(stack); exec env \(environment) $L --replay=r --trust >out2 2>err2)
        cmp out out2 && cmp err err2 || echo "differs: \(environment.prefix(40)) \(stack)"
        """
      }
    }
    let outcome = try Command(
      "$L --record=r \(Self.script) >out 2>err; echo $?; wc -l <out; cat err\n"
        + replays.joined(separator: "\n")
    ).run()
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.first == "0" && lines.count == 2 && outcome.errors.isEmpty, "\(outcome)")
    #expect(Int(lines[1]) ?? 0 > 20)
  }

  @Test(arguments: [
    "for name in pairs(string) do print(name) end",
    "print(math.random(0), math.random(0))",
    "math.randomseed() print(math.random(0))",
  ])
  func `each recorded run has another order and other random numbers`(line: String) throws {
    let outcomes = try (1...5).map { _ in
      try Command("$L --record=r -e '\(line)'").run().output
    }
    #expect(Set(outcomes).count > 1)
  }
}
