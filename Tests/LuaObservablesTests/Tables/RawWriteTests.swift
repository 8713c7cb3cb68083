import CLua
import Lua
import LuaObservables
import Testing

/// M2: raw writes of C code to an observed table, beside the store.
struct RawWriteTests {
  private let test: TestHost

  init() throws {
    test = try TestHost()
    // Like a C module: `rawset` itself writes to the store.
    try test.define("raw_write") { L in
      lua_settop(L, 3)
      lua_rawset(L, 1)
      return 0
    }
    try test.host.run(
      """
      obs, log = require "obs", {}
      function watch(t, path, options)
        obs.observe(t, path, function() log[#log + 1] = path end, options)
      end
      """)
  }

  private func expect(
    _ expected: [String], _ script: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try test.host.run(script)
    #expect(try test.log() == expected, sourceLocation: sourceLocation)
    #expect(test.reports.isEmpty, sourceLocation: sourceLocation)
  }

  @Test func `a trigger moves it to the store, and delivers`() throws {
    try expect(
      ["a", "a", "a"],
      """
      local t = { a = 1 }
      watch(t, "a")
      raw_write(t, "a", 2)
      obs.trigger(t, "a")
      obs.flush()
      assert(t.a == 2)
      t.a = 3
      obs.flush()
      t.a = nil
      obs.flush()
      assert(t.a == nil)
      """)
  }

  @Test(arguments: [
    "next(t)", "for _ in pairs(t) do end", "obs.get(t, 'a')", "rawget(t, 'b') next(t)",
  ])
  func `a read that finds it moves it to the store, as a write`(meeting: String) throws {
    try expect(
      ["a", "a"],
      """
      local t = { a = 1 }
      watch(t, "a")
      raw_write(t, "a", 2)
      assert(rawget(t, "a") == 2)
      \(meeting.hasPrefix("next") || meeting.hasPrefix("obs") ? "local _ = " : "")\(meeting)
      obs.flush()
      t.a = 3
      obs.flush()
      """)
  }

  @Test func `a write that finds it moves it to the store first`() throws {
    try expect(
      ["a", "*", "*"],
      """
      local t, list, array = { a = 1 }, { 1, 2 }, obs.array { 1 }
      watch(t, "a")
      raw_write(t, "a", 2)
      rawset(t, "a", 3)
      assert(t.a == 3 and rawget(t, "a") == 3)
      obs.flush()
      watch(list, "*")
      raw_write(list, 3, "raw")
      table.insert(list, 1, 0)
      assert(table.concat(list, " ") == "0 1 2 raw" and #list == 4)
      obs.flush()
      watch(array, "*")
      raw_write(array, 2, "raw")
      array:append("last")
      assert(table.concat(array, " ") == "1 raw last")
      obs.flush()
      """)
  }

  @Test func `the same value is no change`() throws {
    try expect(
      [],
      """
      local t = { a = 1 }
      watch(t, "a")
      raw_write(t, "a", 1)
      local _ = next(t)
      obs.flush()
      assert(t.a == 1)
      """)
  }

  @Test func `raw writes are found in tables observed as a whole, in lists and in arrays`() throws {
    try expect(
      ["*", "*.n", "*"],
      """
      local t, list, array = { a = 1 }, { { n = 1 } }, obs.array { 1 }
      watch(t, "*")
      raw_write(t, "b", 2)
      local keys = {}
      for key in pairs(t) do keys[#keys + 1] = key end
      table.sort(keys)
      assert(table.concat(keys, " ") == "a b")
      obs.flush()
      watch(list, "*.n")
      raw_write(list, 2, { n = 2 })
      assert(obs.get(list, "@count") == 2)
      obs.flush()
      watch(array, "*")
      raw_write(array, 2, 5)
      raw_write(array, "x", 5)
      for _ in pairs(array) do end
      assert(#array == 2 and array[2] == 5 and array.x == nil)
      obs.flush()
      """)
  }

  @Test func `a value that must not be written is not moved to the store`() throws {
    try expect(
      [],
      """
      local t = { items = { 1 } }
      obs.copy_of(t, "copy", "items")
      obs.lazy(t, "fixed", { get = function() return 1 end, readonly = true })
      local copy, members = t.copy, obs.set_of { 1 }
      assert(t.fixed == 1)
      watch(t, "fixed") watch(copy, "*") watch(members, "*")
      raw_write(t, "fixed", 2) raw_write(copy, 2, 2) raw_write(members, 2, 2)
      for _, each in ipairs { t, copy, members } do for _ in pairs(each) do end end
      assert(t.fixed == 1 and #copy == 1 and members.count == 1)
      obs.flush()
      """)
  }
}
