import LuaObservables
import Observables
import Testing
@testable import mirror_simulation

/// A4, A8–A10 and bad input, as scripts meet them.
@Suite struct `Mirrors of scripts` {
  private let loop = Loop(clock: .virtual)
  private let network: SimulatedNetwork

  init() throws { network = try SimulatedNetwork(on: loop) }

  private func replica(_ options: String = "{}") throws -> Replica {
    try Replica(on: loop, at: network.url, through: network, options)
  }

  private func pair(_ root: String, _ options: String = "") throws -> (Replica, Replica) {
    let one = try replica("{ root = \(root) \(options) }")
    try settle([one])
    let two = try replica("{ root = {} \(options) }")
    try settle([one, two])
    return (one, two)
  }

  // A4
  @Test func `of two writes of a key, the later one wins; edits find their element`() throws {
    let (one, two) = try pair("{ k = 0, items = { { id = 1 }, { id = 2 }, { id = 3 } } }")
    try one.run("root.k = 1 table.remove(root.items, 1)")
    try two.run("root.k = 2 root.items[3].done = true table.insert(root.items, { id = 4 })")
    try settle([one, two])
    expectSame(try one.text("dump()"), try two.text("dump()"))
    #expect(try one.text("#root.items .. ' ' .. tostring(root.items[2].done)") == "3 true")
  }

  // A4
  @Test func `changes of an object that others have removed are given back`() throws {
    let (one, two) = try pair("{ item = { n = 1 } }")
    try one.run("root.item = nil")
    try two.run("root.item.n = 2")
    try settle([one, two])
    expectSame(try one.text("dump()"), try two.text("dump()"))
    // Either came first.
    let count = try two.text("rejected()")
    if count == "1" {
      #expect(try two.text("table.concat(last_rejected.path, '.')") == "item.n")
      #expect(try two.text("last_rejected.kind .. last_rejected.new") == "set2")
    }
    #expect(try one.text("root.item") == "nil")
  }

  // A4
  @Test func `check gives whole batches back that others have preceded`() throws {
    let (one, two) = try pair("{ k = 0, n = 0 }", ", check = true")
    try one.run("root.k = 1")
    try two.run("root.k = 2 root.n = 5")
    try settle([one, two])
    expectSame(try one.text("dump()"), try two.text("dump()"))
    let kept = try one.text("root.k")
    #expect(try one.text("root.n") == (kept == "1" ? "0" : "5"))
    #expect(try Int(one.text("rejected()"))! + Int(two.text("rejected()"))! > 0)
  }

  // A4
  @Test(arguments: ["", ", check = true"]) func `what all processes add to a number is added`(
    options: String
  ) throws {
    let (one, two) = try pair("{ n = 1, x = 0.5, b = { n = 1 } }", options)
    for _ in 1...20 {
      try one.run("mirror:add(root, 'n', 2) mirror:add(root, 'n', 3) mirror:add(root, 'x', 0.25)")
      try two.run("mirror:add(root, 'n', -1) mirror:add(root, 'x', 1) mirror:add(root.b, 'n', 1)")
      try network.deliver(way: 0, bytes: .max)
    }
    try settle([one, two])
    for replica in [one, two] {
      #expect(try replica.text("root.n .. ' ' .. root.x .. ' ' .. root.b.n") == "81 25.5 21")
      #expect(try replica.text("rejected()") == "0")
      #expect(replica.errors == [])
    }
  }

  // A4
  @Test func `an addition that is rolled back is not sent, and an assignment beside it is one`()
    throws
  {
    let (one, two) = try pair("{ n = 1, k = 1 }")
    try one.run(
      """
      require 'obs'.transaction({ root }, function() mirror:add(root, 'n', 5) error 'no' end)
      mirror:add(root, 'n', 2)
      mirror:add(root, 'k', 2)
      root.k = 10
      """)
    try settle([one, two])
    expectSame(try one.text("dump()"), try two.text("dump()"))
    #expect(try two.text("root.n .. ' ' .. root.k") == "3 10")
  }

  // A4
  @Test func `with the old and the new value, a handler can make a refused change again`() throws {
    let (one, two) = try pair(
      "{ n = 0 }",
      ", check = true, on_rejected = function(c, now) root.n = now + c.new - c.old end")
    for _ in 1...30 {
      for replica in [one, two] {
        try replica.run("root.n = root.n + 1 root.n = root.n + 1")
        try replica.run("root.n = root.n + 1")
      }
      try network.deliver(way: 0, bytes: .max)
    }
    try settle([one, two])
    for replica in [one, two] { #expect(try replica.text("root.n") == "180") }
  }

  // A8
  @Test(arguments: [
    ("root.f = print", "'f' holds a function"),
    ("root.b[{}] = 1", "a key that is a table"),
    ("root.b.deep = { list = { 1, coroutine.create(print) } }", "holds a thread"),
    ("table.insert(root.a, print)", "'a.4' holds a function"),
    ("root.a[2] = obs.opaque {}", "'a.2' holds an opaque table in a list"),
    ("root.a[1] = nil root.a[3] = print", "'a.3' holds a function"),
  ])
  func `what cannot be mirrored is taken back, and the rest stays`(code: String, text: String)
    throws
  {
    let one = try replica()
    try settle([one])
    try one.run("obs = require 'obs' \(code) root.b.n = 7")
    #expect(one.errors.count == 1)
    #expect(one.errors.first?.contains(text) == true, "\(one.errors)")
    #expect(one.errors.first?.contains("the write was taken back") == true)
    try settle([one])
    let two = try replica("{ root = {} }")
    try settle([one, two])
    expectSame(try one.text("dump()"), try two.text("dump()"))
    #expect(try two.text("root.b.n") == "7")
    #expect(try two.text("#root.a") == "3")
  }

  // A8
  @Test func `values arrive exactly`() throws {
    let (one, two) = try pair(
      """
      { big = math.mininteger, float = 3.0, nan = 0/0, inf = -math.huge, zero = -0.0,
        bytes = "\\0\\xff", [2^53] = "key", [1.5] = 1, [true] = {} }
      """)
    try one.run("root.me = root root.list = { 1, nil, 3 }")
    try settle([one, two])
    expectSame(try one.text("dump()"), try two.text("dump()"))
    #expect(try two.text("root.me == root and math.type(root.float)") == "float")
    #expect(try two.text("1 / root.zero") == "-inf")
    #expect(try two.text("root.bytes == '\\0\\xff'") == "true")
  }

  // A8
  @Test func `an opaque table is each process's own`() throws {
    let (one, two) = try pair("{ n = 1 }")
    for replica in [one, two] {
      try replica.run("obs = require 'obs' own = obs.opaque { print } root.own = own")
    }
    try one.run("root.n = 2")
    try settle([one, two])
    #expect(try one.text("root.own == own") == "true")
    #expect(try two.text("root.own == own and root.n") == "2")
    #expect(one.errors + two.errors == [])
  }

  // A9
  @Test func `a batch of others is one turn, which says where it is from`() throws {
    let (one, two) = try pair("{ a = 0, b = 0 }")
    try two.run(
      """
      obs = require 'obs'
      obs.record(true)
      calls = 0
      w = obs.observe(root, { "a", "b" }, function() calls = calls + 1 end)
      """)
    try one.run("root.a = 1 root.b = 2")
    try settle([one, two])
    #expect(try two.text("calls") == "1")
    let reason = try two.text("(select(2, obs.why(w)))")
    #expect(reason.contains("at mirror tree, writer "), "\(reason)")
  }

  // A9, X5
  @Test func `what others write is no step, and undo leaves it`() throws {
    let (one, two) = try pair("{ n = 0, k = 0 }")
    try one.run("history = require 'obs'.history(root) root.n = 1 root.k = 1")
    try settle([one, two])
    try two.run("root.n = 5")
    try settle([one, two])
    try one.run("result = history:undo()")
    try settle([one, two])
    let result = try one.text("root.n .. ' ' .. root.k .. ' ' .. tostring(result)")
    #expect(result == "5 0 true", "\(one.errors)")
    #expect(try one.text("history.can_undo") == "false")
    #expect(one.errors.first?.contains("another process has written 'n'") == true)
    expectSame(try one.text("dump()"), try two.text("dump()"))
  }

  // A1
  @Test func `a transaction that fails sends nothing`() throws {
    let (one, two) = try pair("{ n = 0 }")
    let before = try one.state.version
    try one.run(
      """
      require 'obs'.transaction({ root }, function()
        root.n = 1
        ok, message = pcall(mirror.stop, mirror)
        error 'no'
      end)
      """)
    #expect(try one.text("message").contains("was called inside a transaction"))
    try settle([one, two])
    #expect(try one.state.version == before)
  }

  @Test(arguments: [
    ("obs.mirror(1, 'a')", "table or object of the host program expected"),
    ("obs.mirror({}, 'a b')", "a name has 1 to 200 letters"),
    ("obs.mirror({}, '\\xff')", "a name has 1 to 200 letters"),
    ("obs.mirror({}, 'a', { url = 'x' })", "'x' is no address of a server"),
    ("obs.mirror({}, 'a', { keep = -1 })", "option 'keep' takes a number of batches"),
    ("obs.mirror({}, 'a', { limit = 1 })", "option 'limit' takes a number of bytes from 1024 on"),
    ("obs.mirror({}, 'a', { writes = true })", "did you mean 'write'?"),
    ("obs.mirror({}, 'a', { url = url, journal = '/' })", "the journal '/' cannot be opened"),
    ("obs.mirror(obs.opaque {}, 'a', { url = url })", "the table is opaque"),
    ("obs.mirror(obs.model('M', {}) {}, 'a', { url = url })", "got an instance of M"),
    ("obs.mirror({ a = { print } }, 'a', { url = url })", "'a.1' holds a function"),
    ("obs.mirror(root, 'a', { url = url })", "the table is mirrored by 'tree' already"),
    ("obs.mirror({ x = root }, 'a', { url = url })", "mirrored by 'tree' already"),
    ("obs.mirror({}, 'tree', { url = url })", "'tree' is mirrored in this process already"),
    ("mirror:add(1, 'n', 1)", "bad argument #1 to 'add' (table expected, got number)"),
    ("mirror:add(root, 'b', 1)", "bad argument #2 to 'add' (number expected under 'b', got"),
    ("mirror:add(root.b, 'n', '1')", "bad argument #3 to 'add' (number expected, got string)"),
  ])
  func `bad input is a clear error`(code: String, text: String) throws {
    let one = try replica()
    try one.run(
      """
      obs, url = require 'obs', '\(network.url)'
      ok, message = pcall(function() \(code) end)
      """)
    #expect(try one.text("ok") == "false")
    let message = try one.text("message")
    #expect(message.contains(text), "\(message)")
  }

  @Test(arguments: [
    "{ 1, 2 }", "obs.array { 1, {} }", "obs.dictionary { a = 1 }", "obs.set_of { 1 }",
  ])
  func `lists and collections are roots, too`(root: String) throws {
    let code = root.replacing("obs.", with: "require 'obs'.")
    let one = try replica("{ root = \(code) }")
    try settle([one])
    let empty = root.hasPrefix("{") ? "{}" : String(code.prefix { $0 != "{" }) + "{}"
    let two = try replica("{ root = \(empty) }")
    try settle([one, two])
    expectSame(try one.text("dump()"), try two.text("dump()"))
  }

  @Test func `a mirror may be stopped in a callback`() throws {
    let (one, two) = try pair("{ n = 0 }")
    try two.run("require 'obs'.observe(root, 'n', function() mirror:stop() mirror:stop() end)")
    try one.run("root.n = 1")
    try network.run { try two.state.state == "stopped" }
    try one.run("root.n = 2")
    try settle([one])
    #expect(try two.text("root.n") == "1")
    #expect(one.errors + two.errors == [])
  }
}
