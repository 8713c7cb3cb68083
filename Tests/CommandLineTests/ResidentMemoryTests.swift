import Testing

/// S3: a script makes the process use the memory of the script's account, and little more.
@Suite(.enabled(if: Command.reusesMemory))
struct ResidentMemoryTests {
  @Test(arguments: [
    "local t = {} for i = 1, math.huge do t[i] = obs.path('a', 'b', i) end",
    """
    for i = 1, math.huge do
      obs.observe({ x = 1 }, 'x', nop, { on_end = nop, name = ('n'):rep(100) .. i })
    end
    """,
    """
    local t, name = {}, ('x'):rep(1 << 14)
    for i = 1, 2000 do obs.observe(t, 'k' .. i, nop, { name = name }) end
    obs.graph(t)
    error 'the text had room'
    """,
    """
    local t, name = {}, ('x'):rep(1 << 14)
    for i = 1, 2000 do obs.observe(t, 'k' .. i, nop, { name = name }) end
    obs.describe(t)
    error 'the text had room'
    """,
  ])
  func `intermediate results for a script are counted`(script: String) throws {
    try expectPeak(of: script, below: 80)
  }

  /// An undo is not part of the account: it must be possible without free memory.
  @Test(arguments: [
    ("obs.set_of {}", "o:add(i)"),
    ("obs.dictionary {}", "o['k' .. i] = i"),
    ("{}", "o['k' .. i] = i"),
    ("{}", "o[i] = i"),
    ("obs.array {}", "o:append(i)"),
  ])
  func `undoing writes that filled the memory takes a copy of it`(
    made: String, write: String
  ) throws {
    try expectPeak(
      of: """
        local o = \(made)
        local _, message = obs.transaction({ o }, function()
          for i = 1, math.huge do \(write) end
        end)
        error(message, 0)
        """, below: 100)
  }

  /// Runs a script that runs out of memory, with 32 MB; `most` is in MB.
  private func expectPeak(of script: String, below most: Int) throws {
    let outcome = try Command(
      """
      $L --max-memory=32M - <<'END'
      local obs = require "obs"
      local function nop() end
      local function run()
        \(script)
      end
      -- There may be no memory before the turn is over.
      obs.after(0.1, function()
        local file = io.open "/proc/self/status"
        local peak = file:read "a":match "VmHWM:%s+(%d+)"
        print(tonumber(peak) < \(most) * 1024 or peak)
        os.exit(true, false)
      end)
      local ok, message = pcall(run)
      print(message:match "not enough memory" or message)
      END
      """
    ).run()
    #expect(outcome.output == "not enough memory\ntrue\n", "\(outcome)")
  }
}
