import LuaObservables
import Observables

/// Makes a host whose scripts have limits that they never reach.
private func limitedHost(on loop: Loop) throws -> LuaHost {
  var limits = ScriptLimits()
  limits.memory = 1 << 30
  limits.turnTime = .seconds(1000)
  limits.watchers = 1_000_000
  return try LuaHost(loop: loop, libraries: .safe, limits: limits)
}

/// Lets scripts watch as many tables as the row's size says.
private func watch(_ count: Int, in scripts: some ScriptEnvironment) throws {
  scripts["count"] = count
  try scripts.run(
    """
    local obs = require "obs"
    kept = {}
    for i = 1, count do
      kept[i] = { v = 0 }
      obs.observe(kept[i], "v", function() end)
    end
    """)
}

/// Operations on sandboxes and on hosts with limits.
let scriptRows = [
  Row("LuaHost.sandbox", "other sandboxes", "flat") { count, loop in
    let host = try limitedHost(on: loop)
    let others = try (0..<count / 10).map { try host.sandbox(named: "other\($0)") }
    return { _ in
      try host.sandbox(named: "new").close()
      withExtendedLifetime(others) {}
    }
  },
  Row("LuaHost.sandbox", "watchers of another sandbox", "flat") { count, loop in
    let host = try limitedHost(on: loop)
    let other = try host.sandbox(named: "other")
    try watch(count, in: other)
    return { _ in
      let sandbox = try host.sandbox(named: "new")
      try watch(1, in: sandbox)
      sandbox.close()
      withExtendedLifetime(other) {}
    }
  },
  Row("LuaSandbox.pause", "watchers of another sandbox", "flat") { count, loop in
    let host = try limitedHost(on: loop)
    let (other, sandbox) = (try host.sandbox(named: "other"), try host.sandbox(named: "one"))
    try watch(count, in: other)
    try watch(1, in: sandbox)
    return { _ in
      sandbox.pause()
      sandbox.resume()
      withExtendedLifetime((host, other)) {}
    }
  },
  Row("LuaSandbox.pause", "its watchers", "linear") { count, loop in
    let host = try limitedHost(on: loop)
    let sandbox = try host.sandbox(named: "one")
    try watch(count, in: sandbox)
    return { _ in
      sandbox.pause()
      sandbox.resume()
      withExtendedLifetime(host) {}
    }
  },
  Row("LuaHost.run", "watched tables, with limits", "flat") { count, loop in
    let host = try limitedHost(on: loop)
    try watch(count, in: host)
    return { _ in try host.run("kept[1].v = kept[1].v + 1") }
  },
  Row("LuaSandbox.memoryInUse", "watched tables", "flat") { count, loop in
    let host = try limitedHost(on: loop)
    var limits = ScriptLimits()
    limits.memory = 1 << 29
    let sandbox = try host.sandbox(named: "one", limits: limits)
    try watch(count, in: sandbox)
    return { _ in
      _ = sandbox.memoryInUse
      withExtendedLifetime(host) {}
    }
  },
  Row("ScriptLimits.undoStoppedTurns", "objects below the roots", "flat") { count, loop in
    let shelf = Shelf(count)
    var limits = ScriptLimits()
    limits.undoStoppedTurns = [shelf]
    let host = try LuaHost(loop: loop, libraries: .safe, limits: limits)
    host["shelf"] = shelf
    return { _ in try host.run("shelf.first.value = shelf.first.value + 1") }
  },
]
