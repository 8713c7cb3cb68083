import Foundation
import Testing

/// The shell writes the files before the program runs.
struct TestRunnerTests {
  private static let good = "echo 'case(\"adds\", function() expect(1 + 1 == 2) end)' >d/good.lua"
  private static let bad = "echo 'case(\"fails\", function() expect(false, \"no\") end)' >d/bad.lua"
  private static let exiting = "echo 'case(\"ends\", function() os.exit(0) end)' >d/exit.lua"
  private static let broken = "echo 'x = = 1' >d/broken.lua"
  private static let raising = "echo 'error \"oh\"' >d/raising.lua"

  private func run(_ files: [String], _ options: String = "d") throws -> Command.Outcome {
    // A busy machine must not make a file time out.
    let line = "mkdir d; \(files.map { $0 + "; " }.joined())$L --test --timeout=600 \(options)"
    return try Command(line).run()
  }

  @Test func `on a pipe the results are TAP, and output of scripts is a comment`() throws {
    let printing = "echo 'case(\"prints\", function() print(\"ok 7\") expect(1) end)' >d/print.lua"
    let outcome = try run([Self.good, Self.bad, printing])
    let expected = """
      TAP version 13
      not ok 1 - d/bad.lua: fails
      # d/bad.lua:1: fails: no: false
      ok 2 - d/good.lua: adds
      # ok 7
      ok 3 - d/print.lua: prints
      1..3

      """
    #expect(outcome == .init(output: expected, errors: "", status: 3))
  }

  /// After `fork`, locks of Swift's runtime hang if several threads wait for one.
  @Test(.disabled(if: Command.delaysSignals))
  func `the process of a file has one thread`() throws {
    let counting = """
      cat >d/threads.lua <<'END'
      local file = io.open "/proc/self/status"
      local status = file:read "a"
      file:close()
      case("threads", function() expect_equal(status:match "Threads:%s*(%d+)", "1") end)
      END
      """
    // `run` puts a semicolon after it, which must not follow END.
    let outcome = try run([counting + "\n:"])
    #expect(outcome.status == 0, "\(outcome)")
  }

  @Test(.enabled(if: access("/usr/bin/script", X_OK) == 0))
  func `on a terminal each case has a line, and TAP is an option`() throws {
    let command = "script -qec './lua --test d' /dev/null | tr -d '\\r'"
    let lines = try Command("mkdir d; \(Self.good); \(Self.bad); \(command)").run()
    let expected = """
      d/bad.lua
        ✗ fails
            d/bad.lua:1: fails: no: false
      d/good.lua
        ✓ adds
      1 passed, 1 failed

      """
    #expect(lines.output == expected)
    let tap = "script -qec './lua --test --tap d' /dev/null | tr -d '\\r'"
    let outcome = try Command("mkdir d; \(Self.good); \(tap)").run()
    #expect(outcome.output == "TAP version 13\nok 1 - d/good.lua: adds\n1..1\n")
  }

  @Test(
    arguments: [
      ([good], CInt(0)), ([good, bad], 3), ([good, raising], 3), ([exiting], 3), ([broken], 1),
      ([bad, broken], 1), ([], 2),
    ] as [([String], CInt)])
  func `the exit status reflects the results of the files`(files: [String], status: CInt) throws {
    #expect(try run(files).status == status)
  }

  @Test func `a path without a file is named`() throws {
    let missing = try run([], "d/x.lua")
    #expect(missing.errors == "./lua: there is no file or folder 'd/x.lua'\n")
    #expect(missing.status == 2)
    #expect(try run([]).errors == "./lua: there is no *.lua in 'd'\n")
    #expect(try run([], "").errors == "./lua: '--test' needs files or folders\n")
  }

  @Test func `a file that hangs is a failed case, and the others run`() throws {
    let hang = "echo 'case(\"loops\", function() while true do end end)' >d/hang.lua"
    let outcome = try run([Self.good, hang], "--timeout=0.5 d")
    let expected = """
      TAP version 13
      ok 1 - d/good.lua: adds
      not ok 2 - d/hang.lua: loops
      # d/hang.lua: hung: no end within 0.5 s (--timeout=0.5)
      1..2

      """
    #expect(outcome == .init(output: expected, errors: "", status: 3))
  }

  @Test func `a process that a signal ends is a failed case`() throws {
    let script = "case(\"dies\", function() io.popen(\"kill -9 $PPID\"):read(\"a\") end)"
    let outcome = try run(["echo '\(script)' >d/dies.lua", Self.good])
    #expect(
      outcome.output.contains(
        """
        not ok 1 - d/dies.lua: dies
        # d/dies.lua: the process was ended by signal 9 (Killed)
        ok 2 - d/good.lua: adds
        """))
    #expect(outcome.status == 3)
  }

  @Test func `tracebacks show checks, not their code, and a case fails with its inner one`() throws
  {
    let nested =
      "echo 'case(\"a\", function() case(\"b\", function() error(\"oh\") end) end)' >d/a.lua"
    let expected = """
      TAP version 13
      not ok 1 - d/a.lua: a
      # d/a.lua:1: a: an inner case failed
      not ok 2 - d/a.lua: a: b
      # d/a.lua:1: a: b: d/a.lua:1: oh
      # stack traceback:
      # \t[C]: in function 'error'
      # \td/a.lua:1: in function <d/a.lua:1>
      # \t[C]: in function 'case'
      # \td/a.lua:1: in function <d/a.lua:1>
      # \t[C]: in function 'case'
      # \td/a.lua:1: in main chunk
      1..2

      """
    #expect(try run([nested]).output == expected)
  }

  @Test func `os.exit is an error at its line`() throws {
    let outcome = try run([Self.exiting])
    #expect(outcome.output.contains("d/exit.lua:1: os.exit would end all tests\n"))
  }

  @Test func `the filter looks at names of files and sentences`() throws {
    let files = [Self.good, Self.bad, ": >d/empty.lua"]
    let file = try run(files, "--filter=good d")
    #expect(file.output == "TAP version 13\nok 1 - d/good.lua: adds\n1..1\n")
    #expect(file.status == 0)
    let sentence = try run(files, "--filter=add d")
    #expect(sentence.output == file.output)
    let nothing = try run(files, "--filter=zzz d")
    #expect(nothing.errors == "./lua: no file or case has 'zzz' in its name\n")
    #expect(nothing.status == 2)
  }

  @Test func `the first failure ends all with --fail-fast`() throws {
    let two = "case(\"one\", function() expect(nil) end) case(\"two\", function() expect(1) end)"
    let outcome = try run(["echo '\(two)' >d/a.lua", Self.good], "--fail-fast d")
    #expect(
      outcome.output == """
        TAP version 13
        not ok 1 - d/a.lua: one
        # d/a.lua:1: one: expected a value that is true: nil
        1..1

        """)
    #expect(outcome.status == 3)
  }

  @Test(arguments: 1...4)
  func `the output is in the order of the files`(jobs: Int) throws {
    // The first file ends after the start of the last one, if both run at once.
    let first =
      "echo 'if \(jobs) > 3 then io.open(\"fifo\"):read \"a\" end expect(1)' >d/a.lua"
    let last = "echo 'if \(jobs) > 3 then io.open(\"fifo\", \"w\"):close() end expect(1)' >d/d.lua"
    let others = ["echo 'expect(1)' >d/b.lua", "echo 'expect(1)' >d/c.lua"]
    let outcome = try run(["mkfifo fifo", first, last] + others, "--jobs=\(jobs) d")
    let lines = "abcd".enumerated().map { "ok \($0 + 1) - d/\($1).lua: the file\n" }
    #expect(outcome.output == "TAP version 13\n" + lines.joined() + "1..4\n")
    #expect(outcome.status == 0)
  }

  @Test func `names are escaped in TAP and in XML`() throws {
    let name = "<a> & # TODO\\n\\27[2J\\u{9B}1m"
    let script = "case(\"\(name)\", function() print(\"]]>\") expect(1) end)"
    let write = "printf '%s' '\(script)' >'d/we\"ird #&.lua'"
    let outcome = try run([write], "--junit=out.xml d; cat out.xml")
    #expect(outcome.output.contains("ok 1 - d/we\"ird \\#&.lua: <a> & \\# TODO␊␛[2J\u{FFFD}1m\n"))
    let xml = outcome.output.split(separator: "1..1\n").last ?? ""
    let cases = """
      <testcase classname="d/we&quot;ird #&amp;.lua" \
      name="&lt;a&gt; &amp; # TODO&#10;␛[2J\u{FFFD}1m"/>
      """
    #expect(xml.hasPrefix("<?xml version=\"1.0\""))
    #expect(xml.contains(cases))
    #expect(xml.contains("<system-out>]]&gt;&#10;</system-out>"))
  }

  @Test func `XML counts failures and has their texts`() throws {
    let outcome = try run([Self.good, Self.bad], "--junit=out.xml d >/dev/null; cat out.xml")
    #expect(outcome.output.contains("<testsuites tests=\"2\" failures=\"1\" skipped=\"0\">"))
    let failure = "<failure message=\"d/bad.lua:1: fails: no: false\">d/bad.lua:1: fails: no: false"
    #expect(outcome.output.contains(failure + "</failure>"))
  }

  @Test func `zeros in printed text or messages hide nothing`() throws {
    let script = #"case("a\0b", function() print("c\0d") expect(false, "e\0f") end)"#
    let outcome = try run(["printf '%s' '\(script)' >d/a.lua", Self.good], "--junit=out.xml d")
    #expect(
      outcome.output == """
        TAP version 13
        # c␀d
        not ok 1 - d/a.lua: a␀b
        # d/a.lua:1: a␀b: e␀f: false
        ok 2 - d/good.lua: adds
        1..2

        """, "\(outcome)")
  }

  @Test func `a case that waits for ever is a failure`() throws {
    let script = """
      local obs = require "obs"
      obs.task(function()
        case("waits", function()
          obs.await(function() end)
        end)
      end)
      obs.task(function() case("ends", function() obs.sleep(5) expect(true) end) end)
      """
    let outcome = try run(["cat >d/a.lua <<'END'\n\(script)\nEND\n:"])
    #expect(
      outcome.output == """
        TAP version 13
        not ok 1 - d/a.lua: waits
        # d/a.lua:3: waits: it did not finish: it waits for an event that never comes
        ok 2 - d/a.lua: ends
        1..2

        """, "\(outcome)")
    #expect(outcome.status == 3)
  }

  @Test func `a file of results that cannot be written is an error`() throws {
    let outcome = try run([Self.good], "--junit=no/out.xml d")
    #expect(outcome.errors == "./lua: cannot write 'no/out.xml': No such file or directory\n")
    #expect(outcome.status == 2)
  }

  @Test func `a file without a check fails, and one with checks but no case is a case`() throws {
    let outcome = try run([": >d/empty.lua", "echo 'expect(true)' >d/plain.lua"])
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.contains("not ok 1 - d/empty.lua: the file"))
    #expect(lines.contains("ok 2 - d/plain.lua: the file"))
    #expect(outcome.status == 3)
  }

  @Test func `time is virtual, and errors in callbacks belong to the case`() throws {
    let script = """
      local obs = require "obs"
      case("waits", function() obs.after(3600, function() error "late" end) advance(3600) end)
      """
    let outcome = try run(["echo '\(script)' >d/a.lua"])
    #expect(outcome.output.contains("not ok 1 - d/a.lua: waits\n# d/a.lua:2: late"))
  }

  @Test(
    arguments: [
      ("--tap x.lua", "'--tap' needs '--test'"),
      ("--test --jobs=0 d", "'--jobs' is written '--jobs=N', with a whole number from 1 on"),
      ("--test --junit= d", "'--junit' is written '--junit=FILE'"),
      ("--test --filter= d", "'--filter' is written '--filter=TEXT'"),
      ("--test --sandbox d", "'--sandbox' cannot be used with '--test'"),
      ("--test -i d", "'-e, -l, -i, -v or -W' cannot be used with '--test'"),
    ])
  func `options that make no sense are refused`(arguments: String, message: String) throws {
    let outcome = try Command("$L \(arguments)").run()
    #expect(outcome == .init(output: "", errors: "./lua: \(message)\n", status: 2))
  }

  @Test func `objects that a case leaves behind are a failure with --leaks`() throws {
    let file = """
      cat >d/leaks.lua <<'END'
      local obs = require "obs"
      local kept = { n = 1 }
      obs.observe(kept, "n", function() end, { name = "outside of cases" })
      case("leaves nothing", function()
        obs.observe({ n = 1 }, "n", function() end)
        obs.after(1, function() expect(true) end)
        obs.task(function() obs.sleep(1) end)
        advance(2)
        obs.scope(function() obs.every(1, function() end) end):stop()
        case("in it", function() expect(obs.every(1, function() end)):stop() end)
        obs.observe(kept, "n", function() end, { once = true })
        obs.observe(kept, "n", function() end, { observer = {} })
        kept.n = kept.n + 1
        return kept
      end)
      case("returns what it has observed", function()
        local t = { n = 1 }
        expect(obs.observe(t, "n", function() end))
        return t
      end)
      case("leaves all", function()
        obs.observe(kept, "n", function() end, { name = "named" })
        for _ = 1, 3 do obs.every(1, function() end):unref() end
        case("in it", function() expect(obs.observe(kept, "n", function() end)) end)
        obs.task(function() obs.sleep(1000) end)
        obs.on_writable(1, function() end):unref()
        expect(true)
      end)
      END
      :
      """
    let outcome = try run([file], "--leaks d")
    let expected = """
      TAP version 13
      ok 1 - d/leaks.lua: leaves nothing
      ok 2 - d/leaks.lua: leaves nothing: in it
      ok 3 - d/leaks.lua: returns what it has observed
      not ok 4 - d/leaks.lua: leaves all
      # d/leaks.lua:22: left behind: watcher named at d/leaks.lua:22
      # d/leaks.lua:24: left behind: watcher at d/leaks.lua:24
      # d/leaks.lua:23: left behind: timer every at d/leaks.lua:23 (3 times)
      # d/leaks.lua:26: left behind: handler on_writable at d/leaks.lua:26
      # d/leaks.lua:25: left behind: task at d/leaks.lua:25
      ok 5 - d/leaks.lua: leaves all: in it
      1..5

      """
    #expect(outcome == .init(output: expected, errors: "", status: 3))
    #expect(try run([file]).status == 0)
  }

  @Test func `parallel cases report their own leaks`() throws {
    let file = """
      cat >d/tasks.lua <<'END'
      local obs = require "obs"
      obs.task(function()
        case("first", function()
          obs.sleep(2)
          obs.after(50, print)
          expect(true)
        end)
      end)
      obs.task(function()
        case("second", function()
          kept = { n = 1 }
          obs.observe(kept, "n", print)
          obs.sleep(3)
          expect(true)
        end)
      end)
      case("third", function()
        obs.task(function() obs.next_change({ n = 1 }, "n") end)
        local t = { n = 1 }
        held = t
        obs.task(function() obs.next_change(t, "n") end)
        expect(true)
      end)
      END
      :
      """
    let outcome = try run([file], "--leaks d")
    let expected = """
      TAP version 13
      # 
      not ok 1 - d/tasks.lua: first
      # d/tasks.lua:5: left behind: timer after at d/tasks.lua:5
      not ok 2 - d/tasks.lua: second
      # d/tasks.lua:12: left behind: watcher at d/tasks.lua:12
      not ok 3 - d/tasks.lua: third
      # d/tasks.lua:21: left behind: task at d/tasks.lua:21
      1..3

      """
    #expect(outcome == .init(output: expected, errors: "", status: 3))
  }
}
