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
    /// The server removes the keys of a kind.
    case evict(String)
    /// The server lacks memory or disk space from now on.
    case fail(String)
  }

  struct Schedule {
    let seed: Int
    let setups: [Setup]
    /// Whether to find out at the end if turns leave something in memory.
    var measuresMemory: Bool
    var steps: [Step]
  }

  private let schedule: Schedule
  private let loop = Loop(clock: .virtual)
  private let network: SimulatedNetwork
  private let host: LuaHost
  private let folder: String
  private var running: Set<Int> = []
  private var errors: [String] = []
  /// Whether the server has lost the tree.
  private var hasLostTree = false
  /// Parts of errors that may come.
  ///
  /// Undo reports the keys that it leaves to others (X5).
  private var expected: Set = ["so its value stays"]

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
    let evicts = pick(8) == 0
    let setups = (0..<count).map { _ in
      let (hasHistory, hasJournal, checks) = (pick(3) == 0, pick(3) > 0, pick(10) == 0)
      return Setup(
        options: trims ? "snapshot = 5, keep = 3" : "snapshot = \([20, 1000][pick(2)])",
        more: "{ history = \(hasHistory), watchers = \(hasWatchers) }",
        hasJournal: hasJournal, checks: checks)
    }
    var steps: [Step] = []
    for _ in 0..<10 + pick(40) {
      if evicts, pick(15) == 0 { steps.append(.evict(["s", "m", "w", "d", "p", "u"][pick(6)])) }
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
    // Such processes keep few batches on the server.
    let measuresMemory = trims && count == 3 && seed % 50 == 25
    return Schedule(seed: seed, setups: setups, measuresMemory: measuresMemory, steps: steps)
  }

  /// The first failure of a schedule, shortened as far as possible; nil if none fails.
  ///
  /// Memory can only be measured in a process that does nothing else.
  static func failure(of seeds: Range<Int>, measuringMemory: Bool = false) throws -> String? {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for seed in seeds {
      var schedule = schedule(seed)
      schedule.measuresMemory = schedule.measuresMemory && measuringMemory
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
    let first = result(of: schedule, in: folder)
    // A failure can only be debugged if the same seed repeats it.
    if first.problem != nil || schedule.seed % 10 > 0 { return first.problem }
    let second = result(of: schedule, in: folder)
    if let problem = second.problem { return "in a second run: \(problem)" }
    return second.traffic == first.traffic ? nil : "a second run sends other bytes"
  }

  private struct Result {
    var problem: String?
    /// The hash of all bytes that were sent.
    var traffic: UInt64?
  }

  private static func result(of schedule: Schedule, in folder: String) -> Result {
    do {
      let simulation = try Simulation(schedule, in: folder)
      defer { simulation.host.close() }
      return try Result(problem: simulation.run(), traffic: simulation.network.traffic)
    } catch { return Result(problem: "\(error)") }
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
    for _ in schedule.setups
    where try hasLostTree && call("mirror_again", [.boolean(network.server.version >= 0)]) == [true]
    {
      try becomeQuiet()
    }
    try start(schedule.setups.count, "write = false", "{}")
    try becomeQuiet()
    let batches = try network.server.call("batches")
    // It may contain bytes of keys that are not UTF-8.
    let verdict = try "\(LuaString(luaValue: call("verdict", batches)[0]))"
    if let problem = problem ?? (verdict.isEmpty ? nil : verdict) { return problem }
    return schedule.measuresMemory ? try growth(objects: 0) ?? growth(objects: 50) : nil
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
      try noteLosses { try network.restartServer(missing: missing) }
    case .evict(let kind):
      try noteLosses { try network.server.call("evict", .string(LuaString(kind))) }
    case .fail(let what): try network.server.call("fail", .string(LuaString(what)))
    }
  }

  /// Notes what the server loses.
  private func noteLosses(_ body: () throws -> Void) throws {
    let (batches, version) = try (network.server.call("batches"), network.server.version)
    try body()
    let newVersion = try network.server.version
    if newVersion == version { return }
    expected.insert("has lost")
    if newVersion < 0 {
      hasLostTree = true
      expected.formUnion(["has failed", "was published anew", "belongs to a state"])
    }
    try call("lose", Array(batches.dropFirst(max(0, newVersion))))
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
    func isQuiet() throws -> Bool {
      try call("is_quiet", [.integer(Int64(network.server.version))]) == [.boolean(true)]
    }
    do {
      try network.run(until: isQuiet)
      guard hasLostTree else { return }
      // Within two seconds, each process looks whether the server has another tree.
      try network.pass(2)
      try network.run(until: isQuiet)
    } catch { throw LuaError("\(error): \(try host.run("return states()")) \(errors)") }
  }

  /// Names something that grew in each of four rounds of adding and removing objects; nil if
  /// nothing did.
  private func growth(objects: Int) throws -> String? {
    var sizes = try sizes()
    var growing = Set(sizes.keys)
    for _ in 0..<4 {
      for turn in 0..<30 {
        for process in schedule.setups.indices {
          let arguments: [LuaValue] = [
            .integer(Int64(process)), "fill", .boolean(turn % 2 == 0),
            .integer(Int64(objects)),
          ]
          try loop.turn { try call("call", arguments) }
        }
        if turn % 7 == 0 { try becomeQuiet() }
      }
      try becomeQuiet()
      let former = sizes
      sizes = try self.sizes()
      // The C library keeps a little, but a turn or an object that is kept takes at least 64 bytes.
      let least = 64 * 30 * schedule.setups.count * (1 + objects / 2)
      growing = growing.filter { sizes[$0, default: 0] - former[$0, default: 0] >= least }
    }
    return growing.first.map { "\($0) grows with the number of turns" }
  }

  /// The bytes that are in use, without garbage.
  private func sizes() throws -> [String: Int] {
    let server = try Int(luaValue: network.server.call("size")[0])
    let scripts = try Int(luaValue: host.run("return size()")[0])
    let journals = schedule.setups.indices.reduce(0) { sum, process in
      let file = try? FileManager.default.attributesOfItem(atPath: journal(process))
      return sum + (file?[.size] as? Int ?? 0)
    }
    return [
      "the memory of scripts": scripts, "the size of journals": journals,
      "the size of the server": server, "the heap": heapSize(),
    ]
  }

  /// An error that is not expected.
  private var problem: String? {
    errors.first { error in !expected.contains { error.contains($0) } }
  }
}

/// The bytes of the C heap in use; 0 on systems without glibc.
private func heapSize() -> Int {
  typealias Function = @convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt
  var (buffer, count): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
  guard let function = dlsym(nil, "malloc_info"), let file = open_memstream(&buffer, &count)
  else { return 0 }
  _ = unsafeBitCast(function, to: Function.self)(0, file)
  fclose(file)
  defer { free(buffer) }
  // The totals of all arenas are behind the last one.
  let totals = String(cString: buffer!).components(separatedBy: "</heap>").last ?? ""
  func total(_ type: String) -> Int {
    let line = totals.components(separatedBy: "type=\"\(type)\"").dropFirst().first
    return line?.components(separatedBy: "size=\"").dropFirst().first
      .flatMap { Int($0.prefix(while: \.isNumber)) } ?? 0
  }
  return total("current") + total("mmap") - total("fast") - total("rest")
}

/// The text of a Lua script of these tests.
func script(named name: String) -> String {
  try! String(
    contentsOfFile: #filePath.replacingOccurrences(
      of: "Simulation.swift", with: "Scripts/\(name).lua"), encoding: .utf8)
}
