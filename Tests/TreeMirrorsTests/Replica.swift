import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// A host whose script has a copy of a mirrored tree.
final class Replica {
  let host: LuaHost
  let loop: Loop
  let (name, url): (String, String)
  private(set) var errors: [String] = []
  private static let script = try! String(
    contentsOfFile: #filePath.replacingOccurrences(
      of: "Replica.swift", with: "Scripts/replica.lua"), encoding: .utf8)

  init(
    on loop: Loop, seed: Int = 1, name: String = "tree", at url: String, _ options: String = "{}",
    delays: (Double, Double)? = nil
  ) throws {
    (self.loop, self.name, self.url) = (loop, name, url)
    host = try LuaHost(loop: loop)
    if let delays { host.mirrorDelays = delays }
    host.onError = { [unowned self] in errors.append("\($0)") }
    try host.set("replica", to: Replica.script)
    try host.run(
      "assert(load(replica, '=replica.lua'))(\(seed), '\(name)', '\(url)', \(options))")
  }

  func run(_ code: String) throws { try loop.turn { _ = try host.run(code) } }

  /// Ends the mirror as the end of its process would.
  func abandon() throws { host.close() }

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
  try run(replicas[0].loop) {
    let states = try replicas.map { try $0.state }
    return states.allSatisfy {
      $0.state == "live" && $0.pending == 0 && $0.version == states[0].version
    } && isNewest(states[0].version, of: replicas[0].name, at: replicas[0].url)
  }
}

/// Expects two texts of trees to be the same; an issue shows where they begin to differ.
func expectSame(_ a: String, _ b: String, sourceLocation: SourceLocation = #_sourceLocation) {
  if a == b { return }
  let same = zip(a, b).prefix { $0 == $1 }.count
  func part(_ text: String) -> Substring { text.dropFirst(max(0, same - 80)).prefix(160) }
  Issue.record("\(part(a)) differs from \(part(b))", sourceLocation: sourceLocation)
}
