import Foundation
import Testing

/// Two runs with the same seed print the same, whatever the system does differently.
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

  private func run(seed: Int, in environment: String = "A=1", stack: Int = 8192) throws
    -> Command.Outcome
  {
    try Command(
      "ulimit -s \(stack); exec env \(environment) OBS_LUA_SEED=\(seed) $L \(Self.script)"
    ).run()
  }

  @Test func `output is the same in each environment and with each limit of the stack`() throws {
    let first = try run(seed: 7)
    #expect(first.status == 0 && first.errors.isEmpty, "\(first)")
    for environment in Self.environments {
      for stack in [8192, 1024] {
        let outcome = try run(seed: 7, in: environment, stack: stack)
        #expect(outcome == first, "\(environment) with a stack of \(stack) KB")
      }
    }
  }

  @Test(arguments: [
    "for name in pairs(string) do print(name) end",
    "print(math.random(0), math.random(0))",
    "math.randomseed() print(math.random(0))",
  ])
  func `another seed gives another order and other random numbers`(line: String) throws {
    let seeds = 1...5
    let outcomes = try seeds.map { seed in
      try Command("OBS_LUA_SEED=\(seed) $L -e '\(line)'").run().output
    }
    #expect(Set(outcomes).count > 1)
  }

  @Test func `without a seed random numbers differ in each run`() throws {
    let line = Command("$L -e 'print(math.random(0))'")
    #expect(try line.run() != line.run())
  }
}
