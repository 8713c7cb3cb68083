import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// A model that counts its instances.
private final class Token: ObservableModel {
  final class Count { var alive = 0 }
  static let properties = ModelProperties(for: Token.self) {
    Property("value", get: { $0.value }, set: { $0.value = $1 })
    Property("table", get: { $0.table }, set: { $0.table = $1 })
  }
  let observation = ModelObservation()
  private let count: Count
  var value = 0 { didSet { observation.didSet(0, from: oldValue, to: value) } }
  var table: LuaTable? { didSet { observation.didSet(1, from: oldValue, to: table) } }
  init(_ count: Count) {
    self.count = count
    count.alive += 1
  }
  deinit { count.alive -= 1 }
}

/// L6: very many objects cross the border in both directions, and all are freed.
@Suite(.serialized) struct ManyObjectTests {
  private static let size =
    ProcessInfo.processInfo.environment["OBS_LIGHT"] == nil ? 100_000 : 2_000
  private let size = ManyObjectTests.size
  private let test: TestHost
  private let count = Token.Count()
  private final class Shelf { var tokens: [Token] = [] }
  private let shelf = Shelf()

  init() throws {
    test = try TestHost()
    let (count, shelf) = (count, shelf)
    try test.host.set("make") { () in Token(count) }
    try test.host.set("keep") { (token: Token) in shelf.tokens.append(token) }
    try test.host.set("back") { (index: Int) in shelf.tokens[index - 1] }
    try test.host.run("obs, size, calls, held = require 'obs', \(size), 0, {}")
  }

  @Test func `objects that scripts made live while Swift holds them`() throws {
    try test.host.run(
      """
      for i = 1, size do
        local token = make()
        token.value = i
        keep(token)
      end
      """)
    try test.collect()
    #expect(count.alive == size && shelf.tokens.last?.value == size)
    // The same objects return as the same userdata.
    try test.host.run(
      """
      for i = 1, size do
        held[i] = back(i)
        assert(held[i].value == i and held[i] == back(i))
      end
      """)
    shelf.tokens = []
    try test.collect()
    #expect(count.alive == size)
    try test.host.run("held = {}")
    try test.collect()
    #expect(count.alive == 0)
  }

  @Test func `watchers stay while only Swift holds the objects, and keep none alive`() throws {
    try test.host.run(
      """
      for i = 1, size do
        local token = make()
        keep(token)
        obs.observe(token, "value", function() calls = calls + (token and 1) end)
      end
      """)
    try test.collect()
    test.loop.turn { for token in shelf.tokens { token.value += 1 } }
    #expect(test.host["calls"] == .integer(Int64(size)))
    shelf.tokens = []
    try test.collect()
    #expect(count.alive == 0)
    #expect(test.loop.statistics.watchers == 0)
  }

  @Test func `tables in Swift objects in tables are collected with their watchers`() throws {
    try test.host.run(
      """
      for i = 1, size // 10 do
        local token = make()
        local t = {token = token}
        token.table = t
        obs.observe(t, "token.value", function() calls = calls + (t and 1) end)
        token.value = i
        if i % 2 == 0 then keep(token) end
        token.table = nil
      end
      """)
    #expect(test.host["calls"] == .integer(Int64(size / 10)))
    try test.collect()
    #expect(count.alive == size / 20)
    shelf.tokens = []
    try test.collect()
    #expect(count.alive == 0)
    #expect(test.loop.statistics.watchers == 0)
  }

  @Test func `a host that closes releases all objects`() throws {
    try test.host.run(
      """
      for i = 1, size do
        held[i] = make()
        obs.observe(held[i], "value", print)
      end
      """)
    test.host.close()
    #expect(count.alive == 0)
    #expect(test.loop.statistics.watchers == 0)
  }

  // L6
  @Test func `an observer that only Swift holds stays an observer`() throws {
    let observer = Token(count)
    try test.host.set("observer", to: observer)
    try test.host.run(
      """
      t = {x = 1}
      obs.observe(t, "x", function(t, own) own.value = t.x end, {observer = observer})
      observer = nil
      """)
    try test.collect()
    try test.host.run("t.x = 2")
    #expect(observer.value == 2)
  }

  // L3
  @Test func `… and ends with its watchers when nothing holds it`() throws {
    try test.host.run(
      "t = {x = 1} obs.observe(t, 'x', function() calls = 1 end, {observer = make()})")
    try test.collect()
    try test.host.run("t.x = 2")
    #expect(count.alive == 0 && test.host["calls"] == 0)
  }
}
