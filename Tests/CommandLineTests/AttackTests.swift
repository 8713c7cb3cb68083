import Foundation
import Testing

/// S1, S5, S6: each script of `Tests/Attacks` would run for ever, or crash Lua.
///
/// In a separate process the time limit ends it, and it prints nothing else.
@Suite(.disabled(if: Command.delaysSignals))
struct AttackTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Attacks").path

  private static let scripts = scripts(in: folder)

  private static func scripts(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".lua") }.sorted()
  }

  @Test(arguments: scripts)
  func `an attack ends with the limit of time`(script: String) throws {
    let outcome = try Command(
      "timeout 60 $L --sandbox --turn-time=50ms \(Self.folder)/\(script)"
    ).run()
    #expect(outcome.status == 1, "\(outcome.errors.prefix(500))")
    #expect(outcome.output == "")
    #expect(outcome.errors.contains("the turn took longer than its limit (50 ms)"))
  }

  @Test func `the folder contains attacks`() {
    #expect(Self.scripts.count > 70)
    #expect(Self.faults.count > 50)
  }

  /// Scripts for the bugs in Lua 5.4's list of bugs.
  private static let faults = scripts(in: folder + "/Liblua")

  @Test(arguments: faults, ["", "--max-memory=16M"])
  func `a fault of Lua does not crash a sandbox`(script: String, limit: String) throws {
    let outcome = try Command(
      "timeout 120 $L --sandbox --turn-time=10s \(limit) \(Self.folder)/Liblua/\(script)"
    ).run()
    let limits = ["not enough memory", "the turn took longer than its limit"]
    let isLimited = outcome.status == 1 && limits.contains { outcome.errors.contains($0) }
    #expect(isLimited || outcome == Command.Outcome(output: "done\n", errors: "", status: 0))
  }

  // Lua 5.4.4 calls the message handler of the `xpcall` after the coroutine has left it.
  @Test(arguments: ["", "--sandbox --turn-time=20s"])
  func `closing a coroutine in xpcall raises the coroutine's error`(options: String) throws {
    let outcome = try Command(
      """
      $L \(options) - <<'END'
      local function deep(n, h)
        if n == 0 then return xpcall(coroutine.yield, h) end
        return (deep(n - 1, h))
      end
      for r = 1, 5 do
        local c = coroutine.create(function()
          local x <close> = setmetatable({}, { __close = function()
            local t
            for i = 1, 100000 do t = { i } end
            error(134)
          end })
          deep(20000, function() return "XXX" end)
        end)
        coroutine.resume(c)
        print(coroutine.close(c))
      end
      END
      """
    ).run()
    #expect(outcome.output == String(repeating: "false\t134\n", count: 5))
    #expect(outcome.status == 0)
  }

  @Test(arguments: [
    ("local l = {} for i = 1, 1e9 do l[i] = {} end", "not enough memory"),
    ("return ('x'):rep(1 << 30)", "not enough memory"),
    ("io.write('x')", "attempt to index a nil value (global 'io')"),
    ("os.exit(3)", "attempt to call a nil value (field 'exit')"),
    ("require 'io'", "module 'io' not found"),
  ])
  func `a sandbox has little memory and no access to the outside`(script: String, text: String)
    throws
  {
    let outcome = try Command("$L --sandbox --max-memory=16M --turn-time=20s -e \"\(script)\"")
      .run()
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(text), "\(outcome.errors)")
  }

  @Test func `the script of a sandbox is text, and no longer than a chunk may be`() throws {
    // Lua 5.4.4 overflows the C stack if such a chunk names the variable of an error.
    let outcome = try Command(
      """
      lua5.4 -e 'io.open("code", "wb"):write(string.dump(load "print(1)"))
        io.open("deep.lua", "w"):write("local t = {} t.a = t return t", (".a"):rep(200000), ".y.z")
        io.open("first.lua", "w"):write("#!x\\nprint(...) error([[no]])")'
      $L --sandbox code; $L --sandbox deep.lua; $L --sandbox - <deep.lua; $L --sandbox first.lua 7
      """
    ).run()
    #expect(outcome.output == "7\n")
    #expect(outcome.errors.contains("attempt to load a binary chunk"))
    #expect(outcome.errors.contains("deep.lua: the chunk is larger than 65536 bytes"))
    #expect(outcome.errors.contains("stdin: the chunk is larger than 65536 bytes"))
    #expect(outcome.errors.contains("first.lua:2: no"))
  }

  @Test func `a sandbox loads modules from a folder`() throws {
    let outcome = try Command(
      """
      mkdir -p modules/sub && echo 'return ...' > modules/sub/name.lua && ln -s /etc modules/out
      $L --sandbox=modules -e 'print(require "sub.name")
        print(pcall(require, "out.passwd")) print(pcall(require, "..input"))'
      """
    ).run()
    #expect(
      outcome.output == """
        sub.name
        false\tmodule 'out.passwd' not found: the host program offers no module of that name
        false\tmodule '..input' not found: the host program offers no module of that name

        """)
    #expect(outcome.status == 0)
  }

  @Test(arguments: [
    "--max-memory", "--max-memory=", "--max-memory=x", "--max-memory=0", "--max-memory=-1",
    "--turn-time=5", "--turn-time=0ms", "--turn-time=", "--turn-time=xms", "--sandbox=",
  ])
  func `an invalid limit is wrong use`(option: String) throws {
    let outcome = try Command("$L \(option) -e 'print(1)'").run()
    #expect(outcome.status == 2 && outcome.output == "")
    #expect(outcome.errors.contains(option.prefix { $0 != "=" }))
  }

  @Test func `each limit works alone`() throws {
    #expect(try Command("$L --max-memory=1G -e 'print(io ~= nil)'").run().output == "true\n")
    #expect(try Command("$L --turn-time=1s -e 'print(io ~= nil)'").run().output == "true\n")
    #expect(try Command("$L --sandbox -e 'print(io)'").run().output == "nil\n")
    let outcome = try Command("$L --turn-time=0.05s -e 'while true do end'").run()
    #expect(outcome.status == 1 && outcome.errors.contains("longer than its limit (50 ms)"))
  }

  // S3: each flood would exceed the limit, on either side of the bridge. The system gives the
  // process little more memory than that.
  @Test(
    .enabled(if: Command.reusesMemory),
    arguments: [
      "local s = 'x' while true do s = s .. s end",
      "local s = ('x'):rep(1 << 30)",
      "local l = {} for i = 1, math.huge do l[i] = {} end",
      "local l = {} for i = 1, math.huge do l[i] = coroutine.create(nop) end",
      "local l = {} for i = 1, math.huge do l[i] = obs.observe(t, 'v', nop) end",
      "local l = {} for i = 1, math.huge do l[i] = { v = 1 } obs.observe(l[i], 'v', nop) end",
      "local l = {} for i = 1, math.huge do l[i] = { v = 1 } obs.computed(l[i], 'w', nop) end",
      "for i = 1, math.huge do obs.after(i, nop) end",
      "for i = 1, math.huge do obs.task(function() obs.sleep(1000) end) end",
      "for i = 1, math.huge do obs.next_turn(nop) end",
      "obs.get(t, ('a.'):rep(5000000) .. 'b')",
      "for i = 1, math.huge do obs.observe(t, 'a.b.c.d.e.f.g' .. i, nop) end",
      "for i = 1, math.huge do obs.get(t, 'v' .. i .. ('.a'):rep(100)) end",
      "local a = obs.array {} obs.observe_edits(a, nop) for i = 1, math.huge do a:append(i) end",
      "local l = {} for i = 1, math.huge do l[i] = obs.path('a', i) end",
    ])
  func `a flood ends with the limit of memory`(script: String) throws {
    let prologue = "local obs = require 'obs' local t = { v = 1 } local function nop() end"
    let outcome = try Command(
      """
      ulimit -v 500000
      $L --max-memory=16M --turn-time=2s - <<'END'
      print(pcall(load([[\(prologue) \(script)]])))
      os.exit(true, false)
      END
      """
    ).run()
    // If the script keeps its objects, not even `print` finds memory.
    let text = outcome.output + outcome.errors
    let isContained = text.contains("not enough memory") || text.contains("longer than its limit")
    #expect(isContained && outcome.status <= 1, "\(outcome)")
  }
}
