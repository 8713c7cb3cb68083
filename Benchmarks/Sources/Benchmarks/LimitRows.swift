import Lua
import LuaObservables
import Observables

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Limits that are not reached (S2), compared with a host without limits; and the delay of stops
/// (S1).
func addLimitRows(to harness: inout Harness) throws {
  let loop = Loop()
  var limits = ScriptLimits.untrusted
  limits.turnTime = .seconds(1000)
  let kinds: [(String, () throws -> LuaHost)] = [
    ("no limits", { try LuaHost(loop: loop) }),
    ("limits", { try LuaHost(loop: loop, limits: limits) }),
    ("limits, safe libraries", { try LuaHost(loop: loop, libraries: .safe, limits: limits) }),
  ]
  for (name, body) in [
    (
      "calls (fib)",
      "local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end fib(22)"
    ),
    ("a loop", "local s = 0 for i = 1, 1000000 do s = s + i end"),
    ("writes of a table", "local t = { v = 0 } for i = 1, 1000000 do t.v = i end"),
    (
      "writes, delivered",
      "local flush = obs.flush for i = 1, 10000 do observed.v = i flush() end observed.v = 0"
    ),
    ("resumed coroutines", "local f = coroutine.wrap(loop) for i = 1, 10000 do f() end"),
    ("patterns", "for i = 1, 10000 do local _ = ('key = value'):match '^(%w+)%s*=%s*(%w+)$' end"),
  ] {
    // The kinds take turns, so that the load of the machine affects all of them. Each turn uses a
    // new host, as the address of a stack may matter more than anything else.
    var times = kinds.map { _ in [Double]() }
    for _ in 0..<9 {
      for (index, kind) in kinds.enumerated() {
        let host = try kind.1()
        try host.run(
          """
          obs = require 'obs'
          observed = { v = 0 }
          obs.observe(observed, 'v', function() end)
          function loop() while true do coroutine.yield() end end
          """)
        let function = try host.state.load(body)
        try function.call()
        let start = Harness.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)
        try function.call()
        times[index].append(Harness.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) - start)
        host.close()
      }
    }
    let medians = times.map { $0.sorted()[4] / 1e6 }
    for (index, (label, _)) in kinds.enumerated() {
      harness.add(
        "limits that are not hit: \(name)", label, medians[index], unit: "ms",
        limit: index == 1 ? 1.03 * medians[0] : nil, "≤ 1.03 × no limits")
    }
  }
  try addStops(to: &harness, loop)
}

/// The longest time from the limit until the host has control again.
private func addStops(to harness: inout Harness, _ loop: Loop) throws {
  var limits = ScriptLimits()
  limits.turnTime = .milliseconds(20)
  let host = try LuaHost(loop: loop, libraries: .safe, limits: limits)
  var latest = 0.0
  for script in [
    "while true do end", "while true do pcall(function() while true do end end) end",
    "coroutine.wrap(function() while true do end end)()",
    "('a'):rep(100):find(('a-'):rep(30) .. 'b')",
    "local l = {} for i = 1, 200000 do l[i] = i end while true do table.sort(l, math.ult) end",
    "local t = setmetatable({}, { __index = function(_, k) return k end }) while t[1] do end",
  ] {
    for _ in 0..<20 {
      let start = Harness.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)
      do throws(LuaError) {
        try host.run(script)
        check(false, "it was stopped: \(script)")
      } catch { check(error.code == .timeLimit, "by the limit of time: \(error)") }
      latest = max(latest, Harness.nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) - start - 20e6)
    }
  }
  harness.add(
    "stopped after the limit", "at worst of 120", latest / 1e6, unit: "ms", limit: 10)
}
