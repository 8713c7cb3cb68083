import Foundation
import Testing

/// What suites written for busted use, in scripts that the program tests.
struct BustedTests {
  /// Runs `d/a.lua`, and returns the output.
  private func run(
    _ script: String, _ options: String = "d", after preparation: String = ":"
  ) throws -> Command.Outcome {
    let write = "mkdir -p d; cat >d/a.lua <<'END'\n\(script)\nEND\n"
    return try Command("\(write)\(preparation)\n$L --test --timeout=600 \(options)").run()
  }

  @Test func `a suite of 30 cases for busted runs as it is`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Busted")
    let command = "mkdir d; cp '\(folder.path)/stack_spec.lua' d; $L --test --timeout=600 d"
    let expected = try String(contentsOf: folder.appending(path: "stack_spec.tap"), encoding: .utf8)
    let outcome = try Command(command).run()
    #expect(outcome == .init(output: expected, errors: "", status: 0))
  }

  @Test func `hooks run around each case, and once around each block`() throws {
    let script = """
      before_each(function() log "file before" end)
      describe("outer", function()
        it("first", function() log "first" expect(true) end)
        setup(function() log "outer setup" end)
        before_each(function() log "outer before" end)
        after_each(function() log "outer after" end)
        teardown(function() log "outer teardown" end)
        describe("inner", function()
          setup(function() log "inner setup" end)
          before_each(function() log "inner before" end)
          after_each(function() log "inner after" end)
          it("second", function()
            finally(function() log "finally" end)
            log "second"
            error "no"
          end)
          teardown(function() log "inner teardown" end)
        end)
      end)
      expect_log {
        "outer setup", "file before", "outer before", "first", "outer after", "inner setup",
        "file before", "outer before", "inner before", "second", "finally", "inner after",
        "outer after", "inner teardown", "outer teardown",
      }
      """
    let outcome = try run(script)
    #expect(
      outcome.output.split(separator: "\n").filter { $0.contains("ok") } == [
        "ok 1 - d/a.lua: outer: first", "not ok 2 - d/a.lua: outer: inner: second",
      ])
  }

  @Test func `errors of hooks are failures at their lines`() throws {
    let script = """
      describe("a", function()
        before_each(function() error "before" end)
        it("does not run", function() print "runs" end)
      end)
      describe("b", function()
        setup(function() error "setup" end)
        it("does not run", function() print "runs" end)
      end)
      describe("c", function()
        teardown(function() error "teardown" end)
        it("runs", function() expect(true) end)
      end)
      describe("d", function() error "block" end)
      """
    let lines = try run(script).output.split(separator: "\n")
    #expect(
      lines.filter { !$0.hasPrefix("# \t") && !$0.hasPrefix("# stack") } == [
        "TAP version 13", "not ok 1 - d/a.lua: a: does not run",
        "# d/a.lua:2: a: does not run: d/a.lua:2: before", "not ok 2 - d/a.lua: b",
        "# d/a.lua:6: b: d/a.lua:6: setup", "ok 3 - d/a.lua: c: runs", "not ok 4 - d/a.lua: c",
        "# d/a.lua:10: c: d/a.lua:10: teardown", "not ok 5 - d/a.lua: d",
        "# d/a.lua:13: d: d/a.lua:13: block", "1..5",
      ])
  }

  private static let skipping = """
    describe("a", function()
      pending("later", function() error "never" end)
      it("has no function")
      it("stops", function() skip "no printer" error "never" end)
    end)
    case("checks", function() expect(1) end)
    """

  @Test func `skipped cases are no failures, and reports show their reasons`() throws {
    let outcome = try run(Self.skipping, "--junit=out.xml d; cat out.xml")
    let tap = """
      TAP version 13
      ok 1 - d/a.lua: a: later # SKIP
      ok 2 - d/a.lua: a: has no function # SKIP it has no function
      ok 3 - d/a.lua: a: stops # SKIP no printer
      ok 4 - d/a.lua: checks
      1..4

      """
    #expect(outcome.output.hasPrefix(tap), "\(outcome)")
    #expect(outcome.output.contains("<testsuites tests=\"4\" failures=\"0\" skipped=\"3\">"))
    #expect(outcome.output.contains("<skipped message=\"no printer\"/>"))
  }

  @Test(.enabled(if: access("/usr/bin/script", X_OK) == 0))
  func `a terminal shows skipped cases, too`() throws {
    let command = "script -qec './lua --test d' /dev/null | tr -d '\\r'; true"
    let outcome = try run(Self.skipping, "d >out; \(command)")
    #expect(
      outcome.output == """
        d/a.lua
          ○ a: later
          ○ a: has no function (it has no function)
          ○ a: stops (no printer)
          ✓ checks
        1 passed, 0 failed, 3 skipped

        """)
  }

  @Test func `a case without a check is marked, unless it has inner cases or is skipped`() throws {
    let script = """
      case("nothing", function() end)
      case("inner cases", function() case("checks", function() expect(1) end) end)
      case("time passes", function() advance(1) end)
      case("skipped", function() pending "later" end)
      """
    #expect(
      try run(script).output == """
        TAP version 13
        ok 1 - d/a.lua: nothing
        # the case made no check, such as expect(value, "what")
        ok 2 - d/a.lua: inner cases
        ok 3 - d/a.lua: inner cases: checks
        ok 4 - d/a.lua: time passes
        ok 5 - d/a.lua: skipped # SKIP later
        1..5

        """)
  }

  @Test func `spies see calls, and are gone after the case or block`() throws {
    let script = """
      local obs = require "obs"
      local t = { f = function(n) return n + 1 end, n = 1 }
      local f = t.f
      obs.observe(t, "n", function() t.f(t.n) end)
      case("a spy", function()
        local s = spy(t, "f")
        t.n = 2
        advance(0)
        expect_equal(s.calls, { { 2 } })
        expect_equal(s.calls[1].vals, { 2 })
        expect_equal(t.f(4), 5)
        s:clear()
        assert.spy(s).was_not.called()
      end)
      expect(t.f == f, "restored")
      case("a stub", function()
        stub(t, "f", 7, 8)
        expect_equal({ t.f(1) }, { 7, 8 })
        t.f.on_call_with(2).returns("two")
        expect_equal(t.f(2), "two")
        assert.spy(t.f).was.called(2)
        error "leaves"
      end)
      expect(t.f == f, "restored after an error")
      describe("a block", function()
        setup(function() stub(t, "f", "in the block") end)
        it("has it", function() expect_equal(t.f(), "in the block") end)
        it("keeps it", function() expect_equal(t.f(), "in the block") end)
      end)
      expect(t.f == f, "restored after the block")
      """
    let lines = try run(script).output.split(separator: "\n").filter { $0.contains("ok ") }
    #expect(
      lines == [
        "ok 1 - d/a.lua: a spy", "not ok 2 - d/a.lua: a stub", "ok 3 - d/a.lua: a block: has it",
        "ok 4 - d/a.lua: a block: keeps it",
      ])
  }

  @Test(
    arguments: [
      ("assert.are.equal(1, 2, 'sum')", "sum: 2, expected 1"),
      ("assert.are.same({ a = 1 }, { a = 2 })", "a: 2, expected 1"),
      ("assert.is_not.equal(1, 1)", "not expected: equal(1, 1)"),
      ("assert.is_not_nil(nil)", "nil, expected not nil"),
      ("assert.is.True(1)", "1, expected true"),
      ("assert.has_error(function() error 'a' end, 'b')", #"the error "a", expected "b""#),
      ("assert.has_no.errors(function() error('a', 0) end)", #"the error "a""#),
      ("assert.near(1, 2, 0.5)", "2, expected 1 ± 0.5"),
      ("assert.matches('^b', 'ab')", #""ab" does not match "^b""#),
      ("local s = spy.new() s(1) assert.spy(s).was.called_with(2)", "calls: (1), expected (2)"),
      ("assert.spy(spy.new()).was.called(2)", "called 0 times, expected called 2 times"),
      ("assert.is_tabel {}", "assert has no \"tabel\" (did you mean 'table'?)"),
      ("assert.was.called(1)", "'called' needs a spy: assert.spy(s).was.called(…)"),
      ("assert.spy(print)", "bad argument #1 to 'assert.spy' (spy expected, got function)"),
      ("assert.has_error(1)", "bad argument #1 to 'has_error' (function expected, got number)"),
      (
        "spy({ push = print }, 'psuh')",
        "bad argument #2 to 'spy' (\"psuh\" is nil, function expected; did you mean 'push'?)"
      ),
      ("require('busted').publish()", "busted has no \"publish\" (it has after_each, "),
      ("stub.nwe()", "stub has no \"nwe\" (did you mean 'new'?)"),
      (
        "randomize()",
        "'randomize' is not available: obs-lua --test --shuffle runs cases in random order"
      ),
      ("setup(print)", "'setup' belongs in a describe, outside of its cases and hooks"),
      ("assert(nil, 'told')", "told"), ("assert(false)", "assertion failed!"),
    ])
  func `failures end the case, and say what was expected`(code: String, text: String) throws {
    let outcome = try run("case('a', function() \(code) print 'goes on' end)")
    #expect(
      outcome.output.hasPrefix(
        "TAP version 13\nnot ok 1 - d/a.lua: a\n# d/a.lua:1: a: d/a.lua:1: \(text)"),
      "\(outcome)")
    #expect(!outcome.output.contains("goes on"))
  }

  private static let tagged = """
    describe("a #db", function()
      setup(function() print "setup" end)
      it("one #fast", function() expect(1) end)
      it("two #slow", function() expect(1) end)
    end)
    describe("b", function()
      it("three #faster", function() expect(1) end)
      it("four", function() expect(1) end)
    end)
    """

  @Test(
    arguments: [
      ("--tags=fast", ["a #db: one #fast"]),
      ("--tags=fast,slow --exclude-tags=slow", ["a #db: one #fast"]),
      ("--exclude-tags=db", ["b: three #faster", "b: four"]),
      ("--tags=db", ["a #db: one #fast", "a #db: two #slow"]),
      ("--list", ["a #db: one #fast", "a #db: two #slow", "b: three #faster", "b: four"]),
      ("--list --filter=three", ["b: three #faster"]),
    ] as [(String, [String])])
  func `tags and filters choose cases, and lists run none`(options: String, names: [String]) throws
  {
    let outcome = try run(Self.tagged, "\(options) d")
    let isList = options.hasPrefix("--list")
    let hasSetup = !isList && names[0].hasPrefix("a")
    let lines = names.enumerated().map { index, name in
      isList
        ? "d/a.lua: \(name)\n"
        : "ok \(index + 1) - d/a.lua: \(name.replacing("#", with: "\\#"))\n"
    }
    let tap = "TAP version 13\n" + (hasSetup ? "# setup\n" : "")
    let expected = isList ? lines.joined() : tap + lines.joined() + "1..\(names.count)\n"
    #expect(outcome == .init(output: expected, errors: "", status: 0))
  }

  @Test func `tags that no case has are an error`() throws {
    let outcome = try run(Self.tagged, "--tags=zzz d")
    #expect(outcome.errors == "./lua: no case is left by the tags\n" && outcome.status == 2)
  }

  @Test func `a printed seed repeats a random order`() throws {
    let its = (1...12).map { "it('\($0)', function() expect(1) end)\n" }.joined()
    let script = "describe('a', function()\n\(its)end)"
    let other = "for n in 1 2 3 4 5 6 7 8; do cp d/a.lua d/$n.lua; done"
    func output(_ options: String) throws -> [String] {
      try run(script, options + " d", after: other).output.split(separator: "\n").map(String.init)
    }
    let first = try output("--shuffle")
    let seed = try #require(first.dropFirst().first?.split(separator: "=").last)
    #expect(first[1] == "# shuffled with --shuffle=\(seed)")
    #expect(try output("--shuffle=\(seed)") == first)
    let next = try output("--shuffle=\((Int(seed) ?? 0) + 1)")
    let plain = try output("")
    func cases(_ lines: [String]) -> [Substring] {
      lines.filter { $0.hasPrefix("ok") }.map { $0.split(separator: " - ")[1] }
    }
    #expect(cases(next) != cases(first) && cases(plain) != cases(first))
    #expect(cases(next).sorted() == cases(plain).sorted())
    let ofOneFile = cases(first).filter { $0.hasPrefix("d/a.lua") }
    #expect(ofOneFile != cases(plain).filter { $0.hasPrefix("d/a.lua") })
  }

  @Test func `everything is repeated`() throws {
    let outcome = try run("case('a', function() expect(1) end)", "--repeat=3 d")
    let lines = (1...3).map { "ok \($0) - d/a.lua: a\n" }.joined()
    #expect(outcome.output == "TAP version 13\n\(lines)1..3\n")
  }

  @Test func `coverage counts the lines of modules, in coroutines too`() throws {
    let module = """
      cat >d/m.txt <<'END'
      local m = {}
      function m.sign(n)
        if n < 0 then
          return "-"
        end
        return "+"
      end
      function m.never()
        return m
      end
      return m
      END
      mkdir d/lib; mv d/m.txt d/lib/m.lua
      """
    let script = """
      local m = require "lib.m"
      case("a", function()
        expect_equal(m.sign(1), "+")
        expect_equal(coroutine.wrap(m.sign)(2), "+")
      end)
      """
    let outcome = try run(script, "--coverage --repeat=2 d; cat lcov.info", after: module)
    #expect(
      outcome.output == """
        TAP version 13
        ok 1 - d/a.lua: a
        ok 2 - d/a.lua: a
        1..2
        # covered 80.0 %, 8 of 10 lines: d/lib/m.lua
        # covered 80.0 %, 8 of 10 lines: all files
        TN:
        SF:d/lib/m.lua
        DA:1,2
        DA:2,2
        DA:3,4
        DA:4,0
        DA:6,4
        DA:7,2
        DA:8,2
        DA:9,0
        DA:10,2
        DA:11,2
        LF:10
        LH:8
        end_of_record

        """)
  }

  @Test func `subfolders have tests whose names say so, and modules`() throws {
    let files = """
      mkdir -p d/in/deep d/.git
      for name in in/a_test in/b_spec in/test_c in/module in/deep/d_spec .git/e_spec; do
        echo 'expect(1)' >d/$name.lua
      done
      ln -s .. d/in/up
      """
    let names = ["a", "in/a_test", "in/b_spec", "in/test_c", "in/deep/d_spec"]
    let lines = names.enumerated().map { "ok \($0 + 1) - d/\($1).lua: the file\n" }
    let outcome = try run("expect(1)", after: files)
    #expect(outcome.output == "TAP version 13\n\(lines.joined())1..5\n")
  }

  @Test(
    arguments: [
      ("--shuffle=x d", "'--shuffle' is written '--shuffle[=SEED]', with a whole number from 0 on"),
      ("--repeat=0 d", "'--repeat' is written '--repeat=N', with a whole number from 1 on"),
      ("--tags= d", "'--tags' is written '--tags=NAMES'"),
      ("--list --junit=x d", "'--junit' cannot be used with '--list'"),
      ("--coverage --turn-time=1s d", "'--coverage' cannot be used with '--turn-time'"),
      ("--coverage=no/x d", "cannot write 'no/x': No such file or directory"),
    ])
  func `options that make no sense are refused`(options: String, message: String) throws {
    let outcome = try run("expect(1)", options)
    #expect(outcome.errors == "./lua: \(message)\n" && outcome.status == 2, "\(outcome)")
  }
}
