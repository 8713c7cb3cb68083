import Foundation
import Testing

/// `--watch`: scripts and tests that run again after a change.
///
/// The shell waits for lines of the output before it continues.
struct WatchTests {
  /// `run` starts the program; `until_lines N TEXT` waits until N lines of the output have the
  /// text, and `until_idle` until the process that runs the script has ended.
  static let functions = """
    run() { LUA_PATH='./?.lua' $L "$@" >>out 2>&1 & P=$!; }
    until_lines() {
      i=0
      while [ "$(grep -c -- "$2" out)" -lt "$1" ]; do
        i=$((i + 1)); [ $i -lt 600 ] || { echo "no '$2'" >>out; kill -9 $P; return; }
        kill -0 $P || return
        sleep 0.05
      done
    }
    until_idle() { while [ -n "$(cat /proc/$P/task/$P/children)" ]; do sleep 0.05; done; }
    finish() { kill -$1 $P; wait $P; echo "status $?" >>out; grep -v '^TAP version' out; }
    : >out
    """

  private func run(_ lines: String) throws -> Command.Outcome {
    try Command("\(Self.functions)\n\(lines)").run()
  }

  @Test func `a script runs again when it changes, or a module that it requires`() throws {
    let outcome = try run(
      """
      cat >s.lua <<'END'
      local obs, value = require "obs", require "m"
      obs.on_exit(function() print("end of " .. value) end)
      obs.every(60, function() end)
      print("value " .. value)
      io.stdout:flush()
      END
      echo 'return 1' >m.lua
      run --watch s.lua
      until_lines 1 'value 1'
      echo 'return 2' >other; mv other m.lua
      until_lines 1 'value 2'
      sed 's/value "/second value "/' s.lua >other; cat other >s.lua
      until_lines 1 'second value 2'
      finish TERM
      """)
    #expect(
      outcome.output == """
        value 1
        end of 1
        value 2
        end of 2
        second value 2
        end of 2
        status 143

        """, "\(outcome)")
  }

  // S9: only the process that runs the script is locked.
  @Test func `a sandbox runs again when a module in its folder changes`() throws {
    let outcome = try run(
      """
      mkdir modules
      echo 'require("obs").every(60, print) print("value " .. require "m")' >s.lua
      echo 'return 1' >modules/m.lua
      run --watch --sandbox=modules s.lua
      until_lines 1 'value 1'
      echo 'return 2' >other; mv other modules/m.lua
      until_lines 1 'value 2'
      finish TERM
      """)
    #expect(outcome.output == "value 1\nvalue 2\nstatus 143\n", "\(outcome)")
  }

  @Test func `a script that has ended or failed runs again, too`() throws {
    let outcome = try run(
      """
      echo 'print "first"' >s.lua
      run --watch s.lua
      until_lines 1 first
      echo 'x = =' >s.lua
      until_lines 1 unexpected
      echo 'print "third"' >s.lua
      until_lines 1 third
      until_idle
      finish INT
      """)
    #expect(
      outcome.output == """
        first
        ./lua: s.lua:1: unexpected symbol near '='
        third
        status 130

        """, "\(outcome)")
  }

  @Test func `targets of links are watched, and files loaded from another folder`() throws {
    let outcome = try run(
      """
      mkdir d real
      cat >real/s.lua <<'END'
      require("obs").every(60, function() end)
      require("lfs").chdir "d"
      print("value " .. require "m")
      io.stdout:flush()
      END
      echo 'return 1' >d/m.lua
      ln -s real/s.lua s.lua
      run --watch s.lua
      until_lines 1 'value 1'
      echo 'return 2' >d/m.lua
      until_lines 1 'value 2'
      sed 's/value "/second value "/' real/s.lua >other; mv other real/s.lua
      until_lines 1 'second value 2'
      finish TERM
      """)
    #expect(
      outcome.output == "value 1\nvalue 2\nsecond value 2\nstatus 143\n", "\(outcome)")
  }

  /// Ways to use `d/m.lua`: the options, and a script that writes what the module returns.
  private static let uses = [
    ("--watch", #"print("value " .. require "d.m") io.stdout:flush()"#),
    (
      "--watch=reload",
      """
      require("obs").every(0.01, function()
        local value = require "d.m"
        if value ~= last then print("value " .. value) io.stdout:flush() end
        last = value
      end)
      """
    ),
    ("--test --watch", #"case("value " .. require "d.m", function() expect(true) end)"#),
    (
      "",
      """
      local function show()
        local file = io.open "d/m.lua"
        local text = file and file:read "a" or ""
        if text ~= "" then print("value " .. text:match "%d") io.stdout:flush() end
      end
      require("obs.io").watch("d/m.lua", show)
      show()
      """
    ),
  ]

  // Q4
  @Test(
    arguments: uses,
    [
      ("mkdir d", "mv d old; mkdir d; echo 'return 2' >d/m.lua"),
      ("mkdir d", "rm -r d; mkdir d; echo 'return 2' >d/m.lua"),
      ("mkdir d", "mkdir new; echo 'return 2' >new/m.lua; mv d old; mv new d"),
      ("mkdir 1 2; ln -s 1 d", "echo 'return 2' >2/m.lua; ln -sfn 2 d"),
      ("mkdir 1 2; ln -s 1 d", "echo 'return 2' >2/m.lua; rm d; ln -s 2 d"),
    ])
  func `a folder may be replaced, and a link may be switched`(
    use: (options: String, script: String), step: (before: String, then: String)
  ) throws {
    let outcome = try run(
      """
      \(step.before); echo 'return 1' >d/m.lua
      cat >s.lua <<'END'
      \(use.script)
      END
      run \(use.options) s.lua
      until_lines 1 'value 1'
      \(step.then)
      until_lines 1 'value 2'
      echo 'return 3' >d/m.lua
      until_lines 1 'value 3'
      finish TERM
      """)
    // The script may have ended when the signal comes, so the status is not always the same.
    #expect(outcome.output.contains("value 3"), "\(outcome)")
    #expect(!outcome.output.contains("no 'value"), "\(outcome)")
  }

  // H1, H5
  @Test(arguments: ["--watch", "--watch=reload"])
  func `a module of another language is watched, too`(options: String) throws {
    let outcome = try run(
      """
      cat >s.lua <<'END'
      table.insert(package.searchers, function(name)
        local file = io.open(name .. ".txt")
        if not file then return "no text" end
        local text = file:read "a"
        file:close()
        return function() return { value = text } end, name .. ".txt"
      end)
      local m, last = require "m", nil
      require("obs").every(0.01, function()
        if m.value ~= last then io.stdout:write("value " .. m.value) io.stdout:flush() end
        last = m.value
      end)
      END
      echo 1 >m.txt
      run \(options) s.lua
      until_lines 1 'value 1'
      echo 2 >m.txt
      until_lines 1 'value 2'
      finish TERM
      """)
    #expect(outcome.output.contains("value 2"), "\(outcome)")
    #expect(!outcome.output.contains("no 'value"), "\(outcome)")
  }

  // H5
  @Test(arguments: ["--watch", "--watch=reload"])
  func `a module that is replaced while it is loaded is not missed`(options: String) throws {
    let outcome = try run(
      """
      cat >s.lua <<'END'
      print("value " .. require("m").value)
      io.stdout:flush()
      require("obs").every(60, print)
      END
      echo 'os.rename("new.lua", "m.lua") return { value = 1 }' >m.lua
      echo 'print "value 2" io.stdout:flush() return { value = 3 }' >new.lua
      run \(options) s.lua
      until_lines 1 'value 2'
      finish TERM
      """)
    #expect(outcome.output.contains("value 2"), "\(outcome)")
    #expect(!outcome.output.contains("no 'value"), "\(outcome)")
  }

  @Test func `a missing module may appear in a new folder`() throws {
    let outcome = try run(
      """
      echo 'print("value " .. require "lib.m")' >s.lua
      run --watch s.lua
      until_lines 1 'not found'
      mkdir lib
      echo 'return 7' >lib/m.lua
      until_lines 1 'value 7'
      until_idle
      finish INT
      """)
    #expect(outcome.output.hasSuffix("value 7\nstatus 130\n"), "\(outcome)")
  }

  @Test func `a module that appears before the script fails is noticed`() throws {
    let outcome = try run(
      """
      cat >s.lua <<'END'
      local found, value = pcall(require, "lib.m")
      print(found and "value " .. value or "not found")
      io.stdout:flush()
      if not found then
        os.execute "until [ -e go ]; do sleep 0.05; done"
        error "fails"
      end
      END
      run --watch s.lua
      until_lines 1 'not found'
      mkdir lib
      echo 'return 7' >lib/m.lua
      : >go
      until_lines 1 'value 7'
      until_idle
      finish INT
      """)
    #expect(outcome.output.hasSuffix("value 7\nstatus 130\n"), "\(outcome)")
  }

  @Test func `a script that writes a file of Lua and fails does not run for ever`() throws {
    let outcome = try run(
      """
      cat >s.lua <<'END'
      io.open("made.lua", "w"):close()
      print "run"
      io.stdout:flush()
      os.exit(1)
      END
      run --watch s.lua
      until_lines 2 'run'
      until_idle
      echo 'print "other"; io.stdout:flush()' >s.lua
      until_lines 1 'other'
      until_idle
      finish INT
      """)
    #expect(outcome.output == "run\nrun\nother\nstatus 130\n", "\(outcome)")
  }

  @Test func `a file of tests runs again when it changes, or a module that it requires`() throws {
    let outcome = try run(
      """
      mkdir d
      echo 'return 1' >m.lua
      echo 'case("a", function() expect_equal(require "m", 1) end)' >d/a.lua
      echo 'case("b", function() expect(true) end)' >d/b.lua
      run --test --timeout=600 --watch d
      until_lines 1 '^1..2'
      echo 'return 2' >m.lua
      until_lines 1 '^1..1'
      echo 'case("c", function() expect(true) end)' >d/c.lua
      until_lines 2 '^1..1'
      echo 'case("b", function() expect(1) end)' >other; mv other d/b.lua
      until_lines 3 '^1..1'
      finish TERM
      """)
    #expect(
      outcome.output == """
        ok 1 - d/a.lua: a
        ok 2 - d/b.lua: b
        1..2
        not ok 1 - d/a.lua: a
        # d/a.lua:1: a: 2, expected 1
        1..1
        ok 1 - d/c.lua: c
        1..1
        ok 1 - d/b.lua: b
        1..1
        status 143

        """, "\(outcome)")
  }

  @Test(arguments: [
    ("--watch", "'--watch' needs a script, or '--test' with files"),
    ("--watch -e 'x = 1'", "'--watch' needs a script, or '--test' with files"),
    ("--watch -i s.lua", "'-i' cannot be used with '--watch'"),
    ("--test --watch --junit=o d", "'--junit' cannot be used with '--watch'"),
    ("--leaks s.lua", "'--leaks' needs '--test'"),
  ])
  func `options that exclude --watch are named`(arguments: String, message: String) throws {
    let outcome = try Command("$L \(arguments)").run()
    #expect(outcome == .init(output: "", errors: "./lua: \(message)\n", status: 2))
  }
}
