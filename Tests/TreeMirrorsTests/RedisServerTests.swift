import Foundation
import Observables
import Testing

/// A3, A5, A6: a test for each way in which real servers fail; the simulated network has the rest.
@Suite(.serialized) struct `Mirrors of redis-server` {
  @Test(arguments: ["always", "everysec"]) func `a server that is killed loses nothing`(
    policy: String
  ) throws {
    let server = try RedisServer(["--appendfsync", policy])
    let loop = Loop()
    let replicas = try countingReplicas(2, on: loop, at: server.url)
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

  @Test func `a follower that was away while the stream was cut takes the snapshot`() throws {
    let server = try RedisServer()
    let (loop, other) = (Loop(), Loop())
    let writer = try countingReplicas(1, on: loop, at: server.url, "{ keep = 3, snapshot = 5 }")[0]
    let follower = try Replica(on: other, at: server.url, "{ write = false }")
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

  @Test(
    arguments: [("FLUSHALL", "SYNC")] + ["s", "m", "w", "d"].map { ("DEL", "obs:{tree}:\($0)") })
  func `a server that has lost the tree or a part ends the mirror, and nothing is lost here`(
    command: String, argument: String
  ) throws {
    let server = try RedisServer()
    let loop = Loop()
    let replica = try countingReplicas(1, on: loop, at: server.url)[0]
    try replica.run("count('r0-')")
    try settle([replica])
    try server.command(command, argument)
    try run(loop) { try replica.state.state == "failed" }
    #expect(try replica.text("log()") == "r0-1")
    #expect(replica.errors.count == 1)
    #expect(replica.errors[0].contains("has lost the mirror 'tree'; nothing is lost here"))
    // A6: further writes are undone.
    try replica.run("count('r0-')")
    #expect(try replica.text("log()") == "r0-1")
    #expect(replica.errors.last?.contains("the write was taken back") == true)
    // A new mirror publishes the tree again.
    try replica.run(
      "mirror:stop() mirror = require 'obs'.mirror(root, 'tree', { url = '\(server.url)' })")
    try settle([replica])
    let other = try Replica(on: loop, at: server.url, "{ root = {} }")
    try settle([replica, other])
    #expect(try other.text("root.log[1]") == "r0-1")
  }

  // A6
  @Test func `a server that is full is followed, and is written when it has room`() throws {
    let server = try RedisServer(["--maxmemory-policy", "noeviction"])
    let loop = Loop()
    let replicas = try countingReplicas(2, on: loop, at: server.url)
    try server.command("CONFIG", "SET", "maxmemory", "1")
    for _ in 1...3 { try count(in: replicas) }
    // Both processes check the server again and again, and try one batch each time.
    try run(loop) {
      let statistics = try server.command("INFO", "errorstats")
      let count = statistics.split(separator: "OOM:count=").last?.prefix { $0.isNumber } ?? ""
      return Int(count) ?? 0 >= 8
    }
    for replica in replicas { #expect(try replica.state.state == "live") }
    try server.command("CONFIG", "SET", "maxmemory", "0")
    try settle(replicas)
    try expectCounts(3, in: replicas)
    for replica in replicas { #expect(replica.errors == []) }
  }

  @Test func `a server that is not there at first is found later`() throws {
    let server = try RedisServer()
    server.kill()
    let loop = Loop()
    let replica = try Replica(on: loop, at: server.url)
    try replica.run(counting)
    try replica.run("count('r0-')")
    for _ in 1...3 { loop.step() }
    #expect(try replica.state.state == "connecting")
    try server.start()
    try settle([replica])
    let other = try Replica(on: loop, at: server.url, "{ root = {} }")
    try settle([replica, other])
    expectSame(try replica.text("dump()"), try other.text("dump()"))
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

  @Test(arguments: [0, 3]) func `a replica that becomes the server may lack the last batches`(
    missing: Int
  ) throws {
    let server = try RedisServer()
    try server.command("CONFIG", "SET", "repl-diskless-sync-delay", "0")
    let heir = try RedisServer(["--replicaof", "127.0.0.1 \(server.port)"])
    let loop = Loop()
    let replicas = try countingReplicas(2, on: loop, at: server.url)
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
    try heir.command("CONFIG", "SET", "port", "\(server.port)")
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
  func `a write to a full disk is tried again`() throws {
    let server = try RedisServer(hasDisk: true)
    let loop = Loop()
    let replica = try countingReplicas(1, on: loop, at: server.url)[0]
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

  // A10
  @Test func `a user of one prefix of keys can mirror`() throws {
    let server = try RedisServer()
    let loop = Loop()
    try server.command(
      "ACL", "SETUSER", "mirror", "on", ">secret", "~obs:{tree}:*", "+@all", "-@dangerous",
      "+info")
    let url = "redis://mirror:secret@127.0.0.1:\(server.port)"
    let one = try Replica(on: loop, at: url)
    try settle([one])
    let two = try Replica(on: loop, name: "other", at: url)
    try run(loop) { try two.state.state == "failed" }
    #expect(two.errors.first?.contains("secret") == false)
    #expect(one.errors == [])
  }
}
