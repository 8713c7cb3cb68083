import CLua
import Lua
import LuaObservables
import TestSupport
import Testing

/// Completion with Tab: rule N3.
struct CompletionTests {
  private let host: TestHost

  init() throws {
    host = try TestHost()
    try host.host.run(
      """
      obs = require "obs"
      calls = 0
      local function count() calls = calls + 1 return {} end
      plain = {
        name = "x", inner = { first = 1, fourth = 2 }, ["a b"] = 1, ["end"] = 1, [1] = { deep = 1 },
      }
      object = setmetatable({ own = 1 }, {
        __index = {
          method = function() end, value = 1, made = setmetatable({}, { __call = count }),
        },
      })
      hidden = setmetatable({}, { __index = count, __pairs = count, __len = count })
      watched = { street = 1, city = { zip = 1, zone = 2 }, list = { { price = 1 } },
        ["a.b"] = { zip = 1 } }
      numbered = { key30 = 1, key3 = 1, key100 = 1 }
      obs.observe(watched, { "street", "city.zip" }, function() end)
      User = obs.model("User", {
        first = "a", last = "b", greet = function() end,
        full = obs.computed({ "first" }, count),
      })
      user = User()
      obs.observe(user, "full", function() end)
      calls = 0
      folders = {
        ["."] = { "main.lua", "lib/", "notes.txt", ".hidden.lua", "pack/", "data.json" },
        ["lib/"] = { "one.lua", "two.lua" }, ["./lib"] = { "one.lua", "two.lua" },
        ["./pack"] = { "init.lua" }, ["./pack/"] = { "init.lua" }, ["lib"] = { "one.lua" },
      }
      folders["./lib/"] = folders["./lib"]
      package.path, package.cpath = "./?.lua;./?/init.lua", "./?.so"
      """)
  }

  /// The text before the completed part, `|`, and the candidates.
  private func complete(_ line: String) throws -> String {
    let state = host.host.state
    return try state.withStack { L throws(LuaError) in
      let height = L.height
      defer { L.height = height }
      try state.push(text: line, to: L)
      L.pushGlobals()
      lua_pushcclosure(
        L.pointer,
        { L in
          lua_getglobal(L, "folders")
          lua_pushvalue(L, 1)
          lua_gettable(L, -2)
          return 1
        }, 0)
      try host.host.complete(L)
      let start = Int(L.integer(at: -2) ?? -1)
      var names: [String] = []
      for position in 0..<L.rawLength(at: -1) {
        L.rawGet(index: position + 1, at: -1)
        names.append(state.text(at: -1, of: L))
        L.pop()
      }
      let before = String(decoding: Array(line.utf8).prefix(start), as: UTF8.self)
      return "\(before)|\(names.joined(separator: " "))"
    }
  }

  // N3
  @Test(
    arguments: [
      ("pla", "|plain"), ("x = pla", "x = |plain"), ("whi", "|while"), ("#pla", "#|plain"),
      ("plain.", "plain.|inner name"), ("plain.inner.f", "plain.inner.|first fourth"),
      ("f(plain.inner.fi", "f(plain.inner.|first"), ("plain[1].", "plain[1].|deep"),
      ("numbered.", "numbered.|key3 key30 key100"),
      (#"plain["inner"].fi"#, #"plain["inner"].|first"#),
      ("plain['inner'].fo", "plain['inner'].|fourth"),
      ("object.", "object.|made method own value"), ("object:", "object:|made method"),
      ("a..pla", "a..|plain"), ("plain.name:upp", "plain.name:|upper"),
      ("('x'):rep", "('x'):|rep"),
      ("\"x\":upp", "\"x\":|upper"), ("watched.", "watched.|city list street"),
      ("watched.city.z", "watched.city.|zip zone"),
      ("user.", "user.|first full greet last"), ("user:", "user:|greet"),
      ("obs.obs", "obs.|observe observe_edits observe_keys observed_keys observer_count"),
      ("hidden.", "hidden.|"), ("nothing.a", "nothing.|"), ("plain.nothing.a", "plain.nothing.|"),
      ("f().a", "f().|"), ("-- pla", "-- pla|"), ("[[ pla", "[[ pla|"), ("'pla", "'|"), ("12", "|"),
      ("'a' .. pla", "'a' .. |plain"), (#"'\'' .. pla"#, #"'\'' .. |plain"#), ("", nil),
    ] as [(String, String?)])
  func `names are completed`(line: String, expected: String?) throws {
    let found = try complete(line)
    if let expected { #expect(found == expected) } else { #expect(found.contains(" print ")) }
    #expect(try host.host.run("return calls") == [.integer(0)])
  }

  @Test(arguments: [
    ("obs.observe(watched, 'st", "obs.observe(watched, '|street"),
    ("obs.observe(watched, \"city.z", "obs.observe(watched, \"city.|zip zone"),
    ("obs.observe(watched, {'street', 'ci", "obs.observe(watched, {'street', '|city"),
    ("obs.observe(watched, 'list.@su", "obs.observe(watched, 'list.|@sum"),
    ("obs.observe(watched, 'list.@sum.p", "obs.observe(watched, 'list.@sum.|price"),
    ("obs.observe(watched, 'list.*.p", "obs.observe(watched, 'list.*.|price"),
    ("obs.observe(watched, 'list.#1.p", "obs.observe(watched, 'list.#1.|price"),
    ("obs.observe(watched, 'list.1.p", "obs.observe(watched, 'list.1.|price"),
    (#"obs.observe(watched, 'a\\.b.z"#, #"obs.observe(watched, 'a\\.b.|zip"#),
    (#"obs.observe(watched, '\\city.z"#, #"obs.observe(watched, '\\city.|zip zone"#),
    (#"obs.observe(watched, 'a\\.b"#, #"obs.observe(watched, '|"#),
    (#"obs.observe(watched, 'city..z"#, #"obs.observe(watched, '|"#),
    ("obs.observe(user, 'f", "obs.observe(user, '|first full"),
    ("obs.computed(watched, 'sum', {'st", "obs.computed(watched, 'sum', {'|street"),
    ("local o = obs.peek(watched.city, 'z", "local o = obs.peek(watched.city, '|zip zone"),
    ("print(watched, 'st", "print(watched, '|"),
    ("obs.observe(nothing, 'st", "obs.observe(nothing, '|"),
  ])
  func `key paths are completed in strings of calls of obs`(line: String, expected: String) throws {
    #expect(try complete(line) == expected)
    #expect(try host.host.run("return calls") == [.integer(0)])
  }

  @Test(arguments: [
    ("require 'ma", "require '|main math"), ("require('pa", "require('|pack pack. package"),
    ("local x = require \"lib.", "local x = require \"lib.|one two"),
    ("require 'li", "require '|lib."),
    ("dofile 'm", "dofile '|main.lua"), ("io.open('lib/t", "io.open('lib/|two.lua"),
    ("loadfile '.h", "loadfile '|.hidden.lua"),
  ])
  func `modules and files are completed`(line: String, expected: String) throws {
    #expect(try complete(line) == expected)
  }

  @Test func `any text can be completed`() throws {
    let parts = [
      "plain", ".", ":", "user", "obs.observe(", "'", "\"", "[[", "]]", "--", "\\", "list", "@",
      "*",
      "#1", "{", ")", " ", ",", "1", "require ", "[", "]", "hidden", "watched", "\u{e4}", "=", "\n",
    ]
    var generator = SeededGenerator(seed: 16)
    for _ in 1...3000 {
      let line = (0...Int.random(in: 0...9, using: &generator))
        .map { _ in parts.randomElement(using: &generator)! }.joined()
      let found = try complete(line)
      let before = found.split(separator: "|", omittingEmptySubsequences: false)[0]
      #expect(line.utf8.starts(with: before.utf8), "\(line)")
    }
    #expect(try host.host.run("return calls") == [.integer(0)])
  }

  @Test func `the names of a huge table are bounded`() throws {
    try host.host.run("huge = {} for i = 1, 200000 do huge['k' .. i] = i end")
    #expect(try complete("huge.").split(separator: " ").count <= 1000)
  }
}
