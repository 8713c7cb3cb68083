import Foundation
import Lua
import LuaObservables
import Observables
import Testing
@testable import TreeMirrors
@testable import mirror_simulation

/// A host whose script has a copy of a mirrored tree.
final class Replica {
  let host: LuaHost
  let loop: Loop
  let (name, url): (String, String)
  let network: SimulatedNetwork?
  private(set) var errors: [String] = []

  init(
    on loop: Loop, name: String = "tree", at url: String, through network: SimulatedNetwork? = nil,
    _ options: String = "{}"
  ) throws {
    (self.loop, self.name, self.url, self.network) = (loop, name, url, network)
    host = try LuaHost(loop: loop)
    if let network { host.mirrorDefaults.network = network }
    host.mirrorDefaults.onWarning = { _ in }
    host.onError = { [unowned self] in errors.append("\($0)") }
    try host.set("replica", to: script(named: "replica"))
    try host.run("assert(load(replica, '=replica.lua'))('\(name)', '\(url)', \(options))")
  }

  func run(_ code: String) throws { try loop.turn { _ = try host.run(code) } }

  func text(_ expression: String) throws -> String {
    try host.run("return tostring(\(expression))")[0].description
  }

  var state: (state: String, pending: Int, version: Int) {
    get throws {
      let text = try text("table.concat({ status() }, ' ')").split(separator: " ")
      return (String(text[0]), Int(text[1]) ?? -1, Int(text[2]) ?? -1)
    }
  }
}

/// Runs the loop until the condition holds; fails if that takes five minutes.
func run(_ loop: Loop, until condition: () throws -> Bool) throws {
  let end = Date().addingTimeInterval(300)
  let clock = loop.every(0.02) {}
  defer { clock.stop() }
  var failure: (any Error)?
  var isDone = false
  loop.run(while: {
    do { isDone = try condition() } catch { failure = error }
    return !isDone && failure == nil && Date() < end
  })
  if let failure { throw failure }
  try #require(isDone, "what the test waits for did not happen")
}

/// Runs the loop until all copies have everything.
func settle(_ replicas: [Replica]) throws {
  let network = replicas[0].network
  func isQuiet() throws -> Bool {
    let states = try replicas.map { try $0.state }
    let version = states[0].version
    return try states.allSatisfy {
      $0.state == "live" && $0.pending == 0 && $0.version == version
    }
      && (network.map { try $0.server.version == version }
        ?? isNewest(version, of: replicas[0].name, at: replicas[0].url))
  }
  if let network {
    try network.run(until: isQuiet)
  } else {
    try run(replicas[0].loop, until: isQuiet)
  }
}

/// Expects two texts of trees to be the same; an issue shows where they begin to differ.
func expectSame(_ a: String, _ b: String, sourceLocation: SourceLocation = #_sourceLocation) {
  if a == b { return }
  let same = zip(a, b).prefix { $0 == $1 }.count
  func part(_ text: String) -> Substring { text.dropFirst(max(0, same - 80)).prefix(160) }
  Issue.record("\(part(a)) differs from \(part(b))", sourceLocation: sourceLocation)
}

/// Each copy counts under its own name, and appends its numbers to a list that all copies share.
let counting = """
  function count(name)
    root.b[name] = (root.b[name] or 0) + 1
    root.log[#root.log + 1] = name .. root.b[name]
  end
  function log() return table.concat(root.log, " ") end
  root.log, root.b = root.log or {}, root.b or {}
  """

func countingReplicas(
  _ count: Int, on loop: Loop, at url: String, through network: SimulatedNetwork? = nil,
  _ options: String = "{}"
) throws -> [Replica] {
  try (0..<count).map { _ in
    let replica = try Replica(on: loop, at: url, through: network, options)
    try settle([replica])
    try replica.run(counting)
    try settle([replica])
    return replica
  }
}

/// Lets each copy count once.
func count(in replicas: [Replica]) throws {
  for (number, replica) in replicas.enumerated() { try replica.run("count('r\(number)-')") }
}

/// Expects each copy's numbers in order, with none missing and none twice.
func expectCounts(_ count: Int, in replicas: [Replica]) throws {
  let log = try replicas[0].text("log()").split(separator: " ")
  for replica in replicas {
    expectSame(try replica.text("dump()"), try replicas[0].text("dump()"))
  }
  for number in replicas.indices {
    let own = log.filter { $0.hasPrefix("r\(number)-") }.map(String.init)
    #expect(own == (1...count).map { "r\(number)-\($0)" })
  }
}
