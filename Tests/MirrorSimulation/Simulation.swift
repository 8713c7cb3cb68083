import Foundation
import Lua
import LuaObservables
import Observables
import TestSupport
import TreeMirrors

/// Processes that mirror a tree, their server and their network, in one process and in virtual
/// time, so that a seed alone decides what happens and in which order.
final class Simulation {
  /// The options of a process, at each start.
  struct Setup {
    let options: String
    /// Whether it has a history, and watchers that write.
    let more: String
    let hasJournal, checks: Bool
  }

  enum Step {
    case edit(process: Int, seed: Int)
    /// Lets bytes of one of the connections arrive.
    case deliver(way: Int, bytes: Int)
    case pass(seconds: Double)
    case cut(connection: Int, arrives: Bool)
    /// Ends a process, perhaps while it writes to its journal.
    case stop(process: Int, isTorn: Bool)
    case start(process: Int)
    /// Ends the server; it starts again without its last commands, or its replica does.
    case restartServer(missing: Int)
    /// The server lacks memory or disk space from now on.
    case fail(String)
  }

  struct Schedule {
    let seed: Int
    let setups: [Setup]
    var steps: [Step]
  }

  private let schedule: Schedule
  private let loop = Loop(clock: .virtual)
  private let network: SimulatedNetwork
  private let host: LuaHost
  private let folder: String
  private var running: Set<Int> = []
  private var errors: [String] = []
  /// Whether the server has lost acknowledged batches.
  private var hasLost = false

  private init(_ schedule: Schedule, in folder: String) throws {
    (self.schedule, self.folder) = (schedule, folder)
    network = try SimulatedNetwork(on: loop, seed: schedule.seed)
    host = try LuaHost(loop: loop)
    host.onError = { [unowned self] in errors.append("\($0)") }
    host.mirrorDefaults.network = network
    host.mirrorDefaults.onWarning = { _ in }
    try host.set("replica", to: script(named: "replica"))
    try host.set("script", to: script(named: "process"))
    try host.set("simulation", to: script(named: "oracle"))
    try host.run("assert(load(simulation, '=oracle.lua'))(replica, script)")
    for process in schedule.setups.indices {
      try? FileManager.default.removeItem(atPath: journal(process))
      try start(process)
    }
  }

  // MARK: Schedules

  /// The schedule of a seed.
  static func schedule(_ seed: Int) -> Schedule {
    var random = SeededGenerator(seed: seed)
    func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    let count = [2, 2, 2, 2, 2, 3, 3, 4, 5][pick(9)]
    let hasWatchers = pick(4) == 0
    let trims = pick(2) == 0
    let setups = (0..<count).map { _ in
      let (hasHistory, hasJournal, checks) = (pick(3) == 0, pick(3) > 0, pick(10) == 0)
      return Setup(
        options: trims ? "snapshot = 5, keep = 3" : "snapshot = \([20, 1000][pick(2)])",
        more: "{ history = \(hasHistory), watchers = \(hasWatchers) }",
        hasJournal: hasJournal, checks: checks)
    }
    var steps: [Step] = []
    for _ in 0..<10 + pick(40) {
      switch pick(100) {
      case 0..<30: steps.append(.edit(process: pick(count), seed: pick(1 << 30)))
      case 30..<45:
        for _ in 0...pick(8) { steps.append(.deliver(way: pick(1 << 16), bytes: .max)) }
      case 45..<75: steps.append(.deliver(way: pick(1 << 16), bytes: 1 + pick(300)))
      case 75..<84: steps.append(.pass(seconds: [0.01, 0.1, 1, 3, 12][pick(5)]))
      case 84..<90: steps.append(.cut(connection: pick(100), arrives: pick(2) == 0))
      case 90..<94: steps.append(.stop(process: pick(count), isTorn: pick(2) == 0))
      case 94..<97: steps.append(.start(process: pick(count)))
      case 97: steps.append(.restartServer(missing: pick(2) * pick(10)))
      default: steps.append(.fail(["memory", "disk", ""][pick(3)]))
      }
    }
    return Schedule(seed: seed, setups: setups, steps: steps)
  }

  /// The first failure of a schedule, shortened as far as possible; nil if none fails.
  static func failure(of seeds: Range<Int>) throws -> String? {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for seed in seeds {
      var schedule = schedule(seed)
      func problem(_ steps: [Step]) -> String? {
        schedule.steps = steps
        return Simulation.problem(of: schedule, in: folder.path)
      }
      if let failure = smallestFailure(of: schedule.steps, problem) {
        return "seed \(seed)\n  \(schedule.setups)\n\(failure)"
      }
    }
    return nil
  }

  /// The failure of a schedule; nil if nothing is wrong.
  private static func problem(of schedule: Schedule, in folder: String) -> String? {
    do {
      let simulation = try Simulation(schedule, in: folder)
      defer { simulation.host.close() }
      return try simulation.run()
    } catch { return "\(error)" }
  }

  // MARK: Steps

  private func run() throws -> String? {
    for step in schedule.steps {
      try make(step)
      if let problem { return "after \(step): \(problem)" }
    }
    try network.server.call("fail", "")
    for process in schedule.setups.indices where !running.contains(process) { try start(process) }
    try becomeQuiet()
    try start(schedule.setups.count, "write = false", "{}")
    try becomeQuiet()
    let batches = try network.server.call("batches")
    // It may contain bytes of keys that are not UTF-8.
    let verdict = try "\(LuaString(luaValue: call("verdict", batches)[0]))"
    return problem ?? (verdict.isEmpty ? nil : verdict)
  }

  private func make(_ step: Step) throws {
    switch step {
    case .edit(let process, let seed):
      guard running.contains(process) else { return }
      try loop.turn {
        try call("call", [.integer(Int64(process)), "act", .integer(Int64(seed))])
      }
      try call("call", [.integer(Int64(process)), "acted"])
    case .deliver(let way, let bytes): try network.deliver(way: way, bytes: bytes)
    case .pass(let seconds): try network.pass(seconds)
    case .cut(let connection, let arrives): try network.cut(connection, arrives: arrives)
    case .stop(let process, let isTorn): try stop(process, isTorn: isTorn)
    case .start(let process): if !running.contains(process) { try start(process) }
    case .restartServer(let missing):
      let before = try network.server.call("batches")
      try network.restartServer(missing: missing)
      let lost = before.dropFirst(try max(0, network.server.version))
      if !lost.isEmpty {
        hasLost = true
        try call("lose", Array(lost))
      }
    case .fail(let what): try network.server.call("fail", .string(LuaString(what)))
    }
  }

  @discardableResult
  private func call(_ name: String, _ arguments: [LuaValue]) throws -> [LuaValue] {
    guard case .function(let function) = host[name] as LuaValue else { return [] }
    return try function.callPlainly(arguments: arguments)
  }

  private func journal(_ process: Int) -> String { "\(folder)/\(process)" }

  private func start(_ process: Int) throws {
    let setup = schedule.setups[process]
    let journal = setup.hasJournal ? ", journal = '\(journal(process))'" : ""
    try start(process, "\(setup.options), check = \(setup.checks)\(journal)", setup.more)
  }

  private func start(_ process: Int, _ options: String, _ more: String) throws {
    running.insert(process)
    let url = "url = 'redis://127.0.0.1:\(process + 1)'"
    try loop.turn { _ = try host.run("start(\(process), { \(url), \(options) }, \(more))") }
  }

  private func stop(_ process: Int, isTorn: Bool) throws {
    guard running.remove(process) != nil else { return }
    let setup = schedule.setups[process]
    try loop.turn {
      try call("stop", [.integer(Int64(process)), .boolean(setup.hasJournal)])
    }
    guard isTorn, let file = FileHandle(forUpdatingAtPath: journal(process)) else { return }
    // The beginning of a batch that was never sent.
    if try file.seekToEnd() > 0 { try file.write(contentsOf: Data([9, 0, 0, 0, 0])) }
    try file.close()
  }

  /// Delivers all bytes and lets time pass until all processes are quiet.
  private func becomeQuiet() throws {
    do {
      try network.run {
        try call("is_quiet", [.integer(Int64(network.server.version))]) == [.boolean(true)]
      }
    } catch { throw LuaError("\(error): \(try host.run("return states()")) \(errors)") }
  }

  /// An error that is not expected.
  private var problem: String? {
    errors.first { error in
      // Undo reports the keys that it leaves to others (X5).
      if error.contains("so its value stays") { return false }
      return !hasLost || !error.contains("has lost")
    }
  }
}

/// The text of a Lua script of these tests.
func script(named name: String) -> String {
  try! String(
    contentsOfFile: #filePath.replacingOccurrences(
      of: "Simulation.swift", with: "Scripts/\(name).lua"), encoding: .utf8)
}
