import Lua
import LuaObservables
import Observables

/// Runs the random programs of `Model/sandboxes.lua`, whose statements are code of several
/// sandboxes, and gives them functions that stop and close sandboxes.
final class SandboxPrograms {
  private let loop = Loop(clock: .virtual)
  private let host: LuaHost
  private var sandboxes: [LuaSandbox] = []
  /// For each sandbox, its function that calls a function as its code.
  private var callers: [LuaFunction] = []
  private var failure, lastReport: String?

  init() throws {
    host = try LuaHost(loop: loop, libraries: .safe)
    host.onError = { [unowned self] in
      lastReport = "\($0)"
      // Undo reports the keys that it leaves to others (X5).
      let isOfUndo = $0.error.message.hasPrefix("another script has written")
      if !$0.error.isStop, !$0.isHandled, !isOfUndo { failure = failure ?? lastReport }
    }
    loop.onError = { [unowned host] in host.report($0) }
    try host.set("stop") { [unowned host] () -> Void in host.interrupt() }
    try host.set("new_sandboxes") { [unowned self] (isUndone: Bool) -> Void in
      try makeSandboxes(isUndone: isUndone)
    }
    try host.set("enter") { [unowned self] (number: Int, body: LuaFunction) -> Void in
      try callers[number - 1].call(body)
    }
    try host.set("close") { [unowned self] (number: Int) in sandboxes[number - 1].close() }
    try host.set("resume") { [unowned self] (number: Int) in sandboxes[number - 1].resume() }
    try host.set("is_closed") { [unowned self] (number: Int) in sandboxes[number - 1].isClosed }
    try host.set("undo_stopped") { [unowned host] (roots: [LuaTable]) -> Void in
      try host.undoStoppedTurns(on: roots)
    }
    try giveLibraries()
  }

  /// Gives scripts of the host the functions that the programs need beyond the safe libraries.
  private func giveLibraries() throws {
    try host.set("run_file") { [unowned host] (path: String) in
      try host.run(file: path).first ?? .nil
    }
    try host.set("collect") { [unowned host] () -> Void in try host.state.collectGarbage() }
    try host.run(
      """
      local file
      function dofile(path)
        local outer = file
        file = path
        local result = run_file(path)
        file = outer
        return result
      end
      debug = { traceback = debug.traceback }
      function debug.getinfo() return { source = '@' .. file } end
      os = { getenv = function() end }
      function collectgarbage(what) return not what and collect() or 'incremental' end
      """)
  }

  /// Closes the former sandboxes and makes three new ones.
  ///
  /// With `isUndone` they have the limits of the host, which can undo turns in which they are
  /// stopped.
  private func makeSandboxes(isUndone: Bool) throws {
    for sandbox in sandboxes { sandbox.close() }
    try host.undoStoppedTurns(on: [])
    sandboxes = try [ScriptLimits.StopPolicy.endTurn, .pause, .close].map { policy in
      var limits = ScriptLimits()
      limits.whenStopped = policy
      return try host.sandbox(named: "\(policy)", limits: isUndone ? nil : limits)
    }
    callers = try sandboxes.map { sandbox in
      try sandbox.run("function call(body) body() end")
      guard let caller: LuaFunction = sandbox["call"] else { fatalError("no function") }
      return caller
    }
  }

  /// The first failure of a program, shortened as far as possible; nil if none fails.
  func failure(of seeds: Range<Int>) throws -> String? {
    failure = nil
    let folder = #filePath.dropLast("SandboxPrograms/SandboxPrograms.swift".count)
    try host.run(
      """
      arg = { \(seeds.lowerBound), \(seeds.count), 'sandboxes' }
      dofile '\(folder)LuaObservablesTests/Scripts/RandomPrograms.lua'
      """)
    while failure == nil, host.step() {}
    return failure ?? (host["is_done"] == true ? nil : "ended early: \(lastReport ?? "")")
  }
}
