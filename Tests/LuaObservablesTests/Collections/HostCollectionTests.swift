import Lua
import LuaObservables
import Observables
import Testing

/// Collections of a Swift program, used by scripts.
@Suite struct `Swift collections in Lua` {
  private func run(_ script: String, _ prepare: (LuaHost) throws -> Void) throws {
    let test = try TestHost()
    try prepare(test.host)
    try test.host.run(
      """
      obs = require "obs"
      function fails(pattern, f, ...)
        local ok, message = pcall(f, ...)
        assert(not ok, "no error")
        assert(message:find(pattern), message)
      end
      function eq(a, b) if a ~= b then error(tostring(a) .. " is not " .. tostring(b), 2) end end
      function text(list, n) local t = {} for i = 1, n or #list do t[i] = tostring(list[i]) end
        return table.concat(t, " ") end
      """)
    try test.host.run(script)
    #expect(test.reports.map(\.description) == [])
  }

  // B2: the array looks native.
  @Test func `an array is read and written by position`() throws {
    let numbers = ObservableArray([1, 2, 3])
    try run(
      """
      eq(a[1], 1) eq(a[4], nil) eq(a[0], nil) eq(#a, 3) eq(a.count, 3)
      local t = {}
      for i, v in ipairs(a) do t[#t + 1] = i .. "=" .. v end
      for i, v in pairs(a) do t[#t + 1] = i .. "=" .. v end
      eq(table.concat(t, " "), "1=1 2=2 3=3 1=1 2=2 3=3")
      a[2] = 20 a[4] = 4 a[4] = nil
      eq(text(a), "1 20 3")
      a:append(4, 5) a:insert(1, 0) a:insert(7, 6)
      eq(text(a), "0 1 20 3 4 5 6")
      eq(a:remove(1), 0) eq(a:remove(), 6) eq(a:remove_value(20), true) eq(a:remove_value(9), false)
      eq(a:index_of(4), 3) eq(a:index_of("x"), nil)
      a:replace(1, 10) a:move(1, 2) a:swap(3, 4)
      eq(text(a), "3 10 5 4")
      a:sort() eq(text(a), "3 4 5 10")
      a:sort(function(x, y) return x > y end) eq(text(a), "10 5 4 3")
      a:reverse() eq(text(a), "3 4 5 10")
      a:set { 7, 8 } eq(text(a), "7 8")
      obs.assign(a, { 1, 2 }) eq(text(a), "1 2")
      eq(text(obs.array(a)), "1 2")
      obs.clear(a) eq(#a, 0)
      a:append() eq(#a, 0) eq(a:remove(), nil)
      assert(rawequal(a, a) and tostring(a):find "ObservableArray")
      """
    ) { try $0.set("a", to: numbers) }
    #expect(numbers.count == 0)
  }

  // B2, B3: errors name the expected and the given value, and change nothing.
  @Test func `errors of an array name index, count and types`() throws {
    let numbers = ObservableArray([1, 2, 3])
    try run(
      """
      fails("index 5 is out of range %(the array has 3 elements; 4 would append", \
      function() a[5] = 1 end)
      fails("hole at 1 of 3", function() a[1] = nil end)
      fails("integer indices, got string 'x'", function() a.x = 1 end)
      fails("values of type Int, not string", function() a[1] = "x" end)
      fails("values of type Int: number has no integer representation", function() a[1] = 1.5 end)
      fails("values of type Int, not nil", function() a:append(nil) end)
      fails("values of type Int, not boolean", function() a:append(1, true) end)
      fails("values of type Int, not table", function() a:set { {} } end)
      fails("index 5 is out of range %(the array has 3", function() a:insert(5, 1) end)
      fails("index 4 is out of range", function() a:remove(4) end)
      fails("bad argument #1 to 'remove' %(position expected, got string", \
      function() a:remove "x" end)
      fails("bad argument #1 to 'append' %(array expected, got number; call it with ':'", \
      function() a.append(1) end)
      fails("no method 'apend' %(did you mean 'append'", function() return a.apend end)
      fails("script:%d+: .*'sort' %(function", function() a:sort(3) end)
      fails("changed while it was being sorted", function()
        a:sort(function(x, y) if #a < 9 then a:append(1) end return x < y end)
      end)
      a:set { 1, 2, 3 }
      pcall(a.sort, a, function() error "no" end)
      fails("values of type Int", function() obs.assign(a, { 1, "x" }) end)
      eq(text(a), "1 2 3")
      """
    ) { try $0.set("a", to: numbers) }
    #expect(numbers.elements == [1, 2, 3])
  }

  // B1: values make the round trip unchanged.
  @Test func `elements of any type cross in both directions`() throws {
    let things = ObservableArray<Any>([])
    let floats = ObservableArray<Double>([])
    let names = ObservableArray<String>([])
    let values = ObservableArray<LuaValue>([])
    try run(
      """
      a:append(1, "x", true, 1.5) eq(text(a), "1 x true 1.5")
      f:append(1, 2.5) eq(text(f), "1.0 2.5")
      n:append "ä" eq(n[1], "ä")
      local t = {} v:append(t, 1, print) eq(v[1], t) eq(v[3], print)
      """
    ) {
      try $0.set("a", to: things)
      try $0.set("f", to: floats)
      try $0.set("n", to: names)
      try $0.set("v", to: values)
    }
    #expect(things.map { "\($0)" } == ["1", "x", "true", "1.5"])
    #expect(floats.elements == [1, 2.5])
    values.removeAll()
  }

  // B1: objects keep their identity.
  @Test func `models and nested collections are the same objects again`() throws {
    let (first, second) = (Creature(name: "a"), Creature(name: "b"))
    let herd = ObservableArray([first])
    let nested = ObservableArray([ObservableArray([1]), ObservableArray([2])])
    try run(
      """
      eq(herd[1], first) eq(herd[1].name, "a")
      herd:append(second)
      eq(herd:index_of(second), 2)
      eq(nested[1], nested[1]) nested[2]:append(3) eq(nested[2].count, 2)
      fails("values of type Creature, not table", function() herd[1] = {} end)
      fails("values of type Creature, not ObservableArray", function() herd[1] = nested end)
      """
    ) {
      try $0.set("herd", to: herd)
      try $0.set("first", to: first)
      try $0.set("second", to: second)
      try $0.set("nested", to: nested)
    }
    #expect(herd.count == 2 && herd[1] === second)
    #expect(nested[1].elements == [2, 3])
  }

  @Test func `a dictionary is read and written by key`() throws {
    let stock = ObservableDictionary(["pen": 3, "count": 7])
    let numbered = ObservableDictionary<Int, String>([:])
    try run(
      """
      eq(d.pen, 3) eq(d.count, 7) eq(d.ink, nil) eq(d[1], nil) eq(#d, 2)
      d.ink = 5 d.pen = nil
      local keys = {}
      for k, v in pairs(d) do keys[#keys + 1] = k .. v end
      table.sort(keys)
      eq(table.concat(keys, " "), "count7 ink5")
      eq(obs.get(d, "count"), 2) eq(obs.get(d, "@sum"), 12)
      fails("values of type Int, not string", function() d.pen = "x" end)
      fails("keys of type String, not number", function() d[1] = 1 end)
      n[1] = "x" n[2] = "y" n[1] = nil eq(n[2], "y")
      obs.assign(d, { a = 1 }) eq(d.a, 1) eq(#d, 1)
      eq(obs.dictionary(d).a, 1)
      obs.clear(d) eq(#d, 0)
      """
    ) {
      try $0.set("d", to: stock)
      try $0.set("n", to: numbered)
    }
    #expect(stock.isEmpty)
    #expect(numbered.entries == [2: "y"])
  }

  @Test func `a set has its methods`() throws {
    let tags = ObservableSet(["x"])
    try run(
      """
      eq(s:add "y", true) eq(s:add "y", false) eq(s:contains "x", true) eq(s:contains(1), false)
      eq(s:remove "x", true) eq(s:remove "x", false) eq(s:remove(3), false) eq(s.count, 1) eq(#s, 1)
      for k, v in pairs(s) do eq(k, v) end
      for v in s:values() do eq(v, "y") end
      s:union { "a", "b" } s:intersect(obs.set_of { "a", "y" }) eq(s.count, 2)
      s:subtract { "a" } eq(s.count, 1)
      eq(s:object_for(s:key_of "z"), "z")
      fails("values of type String, not number", function() s:add(1) end)
      fails("values of type String, not nil", function() s:add(nil) end)
      fails("a set has no fields", function() s.x = 1 end)
      fails("call it with ':'", function() s.add "x" end)
      obs.assign(s, { "q" }) eq(s:contains "q", true) eq(s.count, 1)
      eq(obs.set_of(s):contains "q", true)
      s:clear() eq(s.count, 0)
      """
    ) { try $0.set("s", to: tags) }
    #expect(tags.isEmpty)
  }

  // The cases of collections also run with Swift collections, and test paths, edits and keys.
  @Test func `paths are shown as a script writes them, from 1`() throws {
    let herd = ObservableArray([Creature(name: "a"), Creature(name: "b")])
    try run(
      """
      for _, path in ipairs { "#1", "*", "count", "name", "@max.name", "2.name", "#2.name" } do
        obs.observe(herd, path, function() end)
      end
      eq(table.concat(obs.observed_keys(herd), " "), "#1 #2 * 2 @max.name count")
      assert(obs.describe(herd):find "@max.name")
      eq(obs.stop(herd), 7)
      eq(obs.get(herd, "#2.name"), "b")
      """
    ) { try $0.set("herd", to: herd) }
  }

  // C10, T9
  @Test func `a first delivery has all elements as edits, an immediate one the values`() throws {
    let list = ObservableArray([2, 4])
    try run(
      """
      local log = {}
      obs.observe_edits(list, function(o, edits)
        assert(o == list)
        for _, e in ipairs(edits) do log[#log + 1] = e.kind .. e.at .. "+" .. e.new end
      end, { initial = true })
      obs.flush()
      obs.observe(list, "*", function(_, _, c)
        log[#log + 1] = ("%s:%s>%s"):format(c.key, c.old, c.new)
      end, { immediate = true })
      list[2] = 8
      eq(table.concat(log, " "), "insert1+2 insert2+4 2:4>8")
      """
    ) { try $0.set("list", to: list) }
  }

  // L6: the watchers live as long as either side holds the collection.
  @Test func `a collection with watchers of scripts is released`() throws {
    let test = try TestHost()
    weak var gone: ObservableArray<Int>?
    var log = 0
    do {
      let list = ObservableArray([1])
      gone = list
      try test.host.set("list", to: list)
      try test.host.set("called", to: test.host.state.function("called") { () in log += 1 })
      try test.host.run(
        """
        obs = require 'obs' local l = list obs.observe(l, '*', function() called(l) end) \
        list = nil
        """
      )
      try test.collect()
      list.append(2)
      test.loop.turn {}
      #expect(log == 1)
    }
    try test.collect()
    try test.collect()
    #expect(gone == nil)
  }
}
