import Testing

/// S3: a script makes the process take the memory of the script's account, and not much more.
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
    local t, name = {}, ('x'):rep(1 << 20)
    for i = 1, 24 do obs.observe(t, 'k' .. i, nop, { name = name }) end
    obs.graph(t)
    error 'the text had room'
    """,
    """
    local t, name = {}, ('x'):rep(1 << 20)
    for i = 1, 24 do obs.observe(t, 'k' .. i, nop, { name = name }) end
    obs.describe(t)
    error 'the text had room'
    """,
  ])
  func `what is made for a script on the way is counted`(script: String) throws {
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
        print(tonumber(peak) < 80 * 1024 or peak)
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
