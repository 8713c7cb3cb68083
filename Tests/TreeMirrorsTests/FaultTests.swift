import Foundation
import LuaObservables
import Observables
import Testing

/// A3, A5, A6: what is acknowledged is never lost, doubled or out of order.
@Suite(.serialized) struct `Mirrors when something fails` {
  /// Each copy counts under its own name, and keeps the numbers in a list that both write.
  private static let counting = """
    function count(name)
      root.b[name] = (root.b[name] or 0) + 1
      root.log[#root.log + 1] = name .. root.b[name]
    end
    function log() return table.concat(root.log, " ") end
    root.log = root.log or {}
    """

  private func replicas(_ count: Int, on loop: Loop, at url: String, _ options: String = "{}")
    throws -> [Replica]
  {
    try (0..<count).map { number in
      let replica = try Replica(on: loop, seed: number + 1, at: url, options)
      try settle([replica])
      try replica.run(Self.counting)
      try settle([replica])
      return replica
    }
  }

  /// Lets each copy count once.
  private func count(in replicas: [Replica]) throws {
    for (number, replica) in replicas.enumerated() { try replica.run("count('r\(number)-')") }
  }

  /// Expects each copy's numbers in order, without one that is missing or doubled.
  private func expectCounts(_ count: Int, in replicas: [Replica]) throws {
    let log = try replicas[0].text("log()").split(separator: " ")
    for replica in replicas {
      expectSame(try replica.text("dump()"), try replicas[0].text("dump()"))
    }
    for number in replicas.indices {
      let own = log.filter { $0.hasPrefix("r\(number)-") }.map(String.init)
      #expect(own == (1...count).map { "r\(number)-\($0)" })
    }
  }

  @Test(arguments: ["always", "everysec"]) func `a server that is killed loses nothing`(
    policy: String
  ) throws {
    let server = try RedisServer(["--appendfsync", policy])
    let loop = Loop()
    let replicas = try replicas(2, on: loop, at: server.url)
    for round in 1...5 {
      for _ in 1...10 {
        try count(in: replicas)
        loop.step()
      }
      server.kill()
      try count(in: replicas)
      try run(loop) { try replicas.allSatisfy { try $0.state.state == "offline" } }
      try server.start()
      if round % 2 == 0 { try settle(replicas) }
    }
    try settle(replicas)
    try expectCounts(55, in: replicas)
    for replica in replicas { #expect(replica.errors == []) }
  }

  @Test func `connections that are cut after k bytes lose nothing`() throws {
    let server = try RedisServer()
    // Each attempt makes two connections. Later ones hold, so that all becomes quiet.
    let proxy = try CuttingProxy(to: server.port) { $0 <= 160 ? ($0 - 1) / 2 * 5 : nil }
    defer { proxy.close() }
    let loop = Loop()
    let replicas = try [
      Replica(on: loop, at: server.url),
      Replica(on: loop, seed: 2, at: proxy.url, "{}", delays: (0.001, 0.002)),
    ]
    try settle([replicas[0]])
    try replicas[0].run(Self.counting)
    try settle([replicas[0]])
    var count = 0
    try run(loop) {
      if count < 200 {
        count += 1
        try replicas[0].run("count('r0-')")
        if try replicas[1].state.version > 1 {
          try replicas[1].run("if not count then \(Self.counting) end count('r1-')")
        }
      }
      return proxy.connections > 160 && count == 200
    }
    try settle(replicas)
    let own = try replicas[1].text("root.b['r1-'] or 0")
    let log = try replicas[0].text("log()").split(separator: " ")
    #expect(log.filter { $0.hasPrefix("r0-") }.map(String.init) == (1...200).map { "r0-\($0)" })
    #expect(log.filter { $0.hasPrefix("r1-") }.count == Int(own))
    expectSame(try replicas[0].text("dump()"), try replicas[1].text("dump()"))
  }

  @Test func `bytes that come one by one are the same bytes`() throws {
    let server = try RedisServer()
    let proxy = try CuttingProxy(to: server.port, portion: 1)
    defer { proxy.close() }
    let loop = Loop()
    let replicas = try [
      Replica(on: loop, at: server.url), Replica(on: loop, seed: 2, at: proxy.url),
    ]
    for replica in replicas { try replica.run("act(20)") }
    try settle(replicas)
    expectSame(try replicas[0].text("dump()"), try replicas[1].text("dump()"))
  }

  @Test func `a follower that was away while the stream was cut takes the snapshot`() throws {
    let server = try RedisServer()
    let (loop, other) = (Loop(), Loop())
    let writer = try replicas(1, on: loop, at: server.url, "{ keep = 3, snapshot = 5 }")[0]
    let follower = try Replica(on: other, seed: 2, at: server.url, "{ write = false }")
    try settle([follower])
    try follower.run("kept = root.b")
    for _ in 1...300 {
      try writer.run("count('r0-')")
      try settle([writer])
    }
    try run(loop) { try writer.state.version == 301 }
    // Redis trims whole blocks of entries.
    #expect(Int(try server.command("XLEN", "obs:{tree}:s"))! < 250)
    try settle([follower, writer])
    expectSame(try follower.text("dump()"), try writer.text("dump()"))
    #expect(try follower.text("kept == root.b") == "true")
    #expect(follower.errors == [])
  }

  // A6
  @Test func `what is written while a state is downloaded is made once`() throws {
    let server = try RedisServer()
    let (loop, other) = (Loop(), Loop())
    let writer = try replicas(1, on: loop, at: server.url, "{ keep = 3, snapshot = 50 }")[0]
    let away = try replicas(1, on: other, at: server.url)[0]
    for _ in 1...310 {
      try writer.run("count('r0-')")
      try settle([writer])
    }
    // Batches that it lacks are no longer in the stream.
    var count = 0
    try run(other) {
      let isBehind = try away.state.version < 300
      if isBehind {
        count += 1
        try away.run("count('r1-')")
      }
      return !isBehind
    }
    try settle([away])
    try settle([writer, away])
    let log = try writer.text("log()").split(separator: " ").map(String.init)
    #expect(log.filter { $0.hasPrefix("r1-") } == (1...count).map { "r1-\($0)" })
    expectSame(try away.text("dump()"), try writer.text("dump()"))
  }

  @Test func `a writer that ends between send and answer sends again from its journal`() throws {
    let server = try RedisServer()
    let loop = Loop()
    let watcher = try replicas(1, on: loop, at: server.url)[0]
    let path = server.folder.appendingPathComponent("journal").path
    for round in 1...10 {
      let writer = try Replica(on: loop, seed: 2, at: server.url, "{ journal = '\(path)' }")
      try settle([writer])
      try writer.run(Self.counting)
      for _ in 1...5 { try writer.run("count('r1-')") }
      // The batches were sent or not, and acknowledged or not.
      for _ in 0..<round { loop.step() }
      try writer.abandon()
    }
    let last = try Replica(on: loop, seed: 2, at: server.url, "{ journal = '\(path)' }")
    try settle([last, watcher])
    let log = try watcher.text("log()").split(separator: " ").map(String.init)
    #expect(log == (1...50).map { "r1-\($0)" })
  }

  @Test func `a server that has lost everything ends the mirror, and nothing is lost here`() throws
  {
    let server = try RedisServer()
    let loop = Loop()
    let replica = try replicas(1, on: loop, at: server.url)[0]
    try replica.run("count('r0-')")
    try settle([replica])
    try server.command("FLUSHALL")
    try run(loop) { try replica.state.state == "failed" }
    #expect(try replica.text("log()") == "r0-1")
    #expect(replica.errors.count == 1)
    #expect(replica.errors[0].contains("has lost the mirror 'tree'; nothing is lost here"))
    // A6: further writes are taken back.
    try replica.run("count('r0-')")
    #expect(try replica.text("log()") == "r0-1")
    #expect(replica.errors.last?.contains("the write was taken back") == true)
    // A new mirror publishes the tree again.
    try replica.run(
      "mirror:stop() mirror = require 'obs'.mirror(root, 'tree', { url = '\(server.url)' })")
    try settle([replica])
    let other = try Replica(on: loop, seed: 2, at: server.url, "{ root = {} }")
    try settle([replica, other])
    #expect(try other.text("root.log[1]") == "r0-1")
  }

  // A6
  @Test func `a server that is full is followed, and is written when it has room`() throws {
    let server = try RedisServer(["--maxmemory-policy", "noeviction"])
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    let loop = Loop()
    let replicas = try replicas(2, on: loop, at: proxy.url)
    let connections = proxy.connections
    try server.command("CONFIG", "SET", "maxmemory", "1")
    for _ in 1...3 { try count(in: replicas) }
    // Both look at it again and again, and try one batch each time.
    try run(loop) {
      let statistics = try server.command("INFO", "errorstats")
      let count = statistics.split(separator: "OOM:count=").last?.prefix { $0.isNumber } ?? ""
      return Int(count) ?? 0 >= 8
    }
    for replica in replicas { #expect(try replica.state.state == "live") }
    #expect(proxy.connections == connections)
    try server.command("CONFIG", "SET", "maxmemory", "0")
    try settle(replicas)
    try expectCounts(3, in: replicas)
    for replica in replicas { #expect(replica.errors == []) }
  }

  // A6
  @Test func `what has come before a connection is cut does not come again`() throws {
    let server = try RedisServer()
    // The first ones tell the settings of the server.
    let proxy = try CuttingProxy(to: server.port) { $0 <= 2 ? 8000 : 700 }
    defer { proxy.close() }
    let loop = Loop()
    let replicas = try [
      Replica(on: loop, at: server.url),
      Replica(on: loop, seed: 2, at: proxy.url, "{ root = {} }", delays: (0.001, 0.002)),
    ]
    try settle([replicas[0]])
    try replicas[0].run(Self.counting + " root.text = ('x'):rep(20000)")
    try run(loop) { try replicas[1].text("#(root.text or '')") == "20000" }
    try replicas[1].run(Self.counting)
    for number in 1...260 {
      try count(in: replicas)
      if number == 100 { try replicas[0].run("root.text = ('y'):rep(10000)") }
    }
    try settle(replicas)
    try expectCounts(260, in: replicas)
    #expect(proxy.connections > 20)
    for replica in replicas { #expect(replica.errors == []) }
  }

  // A6
  @Test func `what has gone before a connection is cut does not go again`() throws {
    let server = try RedisServer()
    // The first ones load the scripts.
    let proxy = try CuttingProxy(to: server.port, clientLimit: { $0 <= 2 ? 10_000 : 3000 })
    defer { proxy.close() }
    let loop = Loop()
    // The first state is too large for a connection, too.
    let replicas = try [
      Replica(
        on: loop, at: proxy.url, "{ snapshot = 10, root = { text = ('x'):rep(20000) } }",
        delays: (0.001, 0.002)),
      Replica(on: loop, seed: 2, at: server.url, "{ root = {}, write = false }"),
    ]
    try run(loop) { try replicas[1].text("#(root.text or '')") == "20000" }
    try replicas[0].run(Self.counting + " root.b = {}")
    for number in 1...60 {
      try replicas[0].run("count('r0-')")
      if number == 20 { try replicas[0].run("root.text = ('y'):rep(20000)") }
    }
    // A snapshot arrives, too; it is continued after each acknowledgement.
    try run(loop) {
      if try replicas[0].state.pending == 0 { try replicas[0].run("count('r0-')") }
      return try server.command("HGET", "obs:{tree}:m", "at") != "0"
    }
    // An acknowledged batch may still be on its way to both.
    try run(loop) {
      let states = try replicas.map { try $0.state }
      return states[0].pending == 0 && states[0].version == states[1].version
        && isNewest(states[0].version, of: "tree", at: server.url)
    }
    expectSame(try replicas[0].text("dump()"), try replicas[1].text("dump()"))
    let count = try #require(Int(replicas[1].text("root.b['r0-']")))
    try expectCounts(count, in: [replicas[0]])
    #expect(proxy.connections > 20)
    for replica in replicas { #expect(replica.errors == []) }
  }

  @Test func `a server that is not there at first is found later`() throws {
    let server = try RedisServer()
    server.kill()
    let loop = Loop()
    let replica = try Replica(on: loop, at: server.url)
    try replica.run(Self.counting)
    try replica.run("count('r0-')")
    for _ in 1...3 { loop.step() }
    #expect(try replica.state.state == "connecting")
    try server.start()
    try settle([replica])
    let other = try Replica(on: loop, at: server.url, "{ root = {} }")
    try settle([replica, other])
    expectSame(try replica.text("dump()"), try other.text("dump()"))
  }

  @Test(arguments: [
    "\u{1}", "\u{3}\u{0}\u{0}\u{0}\u{0}", String(repeating: "x", count: 100), "",
    "\u{2}" + String(repeating: "\u{0}", count: 16) + String(repeating: "\u{7f}", count: 4),
  ])
  func `a malformed batch is an error that names it`(bytes: String) throws {
    let server = try RedisServer()
    let loop = Loop()
    let replica = try replicas(1, on: loop, at: server.url)[0]
    try server.command("XADD", "obs:{tree}:s", "2-1", "w", "someone", "n", "1", "b", bytes)
    try server.command("HSET", "obs:{tree}:m", "v", "2")
    try run(loop) { try replica.state.state == "failed" || replica.state.version == 2 }
    if bytes.isEmpty {
      #expect(try replica.state.state == "live")
    } else {
      #expect(replica.errors.first?.contains("batch 2 of writer someone is malformed") == true)
    }
  }

  @Test func `a wrong password and a server of another kind are errors`() throws {
    let server = try RedisServer(["--requirepass", "secret"])
    let loop = Loop()
    let wrong = try Replica(on: loop, at: "redis://:other@127.0.0.1:\(server.port)")
    try run(loop) { try wrong.state.state == "failed" }
    #expect(wrong.errors.first?.contains("WRONGPASS") == true)
    let right = try Replica(on: loop, name: "b", at: "redis://:secret@127.0.0.1:\(server.port)/3")
    try run(loop) { try right.state.state == "live" }
  }

  @Test func `after a server has lost batches, all copies have what it has`() throws {
    let server = try RedisServer()
    let (loop, other) = (Loop(), Loop())
    let writer = try replicas(1, on: loop, at: server.url)[0]
    let follower = try Replica(on: other, seed: 2, at: server.url, "{ root = {} }")
    try settle([follower])
    try server.saveData()
    try writer.run("count('r0-')")
    try settle([writer])
    try settle([follower])
    server.kill()
    try server.restoreData()
    try server.start()
    // The follower does not run: it meets another batch of the same version later.
    try run(loop) { writer.errors.contains { $0.contains("has lost 1 acknowledged batch") } }
    try writer.run("root.k = 'new'")
    try settle([writer])
    try run(other) { try follower.text("root.k") == "new" }
    expectSame(try follower.text("dump()"), try writer.text("dump()"))
  }

  /// How a server becomes silent, while its connections stay.
  enum Silence: CaseIterable { case network, server }

  @Test(arguments: Silence.allCases) func `a connection that is silent is given up`(
    silence: Silence
  ) throws {
    let server = try RedisServer()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    func set(_ isSilent: Bool) {
      switch silence {
      case .network: proxy.isStalled = isSilent
      case .server: server.isPaused = isSilent
      }
    }
    let loop = Loop()
    let replicas = try replicas(2, on: loop, at: proxy.url)
    try count(in: replicas)
    set(true)
    try count(in: replicas)
    loop.step()
    try count(in: replicas)
    try run(loop) { try replicas.allSatisfy { try $0.state.state == "offline" } }
    // What the given up connections have sent arrives after all, beside what is sent again.
    set(false)
    try settle(replicas)
    try expectCounts(3, in: replicas)
    for replica in replicas { #expect(replica.errors == []) }
  }

  @Test(arguments: [0, 3]) func `a replica that becomes the server may lack the last batches`(
    missing: Int
  ) throws {
    let server = try RedisServer()
    try server.command("CONFIG", "SET", "repl-diskless-sync-delay", "0")
    let heir = try RedisServer(["--replicaof", "127.0.0.1 \(server.port)"])
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.close() }
    let loop = Loop()
    let replicas = try replicas(2, on: loop, at: proxy.url)
    for _ in 1...5 {
      try count(in: replicas)
      try settle(replicas)
    }
    try run(loop) {
      try heir.command("HGET", "obs:{tree}:m", "v") == "\(replicas[0].state.version)"
    }
    try heir.command("REPLICAOF", "NO", "ONE")
    for _ in 0..<missing {
      try replicas[0].run("count('r0-')")
      try settle(replicas)
    }
    server.kill()
    proxy.server = heir.port
    try count(in: replicas)
    try run(loop) { try replicas.allSatisfy { try $0.state.state == "live" } }
    try settle(replicas)
    expectSame(try replicas[0].text("dump()"), try replicas[1].text("dump()"))
    #expect(replicas[1].errors == [])
    if missing == 0 {
      try expectCounts(6, in: replicas)
      #expect(replicas[0].errors == [])
    } else {
      #expect(replicas[0].errors.count == 1)
      #expect(replicas[0].errors[0].contains("has lost \(missing) acknowledged batches"))
    }
  }

  @Test(
    .enabled(
      if: RedisServer.mayHaveDisk,
      "a disk that only the server sees needs rights that this user has not"))
  func `a disk that is full is tried again`() throws {
    let server = try RedisServer(hasDisk: true)
    let loop = Loop()
    let replica = try replicas(1, on: loop, at: server.url)[0]
    let filler = server.disk.appendingPathComponent("filler")
    try Data().write(to: filler)
    let file = try FileHandle(forWritingTo: filler)
    #expect(throws: (any Error).self) {
      while true { try file.write(contentsOf: Data(count: 4096)) }
    }
    try file.close()
    // The server notices it with the first write, and refuses the next one.
    try replica.run("root.text = ('x'):rep(10000) count('r0-')")
    try run(loop) { try replica.state.pending == 0 }
    try replica.run("count('r0-')")
    try run(loop) { try server.command("INFO", "errorstats").contains("MISCONF") }
    #expect(try replica.state.state == "live")
    try FileManager.default.removeItem(at: filler)
    try settle([replica])
    try expectCounts(2, in: [replica])
    #expect(replica.errors == [])
  }

  @Test func `two writers of the same keys and lists end with the same tree`() throws {
    let server = try RedisServer()
    let loop = Loop()
    let replicas = try [
      Replica(on: loop, at: server.url, "{ keep = 100000, snapshot = 100000 }"),
      Replica(on: loop, seed: 2, at: server.url, "{ root = {} }"),
    ]
    try settle(replicas)
    let writes = """
      for _ = 1, 5 do
        n = (n or 0) + 1
        root.k, root.b.n = n, n
        table.insert(root.a, n % 3 + 1, n)
        if #root.a > 20 then table.remove(root.a, n % 7 + 1) end
        root.a[n % #root.a + 1] = -n
      end
      """
    for _ in 1...500 {
      for replica in replicas { try replica.run(writes) }
      loop.step()
    }
    try settle(replicas)
    let last = try Replica(on: loop, at: server.url, "{ root = {}, write = false }")
    try settle(replicas + [last])
    let dump = try last.text("dump()")
    for replica in replicas {
      expectSame(try replica.text("dump()"), dump)
      #expect(replica.errors == [])
    }
    #expect(try Int(server.command("XLEN", "obs:{tree}:s")) == last.state.version)
  }
}
