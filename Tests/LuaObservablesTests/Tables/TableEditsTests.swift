import Lua
import LuaObservables
import Observables
import Testing

@Suite struct `Collections of scripts, seen from Swift` {
  private func table(_ name: String, _ test: TestHost) throws -> LuaTable {
    guard case .table(let table) = test.host[name] else {
      throw LuaError("'\(name)' is no table")
    }
    return table
  }

  // C10: scripts count from 1, Swift from 0.
  @Test(arguments: ["", "obs.array"]) func `edits of a list lead to its state`(make: String) throws
  {
    let test = try TestHost()
    try test.host.run("obs = require 'obs' list = \(make) { 1, 2, 3 }")
    var mirror: [LuaValue] = [.integer(1), .integer(2), .integer(3)]
    var calls = 0
    try test.host.observeEdits(table("list", test)) { _, edits in
      calls += 1
      for edit in edits { edit.apply(to: &mirror) }
    }
    for step in [
      "table.insert(list, 1, 'a')", "table.remove(list, 2)", "list[#list] = nil",
      "table.sort(list, function(x, y) return tostring(x) < tostring(y) end)",
      "list[1] = 7 table.insert(list, 8) table.insert(list, 2, 9)",
    ] {
      try test.host.run(step)
      let now = try table("list", test)
      let elements = try (0..<now.length).map { try now.get($0 + 1, as: LuaValue.self) }
      #expect(mirror == elements)
    }
    #expect(calls == 5)
    try test.host.run("list[1] = 8 list[1] = 7")
    #expect(calls == 5)
  }

  // C10, C6: keys are the same on both sides.
  @Test func `edits of a dictionary and a set are reported by key`() throws {
    let test = try TestHost()
    try test.host.run(
      "obs = require 'obs' map = obs.dictionary { a = 1 } set = obs.set_of { 'x' }")
    var log: [String] = []
    for name in ["map", "set"] {
      try test.host.observeKeyedEdits(table(name, test)) { _, edits in
        for edit in edits {
          log.append(
            "\(edit.key.text): \(edit.old?.text ?? "-") \(edit.new?.text ?? "-")")
        }
      }
    }
    try test.host.run("map.a = 2 map.b = 3")
    try test.host.run("map.a = nil set:add 'y' set:remove 'x'")
    #expect(log == ["a: 1 2", "b: - 3", "a: 2 -", "y: - y", "x: x -"])
  }

  // T9: an immediate watcher is called inside the write.
  @Test func `an immediate watcher of edits receives one operation`() throws {
    let test = try TestHost()
    try test.host.run("obs = require 'obs' list = { 1 }")
    var edits: [CollectionEdit<LuaValue>] = []
    let watcher = try test.host.observeEdits(table("list", test), immediate: true) {
      edits += $1
    }
    try test.host.run("table.insert(list, 2) table.remove(list, 1)")
    #expect(
      edits == [.insert(.integer(2), at: 1), .remove(.integer(1), at: 0)])
    watcher.stop()
    try test.host.run("list[1] = 5")
    #expect(edits.count == 2)
  }

  // C9: the same operators, with and without watchers.
  @Test func `operators are read along a path`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      order = { items = { { price = 1, tags = { 'a' } }, { price = 2, tags = { 'a', 'b' } } } }
      """)
    let order = try table("order", test)
    func read(_ path: Path) throws -> LuaValue { try test.host.value(of: order, at: path) }
    #expect(try read("items.@sum.price") == .integer(3))
    try test.host.observe(order, "items.@sum.price") { _ in }
    #expect(try read("items.@sum.price") == .integer(3))
    #expect(try read("items.#0.price") == .integer(1))
    #expect(try read("items.@avg.price") == .number(1.5))
    #expect(try read("nothing.@sum.price") == .nil)
    guard case .table(let tags) = try read("items.@distinctUnionOfArrays.tags") else {
      Issue.record("a union is a table")
      return
    }
    #expect(try tags.length == 2)
    #expect(throws: LuaError.self) { try read("items.*.price") }
    // The script gets the same module later.
    try test.host.run("obs = require 'obs' assert(obs.get(order, 'items.@sum.price') == 3)")
  }

  // T10: an operator over values that it does not accept.
  @Test func `an operand that an operator rejects is reported with its watcher`() throws {
    let test = try TestHost()
    try test.host.run(
      """
      local obs = require "obs"
      list = { 1, 2 }
      obs.observe(list, "@sum", function() end)
      """, name: "=m.lua")
    try test.host.run("list[2] = 'x'")
    let report = try #require(test.reports.first?.description)
    #expect(test.reports.count == 1)
    #expect(report.contains("'@sum', observed by m.lua:3"))
    #expect(report.contains("element 2"))
  }
}
