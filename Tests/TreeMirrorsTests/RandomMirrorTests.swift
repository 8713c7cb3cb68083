import Foundation
import Observables
import TestSupport
import Testing

/// A2: random programs in several copies of a tree, which become equal, with transactions,
/// histories, watchers and computed properties.
@Suite(.serialized) struct `Mirrors of random programs` {
  private static let seeds = {
    let environment = ProcessInfo.processInfo.environment
    let first = Int(environment["OBS_FIRST"] ?? "") ?? 1
    return first..<(first + (Int(environment["OBS_SEEDS"] ?? "") ?? 12))
  }()

  // A4: what nobody has removed from a list is in a list, once.
  private func expectNothingLost(in replicas: ArraySlice<Replica>, mayDouble: Bool) throws {
    func elements(_ which: String, _ replica: Replica) throws -> [String: Int] {
      var counts: [String: Int] = [:]
      for part in try replica.text("elements_in('\(which)')").split(separator: " ") {
        let parts = part.split(separator: "=")
        counts[String(parts[0])] = Int(parts[1])
      }
      return counts
    }
    // The values that are there at first.
    var least = ["1": 2, "2": 2, "3": 1, "4": 1]
    for replica in replicas {
      least.merge(try elements("made", replica)) { $0 + $1 }
      least.merge(try elements("removed", replica).mapValues { -$0 }) { $0 + $1 }
    }
    let found = try elements("lists", replicas[0])
    for (name, count) in least where count > 0 {
      #expect(found[name, default: 0] >= count, "\(name) is lost")
    }
    if mayDouble { return }
    for (name, count) in found where name.hasPrefix("e") {
      #expect(count == 1, "\(name) is doubled")
    }
  }

  @Test(arguments: seeds) func `all copies become equal, and equal to the fold of the stream`(
    seed: Int
  ) throws {
    let server = try RedisServer()
    let loop = Loop()
    var random = SeededGenerator(seed: seed)
    let options = ["snapshot = 5, keep = 3", "snapshot = 1000", "key = 'n'"]
    var replicas: [Replica] = []
    var mayDouble = false
    for number in 1...3 {
      let hasHistory = Bool.random(using: &random)
      // Undo may bring an element back that others have kept.
      if hasHistory { mayDouble = true }
      // What watchers write has to be the same everywhere.
      let hasWatchers = seed % 2 == 0
      replicas.append(
        try Replica(
          on: loop, seed: seed * 100 + number, at: server.url,
          "{ \(options.randomElement(using: &random)!), "
            + "lists = true, history = \(hasHistory), watchers = \(hasWatchers) }"))
      if Bool.random(using: &random) { try settle(replicas) }
    }
    for _ in 1...60 {
      let replica = replicas.randomElement(using: &random)!
      try replica.run("act(\(Int.random(in: 1...4, using: &random)))")
      // Sometimes others' batches come in between.
      if Bool.random(using: &random) { _ = loop.step() }
      if Int.random(in: 1...15, using: &random) == 1 { try settle(replicas) }
    }
    try settle(replicas)
    replicas.append(try Replica(on: loop, at: server.url, "{ root = {}, write = false }"))
    try settle(replicas)
    let dumps = try replicas.map { try $0.text("dump()") }
    for dump in dumps { expectSame(dump, dumps[0]) }
    try expectNothingLost(in: replicas[..<3], mayDouble: mayDouble)
    for replica in replicas {
      // Undo reports the keys that it leaves to others (X5).
      #expect(replica.errors.filter { !$0.contains("so its value stays") } == [])
      let wrong = try replica.text("wrong()")
      #expect(wrong == "")
    }
    for replica in replicas { try replica.run("mirror:stop()") }
  }
}
