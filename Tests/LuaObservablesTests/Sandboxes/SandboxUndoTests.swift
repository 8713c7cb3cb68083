import Lua
import LuaObservables
import Observables
import Testing

/// S8, X5: transactions and histories of a sandbox undo only the writes of that sandbox.
struct SandboxUndoTests {
  private let test: ContainedHost
  private let a: LuaSandbox
  private let b: LuaSandbox
  private let paper = Paper()

  init() throws {
    test = try ContainedHost()
    let paper = paper
    try test.host.set("paper", to: paper)
    try test.host.set("turn_page") { () -> Void in paper.pages += 1 }
    try test.host.run(
      """
      obs = require 'obs'
      t = { x = 1, y = 1, list = { 1, 2, 3 }, set = obs.set_of { 1 }, array = obs.array { 1, 2, 3 },
            sub = { z = 1 } }
      function text(list) return table.concat(list, ' ') end
      """)
    (a, b) = try test.sandboxes(
      running: """
        obs = require 'obs'
        -- Calls a function inside of the next write of `x`.
        function inside(body) obs.observe(t, 'x', body, { immediate = true, once = true }) end
        """)
  }

  /// Runs a body as a failing transaction of `a`.
  private func fail(_ body: String) throws {
    try a.run("obs.transaction({ t, paper }, function() \(body) error 'no' end)")
  }

  @Test func `a transaction undoes its own writes, also by Swift functions`() throws {
    try fail("t.x, t.new, paper.title = 2, 3, 'new' turn_page()")
    try test.host.run("assert(t.x == 1 and t.new == nil)")
    #expect(paper.title == "" && paper.pages == 0)
  }

  @Test func `writes of others' callbacks inside of it stay`() throws {
    try b.run(
      """
      inside(function()
        t.other, t.sub.z, paper.title = 5, 6, 'of b'
        t.set:add(2)
      end)
      """)
    try fail("t.set:add(3) t.sub.z = 9 t.x = 2 t.y = 2 t.set:remove(1)")
    try test.host.run("assert(t.x == 1 and t.y == 1 and t.other == 5 and t.sub.z == 6)")
    try test.host.run("assert(t.set:contains(1) and t.set:contains(2) and not t.set:contains(3))")
    #expect(paper.title == "of b")
    // Both sandboxes have written `sub.z`.
    #expect(
      test.reports.map(\.error.message) == [
        "another script has written 'z' of a table since, so its value stays"
      ])
  }

  @Test func `undoing a write over one of others restores theirs`() throws {
    try b.run("inside(function() t.y = 5 end)")
    try fail("t.x = 2 assert(t.y == 5) t.y = 7")
    try test.host.run("assert(t.x == 1 and t.y == 5)")
    #expect(test.reports.isEmpty)
  }

  @Test func `writes of a Swift watcher stay`() throws {
    try paper.observeImmediately("title", in: test.loop) { paper, _ in paper.pages = 9 }
    try fail("paper.title = 'new'")
    #expect(paper.title == "" && paper.pages == 9)
  }

  @Test(arguments: ["list", "array"])
  func `elements of others stay in a list`(name: String) throws {
    let changes: [(own: String, other: String, then: String, result: String)] = [
      ("insert(l, 'a')", "insert(l, 'b')", "", "1 2 3 b"),
      ("insert(l, 1, 'a')", "insert(l, 1, 'b')", "insert(l, 1, 'c')", "b 1 2 3"),
      ("remove(l, 1)", "insert(l, 'b')", "", "1 2 3 b"),
      ("insert(l, 2, 'a')", "remove(l, 1)", "remove(l, 2)", "2 3"),
      ("l[2] = 'a'", "l[1] = 'b'", "l[3] = 'a'", "b 2 3"),
      ("", "remove(l, 2)", "insert(l, 1, 'a') insert(l, 'z')", "1 3"),
      ("remove(l) remove(l)", "insert(l, 1, 'b')", "remove(l)", "b 1 2 3"),
      ("insert(l, 2, 'a')", "obs.clear(l)", "insert(l, 'z')", ""),
      ("insert(l, 2, 'a')", "obs.batch(function() remove(l) remove(l, 1) end)", "", "2"),
    ]
    for change in changes {
      try test.host.run("t.\(name) = obs.array { 1, 2, 3 }")
      if name == "list" { try test.host.run("t.list = { 1, 2, 3 }") }
      let head = "local insert, remove, l = table.insert, table.remove, t.\(name)"
      try b.run("inside(function() \(head) \(change.other) end)")
      try fail("\(head) \(change.own) t.x = t.x + 1 \(change.then)")
      #expect(try test.host.run("return text(t.\(name))")[0].text == change.result, "\(change)")
    }
    #expect(test.reports.isEmpty)
  }

  @Test func `an element that others have put in place of its own stays`() throws {
    try b.run("inside(function() t.list[2] = 'b' end)")
    try fail("t.list[2] = 'a' t.x = 2")
    #expect(try test.host.run("return text(t.list)")[0].text == "1 b 3")
    #expect(test.reports.count == 1)
  }

  @Test func `scripts of the host undo everything`() throws {
    try b.run("inside(function() t.y = 5 end)")
    try test.host.run("obs.transaction({ t }, function() t.x = 2 error 'no' end)")
    try test.host.run("assert(t.x == 1 and t.y == 1)")
  }

  // MARK: Histories

  @Test func `a step of a history has the writes of its sandbox`() throws {
    try a.run("history = obs.history(t)")
    try b.run("t.x = 5")
    #expect(try a.run("return history.can_undo, history:undo()") == [false, false])
    try b.run("inside(function() t.y = 5 t.sub.z = 5 table.insert(t.list, 1, 'b') end)")
    try a.run("t.new = 1 t.x = 2 t.sub.z = 7 table.insert(t.list, 'a')")
    try test.host.run("assert(text(t.list) == 'b 1 2 3 a')")
    #expect(try a.run("return history:undo()") == [true])
    try test.host.run(
      """
      assert(t.x == 5 and t.y == 5 and t.new == nil and t.sub.z == 5)
      assert(text(t.list) == 'b 1 2 3')
      """)
    #expect(try a.run("return history:redo()") == [true])
    try test.host.run("assert(t.x == 2 and t.sub.z == 7 and text(t.list) == 'b 1 2 3 a')")
    #expect(try a.run("return history:undo(), history:undo()") == [true, false])
    #expect(test.reports.isEmpty)
  }

  @Test func `later writes of others stay, and are reported`() throws {
    try a.run("history = obs.history(t) t.x, t.y, t.sub = 2, 2, { z = 3 }")
    try a.run("table.insert(t.list, 1, 'a') table.insert(t.list, 'c')")
    try b.run("t.x = 5 table.insert(t.list, 2, 'b') table.remove(t.list)")
    #expect(try a.run("return history:undo()") == [true])
    #expect(try test.host.run("return text(t.list)")[0].text == "b 1 2 3")
    #expect(test.reports.isEmpty)
    #expect(try a.run("return history:undo()") == [true])
    try test.host.run("assert(t.x == 5 and t.y == 1 and t.sub.z == 1)")
    #expect(
      test.reports.map(\.error.message) == [
        "another script has written 'x' of a table since, so its value stays"
      ])
  }

  // L5
  @Test func `a stop by a script of the host does not end a history`() throws {
    try a.run("history = obs.history(t) table.insert(t.list, 'a')")
    #expect(try test.host.run("return obs.stop(t.list), obs.stop(t.sub)") == [0, 0])
    try b.run("table.insert(t.list, 1, 'b')")
    #expect(try a.run("return history:undo()") == [true])
    #expect(try test.host.run("return text(t.list)")[0].text == "b 1 2 3")
  }

  @Test func `Swift functions that it calls are a part of a step`() throws {
    try a.run("history = obs.history(paper) turn_page() paper.title = 'a'")
    paper.title = "of Swift"
    test.host.step()
    try a.run("assert(history:undo())")
    #expect(paper.pages == 0 && paper.title == "of Swift")
    #expect(test.reports.count == 1)
  }

  @Test func `a sandbox may have only a limited number of histories of an object`() throws {
    let error = #expect(throws: LuaError.self) {
      try a.run("histories = {} for i = 1, 100 do histories[i] = obs.history(t) end")
    }
    #expect(error?.code == .quota)
    try b.run("history = obs.history(t) t.x = 7")
    #expect(try b.run("return history:undo()") == [true])
  }
}
