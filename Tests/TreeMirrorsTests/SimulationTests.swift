import Foundation
import Lua
import Observables
import TestSupport
import Testing
@testable import mirror_simulation

/// A2–A9: processes, a server and a network that do what a seed says.
@Suite struct `Mirrors in a simulated network` {
  /// `OBS_SEED` sets the first seed, and `OBS_COUNT` the number of seeds.
  ///
  /// `Scripts/test` runs 5,000 schedules with optimized code.
  @Test func `all trees have the contents that the server's batches give them`() throws {
    let failure = try Simulation.failure(of: Size.seeds(200, light: 100))
    #expect(failure == nil, "\(failure ?? "")")
  }

  private let loop = Loop(clock: .virtual)
  private let network: SimulatedNetwork

  init() throws { network = try SimulatedNetwork(on: loop) }

  private func replica(_ options: String) throws -> Replica {
    try Replica(on: loop, at: network.url, through: network, options)
  }

  // A6
  @Test func `data received before a connection is cut is not received again`() throws {
    let writer = try replica("{}")
    try settle([writer])
    try writer.run(counting + " root.text = ('x'):rep(20000)")
    // The first connections read the settings of the server.
    network.limits = { (.max, $0 <= 4 ? 8000 : 700) }
    let reader = try replica("{ root = {} }")
    try network.run { try reader.text("#(root.text or '')") == "20000" }
    try reader.run(counting)
    for number in 1...260 {
      try count(in: [writer, reader])
      if number == 100 { try writer.run("root.text = ('y'):rep(10000)") }
    }
    try settle([writer, reader])
    try expectCounts(260, in: [writer, reader])
    #expect(network.connections > 20)
    #expect(writer.errors + reader.errors == [])
  }

  // A6
  @Test func `data sent before a connection is cut is not sent again`() throws {
    let reader = try replica("{ root = {}, write = false }")
    try network.pass(0)
    // The first connections load the scripts. The first state is too large for one connection.
    network.limits = { ($0 <= 4 ? 10_000 : 3000, .max) }
    let writer = try replica("{ snapshot = 10, root = { text = ('x'):rep(20000) } }")
    try network.run { try reader.text("#(root.text or '')") == "20000" }
    try writer.run(counting)
    for number in 1...60 {
      try count(in: [writer])
      if number == 20 { try writer.run("root.text = ('y'):rep(20000)") }
    }
    // A snapshot arrives, too; it is continued after each acknowledgement.
    var more = 0
    try network.run {
      guard try writer.state.pending == 0 else { return false }
      if try network.server.call("snapshot_version")[0] != .string("0") { return true }
      more += 1
      try count(in: [writer])
      return false
    }
    try settle([writer, reader])
    try expectCounts(60 + more, in: [writer])
    expectSame(try writer.text("dump()"), try reader.text("dump()"))
    #expect(network.connections > 20)
    #expect(writer.errors + reader.errors == [])
  }

  // A6
  @Test(arguments: ["memory", "disk"]) func `a full server is followed on the same connections`(
    lack: String
  ) throws {
    let replicas = try countingReplicas(2, on: loop, at: network.url, through: network)
    let connections = network.connections
    try network.server.call("fail", .string(.init(lack)))
    for _ in 1...3 { try count(in: replicas) }
    for _ in 1...20 {
      try network.pass(1)
      while try network.deliver(way: 0, bytes: .max) {}
    }
    for replica in replicas {
      let state = try replica.state
      #expect(state.state == "live" && state.pending == 3)
    }
    #expect(network.connections == connections)
    try network.server.call("fail", "")
    try settle(replicas)
    try expectCounts(3, in: replicas)
    for replica in replicas { #expect(replica.errors == []) }
  }

  // A2
  @Test func `many own batches are applied again behind those of others`() throws {
    let one = try replica("{}")
    try settle([one])
    let two = try replica("{ root = {} }")
    try settle([one, two])
    let writes = """
      n = (n or 0) + 1
      root.k, root.b.n = n, n
      table.insert(root.a, n % 3 + 1, n)
      if #root.a > 20 then table.remove(root.a, n % 7 + 1) end
      root.a[n % #root.a + 1] = -n
      """
    for _ in 1...300 { for replica in [one, two] { try replica.run(writes) } }
    try settle([one, two])
    #expect(try one.state.version == 600)
    expectSame(try one.text("dump()"), try two.text("dump()"))
    #expect(one.errors + two.errors == [])
  }

  private func newJournal() -> String {
    FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
  }

  // A7
  @Test func `a stopped mirror unlocks its journal, though a new process has its descriptors`()
    throws
  {
    let journal = newJournal()
    let options = "{ journal = '\(journal)' }"
    let mirror = try replica(options)
    try mirror.run("root.b.x = 1")
    var file = stat()
    #expect(stat(journal, &file) == 0)
    // What a process has between `fork` and `exec`.
    let copies = (0..<1024).compactMap { (descriptor: CInt) -> CInt? in
      var other = stat()
      guard fstat(descriptor, &other) == 0, other.st_ino == file.st_ino,
        other.st_dev == file.st_dev
      else { return nil }
      return dup(descriptor)
    }
    defer { for copy in copies { close(copy) } }
    #expect(!copies.isEmpty)
    try mirror.run("mirror:stop()")
    _ = try replica(options)
  }

  // A3, A7
  @Test func `after a server has lost batches, a journal's writer uses no number twice`() throws {
    let journal = "{ journal = '\(newJournal())' }"
    let first = try replica(journal)
    let other = try countingReplicas(1, on: loop, at: network.url, through: network)[0]
    try first.run("root.b.x = 1")
    try settle([first, other])
    // The process ends before this batch is sent, and the server loses the previous one.
    try first.run("root.b.x, root.b.y = 2, 2")
    try first.run("mirror:stop()")
    for stream in 0..<4 { try network.cut(stream, arrives: false) }
    try network.restartServer(missing: 1)
    let second = try replica(journal)
    try settle([second, other])
    #expect(try other.text("root.b.x .. root.b.y") == "22")
    expectSame(try second.text("dump()"), try other.text("dump()"))
  }

  // A7
  @Test func `a batch that a server has acknowledged and lost is sent again`() throws {
    let writer = try countingReplicas(1, on: loop, at: network.url, through: network)[0]
    try count(in: [writer])
    // The acknowledgement arrives, but the batch does not.
    while try writer.state.pending > 0 { try network.deliver(way: 0, bytes: .max) }
    try network.restartServer(missing: 1)
    try network.server.call("fail", "disk")
    for _ in 1...20 {
      try network.pass(1)
      while try network.deliver(way: 0, bytes: .max) {}
    }
    #expect(try writer.state.pending == 1)
    try network.server.call("fail", "")
    try settle([writer])
    try expectCounts(1, in: [writer])
    #expect(try network.server.version == 2)
  }
}
