import Foundation
import Testing

/// Q4: the module `obs.io`.
struct IOTests {
  /// Runs the lines of a script in a task.
  private func run(
    _ script: String, options: String = "--timeout=30", input: String = ""
  ) throws -> Command.Outcome {
    try Command(
      """
      cat >f <<'END'
      local obs, obsio = require "obs", require "obs.io"
      obs.task(function()
      \(script)
      end)
      END
      \(input.isEmpty ? ":" : input) | $L \(options) f
      """
    ).run()
  }

  @Test func `a process returns its status, its output and its errors`() throws {
    let outcome = try run(
      """
      print(obsio.run { "sh", "-c", "cat; printf err >&2; exit 4", input = "in" })
      print(obsio.run { "sh", "-c", "kill -9 $$" })
      print(obsio.run { "no-such-program" })
      print(obsio.run { "sh", "-c", "printf part; exec sleep 60", timeout = 0.2 })
      print(obsio.run { "pwd", cwd = "/" })
      print(obsio.run { "true", input = ("x"):rep(1000000) })
      local status, output = obsio.run { "cat", input = ("x"):rep(1000000) }
      print(status, #output)
      """)
    #expect(
      outcome.output == """
        4	in	err
        137		
        nil	ENOENT: no such file or directory
        false	part	
        0	/
        	
        0		
        0	1000000

        """, "\(outcome)")
    #expect(outcome.status == 0)
  }

  @Test func `a task that is cancelled ends its process`() throws {
    let outcome = try run(
      """
      local other
      other = obs.task(function() obsio.run { "sleep", "60" } end)
      obs.sleep(0.01)
      other:cancel()
      """)
    #expect(outcome == .init(output: "", errors: "", status: 0))
  }

  // I1
  @Test(arguments: ["error('no', 0)", "os.exit(1)", "uv.kill(uv.os_getpid(), 'sigterm')"])
  func `a process ends with the program, for any kind of end`(ending: String) throws {
    let outcome = try Command(
      """
      cat >f <<'END'
      local obs, obsio, uv = require "obs", require "obs.io", require "luv"
      obs.task(function() obsio.run { "sh", "-c", "echo $$ >new; mv new pid; exec sleep 600" } end)
      obs.every(0.01, function() if io.open "pid" then \(ending) end end)
      END
      $L --timeout=30 f
      p=$(cat pid) i=0
      while kill -0 $p && ! grep -q 'State:.Z' /proc/$p/status && [ $i -lt 600 ]; do
        i=$((i + 1)); sleep 0.05
      done
      [ $i -lt 600 ] && echo gone
      """
    ).run()
    #expect(outcome.output == "gone\n", "\(outcome)")
  }

  @Test func `wrong commands are errors that name the mistake`() throws {
    let outcome = try run(
      """
      for _, command in ipairs { "ls", {}, { "ls", inptu = "" }, { "ls", timeout = "1" },
        { "ls", {} }, { "ls", nil, "x" }, { "ls", [0] = "x" }, { "ls", [1.5] = "x" } } do
        print(select(2, pcall(function() obsio.run(command) end)))
      end
      """)
    let none = "the options are cwd, input, timeout"
    let table = "table expected that begins with a program, as in { \"ls\", \"-l\" }"
    #expect(
      outcome.output == """
        f:5: bad argument #1 to 'run' (\(table))
        f:5: bad argument #1 to 'run' (\(table))
        f:5: bad argument #1 to 'run' ('inptu' is not an option; \(none); did you mean 'input'?)
        f:5: bad argument #1 to 'run' ('timeout' takes a number, not a string)
        f:5: bad argument #1 to 'run' (argument 2 must be a string, not a table)
        f:5: bad argument #1 to 'run' (argument 2 must be a string, not nil)
        f:5: bad argument #1 to 'run' ('0' is not an option; \(none))
        f:5: bad argument #1 to 'run' ('1.5' is not an option; \(none))

        """, "\(outcome)")
  }

  @Test func `reading accepts the formats of io.read, and lets other turns go on`() throws {
    let outcome = try run(
      """
      obs.task(function() obs.sleep(0.05) print "meanwhile" end)
      print(obsio.read("n", "l", 3, "L"))
      for line in obsio.lines() do print("line", line) end
      print(obsio.read("a"), obsio.read("l"), obsio.read(0), obsio.read("n"))
      """, input: "(printf '0x1Fp1 rest\\nabcd'; sleep 0.3; printf 'ef\\nx\\n\\nlast')")
    #expect(
      outcome.output
        == "meanwhile\n62.0\t rest\tabc\tdef\n\nline\tx\nline\t\nline\tlast\n\tnil\tnil\tnil\n",
      "\(outcome)")
  }

  @Test func `numerals are read like in io.read`() throws {
    let texts = [
      "12", "-7.5e3x", "0x.8p1", "1e", "e5", "  42,", ".", "0x", "+3", "1.2.3",
      "99999999999999999999",
    ]
    for text in texts {
      let outcome = try run(
        """
        local file = assert(io.open("t", "w"))
        file:write(\"\(text)\\n7\")
        file:close()
        local a, b = io.open "t", io.open "t"
        print(obsio.read(a, "n") == b:read "n", obsio.read(a, "a") == b:read "a")
        """)
      #expect(outcome.output == "true\ttrue\n", "\(text): \(outcome)")
    }
  }

  @Test func `an invalid format, file or option is an error`() throws {
    let outcome = try run(
      """
      local function try(...) print(select(2, pcall(...))) end
      try(function() obsio.read(-1) end)
      try(function() obsio.read(1.5) end)
      try(function() obsio.lines(99) end)
      try(function() obsio.get("file:///", 5) end)
      try(function() obsio.get("file:///", { timout = 5 }) end)
      try(function() obsio.watch("", print) end)
      print(obsio.read(2.0))
      """, input: "printf 'abc'")
    #expect(
      outcome.output == """
        f:4: bad argument #1 to 'read' (format expected ('l', 'L', 'a', 'n', or a number of bytes))
        f:5: bad argument #1 to 'read' (format expected ('l', 'L', 'a', 'n', or a number of bytes))
        f:6: bad argument #1 to 'lines' (descriptor 99 is not open)
        f:7: bad argument #2 to 'get' (table of options expected, got number)
        f:8: bad argument #2 to 'get' ('timout' is not an option; the options are timeout; did you \
        mean 'timeout'?)
        f:9: bad argument #1 to 'watch' (path expected, got '')
        ab

        """, "\(outcome)")
  }

  @Test func `buffered input of a file comes first`() throws {
    let outcome = try run(
      "print(io.read(), obsio.read(), obsio.read('a'))", input: "printf 'one\\ntwo\\nthree'")
    #expect(outcome.output == "one\ttwo\tthree\n", "\(outcome)")
  }

  @Test func `files and folders can be watched, also when an editor replaces the file`() throws {
    let outcome = try run(
      """
      os.execute "mkdir w"
      local seen, folder = { count = 0 }, {}
      local file = obsio.watch("w/config", function(path)
        seen[#seen + 1], seen.count = path, seen.count + 1
      end)
      local all = obsio.watch("w/", function(path) folder[path] = true end)
      os.execute "echo 1 >w/other; echo 1 >w/config"
      while seen.count < 1 do obs.next_change(seen, "count") end
      os.execute "echo 2 >w/.new; mv w/.new w/config"
      local count = seen.count
      while seen.count == count do obs.next_change(seen, "count") end
      file:stop()
      all:stop()
      for _, path in ipairs(seen) do assert(path == "w/config") end
      print(folder["w/other"], folder["w/config"], folder["w/.new"])
      """)
    #expect(outcome == .init(output: "true\ttrue\ttrue\n", errors: "", status: 0))
  }

  // T7
  @Test func `a handle stopped by its callback calls no more, even for other files`() throws {
    let outcome = try run(
      """
      os.execute "mkdir w"
      local watching
      watching = obsio.watch("w", function()
        print "called"
        watching:stop()
      end)
      os.execute "echo 1 >w/a; echo 1 >w/b"
      """)
    #expect(outcome == .init(output: "called\n", errors: "", status: 0))
  }

  // T10
  @Test func `an error in a callback is reported with its place, and other files go on`() throws {
    let outcome = try run(
      """
      os.execute "mkdir w"
      local uv, seen = require "luv", { count = 0 }
      obs.on_error(function(message, at) print(message, at.kind, at.name, at.site) end)
      local watching = obsio.watch("w", function(path)
        seen.count = seen.count + 1
        if seen.count == 1 then error("no", 0) end
      end)
      local listening = obsio.on_signal("USR1", function() error("signal", 0) end)
      os.execute "echo 1 >w/a; echo 1 >w/b"
      while seen.count < 2 do obs.next_change(seen, "count") end
      watching:stop()
      uv.kill(uv.os_getpid(), "sigusr1")
      obs.sleep(0.05)
      listening:stop()
      """)
    #expect(
      outcome.output == """
        no	handler	obs.io.watch	f:6
        signal	handler	obs.io.on_signal	f:10

        """, "\(outcome)")
  }

  // I1
  @Test func `a signal is handled, and ends the program once its handle is stopped`() throws {
    let outcome = try Command(
      """
      cat >f <<'END'
      local obs, obsio = require "obs", require "obs.io"
      local process = io.open("/proc/self/stat"):read "n"
      local handle
      handle = obsio.on_signal("SIGTERM", function(name)
        print(name)
        handle:stop()
        os.execute(("kill -TERM %d"):format(process))
      end)
      obs.on_exit(function() print "exit" end)
      obs.after(60, function() end)
      os.execute(("kill -TERM %d"):format(process))
      END
      $L f
      """
    ).run()
    #expect(outcome.output == "TERM\nexit\n" && outcome.status == 143, "\(outcome)")
  }

  @Test func `listening to an unsupported value is an error`() throws {
    let outcome = try run(
      """
      print(select(2, pcall(function() obsio.on_signal("USR", print) end)))
      print(select(2, pcall(function() obsio.on_signal("KILL", print) end)))
      print(select(2, pcall(function() obsio.watch("f") end)))
      """)
    let usr = "name of a signal expected, got 'USR'; did you mean 'USR1'?"
    #expect(
      outcome.output == """
        f:3: bad argument #1 to 'on_signal' (\(usr))
        f:4: obs.io.on_signal cannot handle 'KILL': EINVAL: invalid argument
        f:5: bad argument #2 to 'watch' (function expected, got no value)

        """, "\(outcome)")
  }

  @Test func `waiting outside a task is an error`() throws {
    let outcome = try Command(
      """
      $L -e 'local obsio = require "obs.io"
      print(pcall(obsio.read)) print(pcall(obsio.run, { "ls" }))' <input
      """
    ).run()
    #expect(
      outcome.output == """
        false	obs.io.read was called outside a task: it waits, which works only inside obs.task
        false	obs.io.run was called outside a task: it waits, which works only inside obs.task

        """, "\(outcome)")
  }

  @Test func `without luv the error names the package`() throws {
    let outcome = try Command("$L -e 'package.cpath = \"\" print(pcall(require, \"obs.io\"))'")
      .run()
    #expect(
      outcome.output.hasPrefix(
        "false\tobs.io needs the module luv, which is not installed (Debian's package is lua-luv)"),
      "\(outcome)")
  }
}
