import Lua
import LuaObservables
import Testing

/// Texts of values for prompts: rule N1.
struct ValuePrintingTests {
  /// The text of the values that a script returns.
  private func text(
    _ script: String, columns: Int = 80, isColoured: Bool = false, in host: LuaHost? = nil
  ) throws -> String {
    let host = try host ?? TestHost().host
    let values = try host.run(script)
    return try host.state.withStack { L throws(LuaError) in
      try host.pushModule(to: L)
      L.pop()
      let base = L.height
      defer { L.height = base }
      for value in values { try host.state.push(value, to: L) }
      try host.describeValues(above: base, columns: columns, isColoured: isColoured, L)
      return host.state.text(at: -1, of: L)
    }
  }

  // N1

  @Test(arguments: [
    ("return nil, true, 1, 1.5, 2^53, 1/0", "nil\ttrue\t1\t1.5\t9.007199254741e+15\tinf"),
    (#"return "a b", '"', "\\", "\t\0\127""#, #""a b"\#t"\""\#t"\\"\#t"\t\x00\x7F""#),
    (#"return "\xE4", "ä", "\xC2\x9B""#, #""\xE4"\#t"ä"\#t"\xC2\x9B""#),
    (#"return "\u{202e}x", "\u{2066}", "\u{20ac}""#, #""\xE2\x80\xAEx"\#t"\xE2\x81\xA6"\#t"€""#),
    ("return 'a\\nb'", "[[\na\nb]]"), ("return 'a]]\\n]='", "[==[\na]]\n]=]==]"),
    ("return {'a\\nb'}", #"{"a\nb"}"#),
    ("return {}, {1, 2, x = 'y'}", #"{}\#t{1, 2, x = "y"}"#),
    (
      "return {[2.5] = 1, [-1] = 2, b = 3, a = 4, ['end'] = 5, ['a b'] = 6, [true] = 7}",
      #"{[-1] = 2, [2.5] = 1, a = 4, ["a b"] = 6, b = 3, ["end"] = 5, [true] = 7}"#
    ),
    ("return setmetatable({1}, {__name = 'Point'})", "Point {1}"),
    ("return setmetatable({}, {__tostring = function() return 'own' end})", "own"),
    (
      "return {setmetatable({}, {__tostring = function() error('no', 0) end})}",
      "{<error in __tostring: no>}"
    ),
    (
      "return setmetatable({}, {__tostring = function() error({}) end})",
      "<error in __tostring: a table value>"
    ),
    ("return setmetatable({}, {__tostring = 5})", "<error in __tostring: attempt to call a number"),
  ])
  func `values read as Lua writes them`(script: String, expected: String) throws {
    #expect(try text(script).hasPrefix(expected))
  }

  @Test func `functions show where they are defined`() throws {
    #expect(try text("return function() end").hasSuffix(" (script:1)"))
    #expect(try !text("return print").contains("("))
    #expect(try !text("return require('obs').batch").contains("("))
  }

  @Test func `a value that does not fit in a line takes several`() throws {
    let narrow = try text("return {alpha = {1, 2}, beta = 'some text', gamma = true}", columns: 40)
    #expect(
      narrow == """
        {
          alpha = {1, 2},
          beta = "some text",
          gamma = true,
        }
        """)
    let list = try text("local t = {} for i = 10, 40 do t[#t + 1] = i end return t", columns: 40)
    #expect(
      list == """
        {
          10, 11, 12, 13, 14, 15, 16, 17, 18,
          19, 20, 21, 22, 23, 24, 25, 26, 27,
          28, 29, 30, 31, 32, 33, 34, 35, 36,
          37, 38, 39, 40,
        }
        """)
    #expect(list.split(separator: "\n").allSatisfy { $0.count <= 40 })
  }

  @Test func `wide characters take two columns`() throws {
    let script = "return {'日本語', '한국어'}"
    #expect(try text(script, columns: 22) == "{\"日本語\", \"한국어\"}")
    #expect(try text(script, columns: 20) == "{\n  \"日本語\",\n  \"한국어\",\n}")
  }

  @Test(arguments: [
    ("-5000, -1", "-5000, -4901"), ("-1, -5000, -1", "-5000, -4901"),
    ("1e6, 1e6 + 99", "1e6, 1e6 + 99"),
    ("1e6, 1e6 + 100", "1e6, 1e6 + 99"),
  ])
  func `the first keys of a large table are shown in order`(keys: String, shown: String) throws {
    let all = try text("local t = {} for i = \(keys) do t[i // 1 | 0] = i end return t")
    let first = try text("local t = {} for i = \(shown) do t[i // 1 | 0] = i end return t")
    #expect(all.hasPrefix(first.dropLast(1)))
    #expect(all == first || all.hasSuffix(" more,\n}"))
  }

  @Test func `numbers in names are sorted by value`() throws {
    let names = [
      "a9b10", "a10b9", "a10b10", "key", "key0", "key03", "key3", "key30", "key30x", "keys",
      "n18446744073709551615", "n18446744073709551616",
    ]
    let script = "local t = {} for name in ('\(names.reversed().joined(separator: " "))')"
    let shown = try text(script + ":gmatch '%w+' do t[name] = 1 end return t")
    #expect(shown == "{\n" + names.map { "  \($0) = 1,\n" }.joined() + "}")
  }

  @Test func `the first keys are the first keys of the sorted table`() throws {
    let host = try TestHost().host
    for seed in 1...20 {
      let script = """
        math.randomseed(\(seed))
        local keys, t = {}, {}
        for _ = 1, math.random(50, 2000) do
          local kind = math.random(3)
          local key = kind == 1 and -math.random(5000) or kind == 2 and math.random() - 1
            or string.format("k%d", math.random(5000))
          if t[key] == nil then keys[#keys + 1] = key end
          t[key] = 0
        end
        table.sort(keys, function(a, b)
          if type(a) ~= type(b) then return type(a) == "number" end
          if type(a) == "number" then return a < b end
          return tonumber(a:sub(2)) < tonumber(b:sub(2))
        end)
        local texts = {}
        for i = 1, math.min(100, #keys) do
          texts[i] = (type(keys[i]) == "string" and "%s = 0," or "[%s] = 0,"):format(keys[i])
        end
        if #keys > 100 then texts[101] = ("… %d more,"):format(#keys - 100) end
        expected = "{\\n  " .. table.concat(texts, "\\n  ") .. "\\n}"
        return t
        """
      let printed = try text(script, in: host)
      let expected: String = try host.state.globals.get("expected")
      #expect(printed == expected, "seed \(seed)")
    }
  }

  @Test func `a plain table reads back as an equal one`() throws {
    let host = try TestHost().host
    for seed in 1...300 {
      let made = """
        math.randomseed(\(seed))
        local function value(depth)
          local kind = math.random(depth > 3 and 5 or 7)
          if kind == 1 then return math.random(-50, 50) end
          if kind == 2 then return math.random(64) / 8 end
          if kind == 3 then return math.random() < 0.5 end
          if kind < 6 then
            local bytes = {}
            for i = 1, math.random(0, 6) do bytes[i] = string.char(math.random(0, 255)) end
            return table.concat(bytes)
          end
          local t = {}
          for i = 1, math.random(0, 4) do t[i] = value(depth + 1) end
          for _ = 1, math.random(0, 4) do
            local key = value(4)
            if key == key then t[key] = value(depth + 1) end
          end
          return t
        end
        made = {value(1), value(1)}
        return made
        """
      let printed = try text(made, columns: 40 + seed % 60, in: host)
      host["printed"] = printed
      let isSame = try host.run(
        """
        local function same(a, b)
          if type(a) ~= "table" or type(b) ~= "table" then return a == b end
          for k, v in pairs(a) do if not same(v, b[k]) then return false end end
          for k in pairs(b) do if a[k] == nil then return false end end
          return true
        end
        local read = assert(load("return " .. printed))()
        return same(made, read)
        """)
      #expect(isSame == [.boolean(true)], "seed \(seed): \(printed)")
    }
  }

  private let observed = """
    local obs = require "obs"
    calls = 0
    local User = obs.model("User", {
      first = "Ada", last = "King",
      full = obs.computed({ "first", "last" }, function(self)
        calls = calls + 1
        return self.first .. " " .. self.last
      end),
    })
    user = User()
    obs.observe(user, "last", function() end)

    """

  @Test func `observed and computed keys are marked, and none is computed`() throws {
    let host = try TestHost().host
    let stale = try text(observed + "return user", in: host)
    #expect(
      stale == """
        User {
          first = "Ada",
          full = <stale>,  -- computed
          last = "King",  -- observed
        }
        """)
    #expect(try host.run("return calls") == [.integer(0)])
    _ = try host.run("local _ = user.full")
    #expect(try text("return user", in: host).contains("full = \"Ada King\",  -- computed\n"))
    _ = try host.run("user.last = 'L' require('obs').observe(user, 'full', function() end)")
    _ = try host.run("user.last = 'M' calls = 0 returned = user")
    let both = try text("user.last = 'N' calls = 0 return user", in: host)
    #expect(both.contains("-- computed, observed\n"))
    #expect(try host.run("user.last = 'O' local c = calls return c").count == 1)
  }

  @Test func `elements of an observed list are marked`() throws {
    let list = try text(
      """
      local obs = require "obs"
      local list = {1, 2, n = 3}
      obs.observe(list, "*", function() end)
      return list
      """)
    #expect(
      list == """
        {
          1,  -- observed
          2,  -- observed
          n = 3,  -- observed
        }
        """)
  }

  @Test func `collections and classes show their kind`() throws {
    let script = """
      local obs = require "obs"
      return obs.array {1, 2}, obs.set_of {"b", "a"}, obs.dictionary {k = 1}
      """
    #expect(
      try text(script)
        == #"obs.array {1, 2}\#tobs.set_of {"a", "b"}\#tobs.dictionary {k = 1}"#)
    #expect(try text("return require('obs').model('User', {a = 1})").hasPrefix("model User: 0x"))
    #expect(try text("return require('obs').task(function() end)").hasPrefix("obs.Task: 0x"))
  }

  @Test func `no metamethod runs`() throws {
    let script = """
      local function fail() error("called") end
      local meta = {}
      for _, name in ipairs { "__index", "__pairs", "__len", "__eq", "__lt", "__call" } do
        meta[name] = fail
      end
      return setmetatable({1, 2, a = setmetatable({}, meta)}, meta)
      """
    #expect(try text(script) == "{1, 2, a = {}}")
  }

  @Test func `cycles are shown, and a large table once`() throws {
    #expect(
      try text("local t = {1} t.own = t return t") == "{1, own = <cycle: the table itself>}")
    let script = "local t = {inner = {}} t.inner.outer = t return {t}"
    #expect(try text(script) == "{{inner = {outer = <cycle: the table that holds this one>}}}")
    let far = "local t = {} t.a = {b = {c = t}} return t"
    #expect(try text(far) == "{a = {b = {c = <cycle: the table 2 levels up>}}}")
    let twice = try text("local t = {('x'):rep(60), ('y'):rep(60)} return {t, t}")
    #expect(twice.contains("{\n    \"xxx"))
    #expect(twice.hasSuffix("  {…},\n}"))
  }

  @Test(arguments: [
    "local t = {} for i = 1, 1e5 do t[i] = i end return t",
    "local t = {} for i = 1, 1e5 do t['k' .. i] = i end return t",
    "local t = {} local c = t for i = 1, 1e4 do c.n = {i} c = c.n end return t",
    """
    local function wide(depth) local t = {} for i = 1, 15 do
      t[i] = depth > 0 and wide(depth - 1) or i end return t end return wide(3)
    """,
    "local t = {} for i = 1, 30 do t = {t, t, t} end return t",
    "return ('x'):rep(1e6)", "return {('ä'):rep(1e6)}", "return table.unpack({}, 1, 5000)",
    "return setmetatable({}, {__tostring = function() return ('x'):rep(1e6) end})",
    "return {[('k'):rep(1e6)] = 1}",
  ])
  func `the text of a huge value is short`(script: String) throws {
    let printed = try text(script)
    #expect(printed.utf8.count < 45_000)
    #expect(printed.contains("…"))
  }

  @Test func `the first keys of a large table are shown, in order, and counted`() throws {
    let text = try text("local t = {} for i = 3000, 1, -1 do t['k' .. i] = i end return t")
    let lines = text.split(separator: "\n")
    let keys = lines.dropFirst().dropLast(2).compactMap {
      $0.split(separator: " ").first.map(String.init)
    }
    let all = (1...3000).map { "k\($0)" }
    #expect(keys == Array(all.prefix(100)))
    #expect(lines.dropLast().last == "  … 2900 more,")
  }

  @Test func `colours are terminal colours, and take no width`() throws {
    let script = "return {1, 'a', true, x = {}}"
    let coloured = try text(script, isColoured: true)
    #expect(
      coloured
        == "{\u{1b}[36m1\u{1b}[0m, \u{1b}[32m\"a\"\u{1b}[0m, \u{1b}[35mtrue\u{1b}[0m, x = {}}")
    let long = "return {aaaaaaaaaa = 1, bbbbbbbbbb = 2, c = 3}"
    #expect(try text(long, columns: 50, isColoured: true).contains("\n") == false)
  }
}
