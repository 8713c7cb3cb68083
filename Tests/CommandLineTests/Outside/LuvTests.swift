import Foundation
import Testing

/// Q1: luv's loop runs inside the program's loop.
struct LuvTests {
  private func run(
    _ script: String, options: String = "", input: String = "", before: String = ""
  ) throws -> Command.Outcome {
    try Command(
      "cat >f <<'END'\n\(script)\nEND\n\(before)printf '%s' '\(input)' | $L \(options) f"
    ).run()
  }

  @Test(arguments: [
    "local obs, uv = require 'obs', require 'luv'", "local uv, obs = require 'luv', require 'obs'",
    "local uv, obs; obs = require 'obs'; obs.task(function() uv = require 'luv' end)",
  ])
  func `callbacks of luv are turns, in any loading order of the modules`(
    loading: String
  ) throws {
    let outcome = try run(
      """
      \(loading)
      local t = { n = 0 }
      obs.observe(t, "n", function(o) print("n", o.n) end)
      local timer, calls = uv.new_timer(), 0
      timer:start(1, 1, function()
        t.n = t.n + 1
        t.n = t.n + 1
        calls = calls + 1
        if calls == 3 then timer:close() end
      end)
      """)
    #expect(outcome == .init(output: "n\t2\nn\t4\nn\t6\n", errors: "", status: 0))
  }

  @Test func `a process, its pipe and a timer of obs end before the program does`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      local log, pipe = {}, uv.new_pipe()
      local process
      process = uv.spawn("sh", { args = { "-c", "echo out; exit 3" }, stdio = { nil, pipe } },
        function(code) log[#log + 1] = "exit " .. code process:close() end)
      pipe:read_start(function(_, text)
        if text then log[#log + 1] = text:match "%w+" else pipe:close() end
      end)
      obs.after(0.01, function() log[#log + 1] = "timer" end)
      obs.on_exit(function() table.sort(log) print(table.concat(log, ", ")) end)
      """)
    #expect(outcome == .init(output: "exit 3, out, timer\n", errors: "", status: 0))
  }

  @Test func `callbacks of luv see the requested mode of the loop`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      local function later(name)
        local timer = uv.new_timer()
        timer:start(1, 0, function()
          print(name, uv.loop_mode())
          timer:close()
        end)
      end
      for _, mode in ipairs { "default", "once", "nowait" } do
        later(mode)
        while uv.run(mode) do end
      end
      print("outside", uv.loop_mode())
      local timer = uv.new_timer()
      timer:start(1, 0, function()
        print(pcall(uv.run, "once"))
        print("without uv.run", uv.loop_mode())
        timer:close()
      end)
      """)
    #expect(
      outcome
        == .init(
          output: """
            default\tdefault
            once\tonce
            nowait\tnowait
            outside\tnil
            false\tuv.run was called inside a turn: the loop of the program runs luv's, too, and \
            goes on after the turn
            without uv.run\tdefault\n
            """, errors: "", status: 0))
  }

  @Test func `uv.run runs the common loop until luv has nothing left`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      obs.after(0, function() print "obs" end)
      obs.after(600, function() end):unref()
      uv.new_timer():start(20, 0, function() print "luv" end)
      print(uv.run())
      uv.new_timer():start(0, 0, function() print "stopping" uv.stop() end)
      uv.new_timer():start(60000, 0, function() print "never" end)
      print(uv.run())
      print(uv.run "nowait")
      print(pcall(uv.run, "backwards"))
      uv.stop()
      """)
    #expect(
      outcome.output == """
        obs
        luv
        false
        stopping
        true
        true
        false	bad argument #1 to 'run' ('default', 'once' or 'nowait' expected, got 'backwards')

        """)
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
  }

  @Test func `uv.run in a callback is an error that names the reason`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      uv.new_timer():start(0, 0, function() uv.run() end)
      """)
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("./lua: f:2: uv.run was called inside a turn"), "\(outcome)")
  }

  // T10
  @Test func `an error in a callback is reported, and ends the program with 1`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      uv.new_timer():start(1, 0, function() error "boom" end)
      uv.new_timer():start(1, 0, function() print "the same turn" end)
      uv.new_timer():start(60000, 0, function() print "never" end)
      obs.on_exit(function() print "exit" end)
      """)
    #expect(outcome.output == "the same turn\nexit\n" && outcome.status == 1)
    #expect(outcome.errors.hasPrefix("./lua: f:2: boom\nstack traceback:\n"), "\(outcome)")
    #expect(outcome.errors.hasSuffix("\nin callback of luv (defined at f:2)\n"), "\(outcome)")
  }

  // T14
  @Test func `a script's error handler receives errors of luv callbacks`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      obs.on_error(function(message, where) print(message, where.kind, where.site) end)
      uv.new_timer():start(0, 0, function() error "boom" end)
      """)
    #expect(outcome == .init(output: "f:3: boom\tluv\tf:3\n", errors: "", status: 0))
  }

  @Test func `unreferenced handles are served while the loop waits for others`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      local ticks, timer = 0, uv.new_timer()
      timer:start(1, 1, function() ticks = ticks + 1 end)
      timer:unref()
      obs.task(function()
        while ticks < 3 do obs.sleep(0.001) end
        print "ticked"
      end)
      """, options: "--timeout=20")
    #expect(outcome == .init(output: "ticked\n", errors: "", status: 0))
  }

  @Test func `virtual time passes as real time while a handle of luv is active`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      obs.after(3600, function() print("hour", obs.now()) end)
      uv.new_timer():start(5, 0, function() print("luv", obs.now() < 3600) end)
      """, options: "--virtual-time --timeout=20")
    #expect(outcome == .init(output: "luv\ttrue\nhour\t3600.0\n", errors: "", status: 0))
  }

  @Test func `virtual time passes beside a handle that is always busy`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      local idle, calls = uv.new_idle(), 0
      idle:start(function() calls = calls + 1 end)
      obs.after(0.05, function()
        idle:stop()
        print("real", calls > 1)
        idle:start(function() end)
        idle:unref()
        obs.after(3600, function() print("jumped", obs.now() > 3600) end)
      end)
      """, options: "--virtual-time --timeout=20")
    #expect(outcome == .init(output: "real\ttrue\njumped\ttrue\n", errors: "", status: 0))
  }

  @Test func `advance ends beside a handle that is always busy`() throws {
    let outcome = try Command(
      """
      cat >f.lua <<'END'
      local obs, uv = require "obs", require "luv"
      local idle, calls = uv.new_idle(), 0
      idle:start(function() calls = calls + 1 end)
      obs.after(0.05, function() log "timer" end)
      advance(0)
      expect_log {}
      advance(0.1)
      expect_log { "timer" }
      expect(calls > 1)
      idle:close()
      END
      $L --test f.lua
      """
    ).run()
    #expect(outcome.output == "TAP version 13\nok 1 - f.lua: the file\n1..1\n", "\(outcome)")
  }

  // I1, I7
  @Test(
    arguments: ["uv.run()", ""],
    [
      (#"uv.spawn("sh", { args = { "-c", "kill -INT $PPID" } })"#, "", CInt(130)),
      ("", "--timeout=1", 124),
    ])
  func `signals and the time limit end the loop in order`(
    run: String, end: (code: String, options: String, status: CInt)
  ) throws {
    let outcome = try Command(
      """
      cat >f <<'END'
      local obs, uv = require "obs", require "luv"
      uv.new_timer():start(60000, 0, function() print "never" end)
      obs.on_exit(function() print "exit" end)
      \(end.code)
      \(run)
      END
      $L \(end.options) f
      """
    ).run()
    #expect(outcome.output == "exit\n" && outcome.status == end.status, "\(outcome)")
  }

  @Test func `a script without obs gets the original luv`() throws {
    let script = """
      local uv = require "luv"
      print(#package.searchers)
      local timer = uv.new_timer()
      timer:start(1, 0, function() print "called" timer:close() end)
      """
    #expect(try run(script) == .init(output: "4\n", errors: "", status: 0))
    #expect(try run(script + "\nuv.run()").output == "4\ncalled\n")
  }

  @Test func `sockets of luv and of luasocket, threads and work call back`() throws {
    let outcome = try run(
      """
      local obs, uv, socket = require "obs", require "luv", require "socket"
      local log = { lines = {} }
      local function note(line) table.insert(log.lines, line) end
      local server = uv.new_tcp()
      server:bind("127.0.0.1", 0)
      server:listen(16, function()
        local client = uv.new_tcp()
        server:accept(client)
        client:read_start(function(_, text)
          if text then return client:write(text:upper()) end
          client:close()
          server:close()
        end)
      end)
      obs.task(function()
        local client = uv.new_tcp()
        local port = server:getsockname().port
        assert(not obs.await(function(done) client:connect("127.0.0.1", port, done) end))
        client:write("hello")
        note(select(2, obs.await(function(done) client:read_start(done) end)))
        client:close()
      end)
      local listener = socket.bind("127.0.0.1", 0)
      local _, port = listener:getsockname()
      local handler
      handler = obs.on_readable(listener:getfd(), function()
        local accepted = listener:accept()
        note(accepted:receive())
        accepted:close()
        handler:stop()
      end)
      local sender = socket.connect("127.0.0.1", port)
      sender:send("from luasocket\\n")
      local async, thread
      async = uv.new_async(function()
        note "async"
        async:close()
        thread:join()
      end)
      thread = uv.new_thread(function(handle) handle:send() end, async)
      uv.new_work(function(x) return x * 2 end, function(x) note("work " .. x) end):queue(21)
      obs.on_exit(function() table.sort(log.lines) print(table.concat(log.lines, ", ")) end)
      """, options: "--timeout=30")
    #expect(
      outcome == .init(output: "HELLO, async, from luasocket, work 42.0\n", errors: "", status: 0))
  }

  @Test func `callbacks of handles that luv closes at the end find a closed host`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      obs.task(function()
        local server, client = uv.new_tcp(), uv.new_tcp()
        server:bind("127.0.0.1", 0)
        server:listen(1, function() end)
        local port = server:getsockname().port
        obs.await(function(done) client:connect("127.0.0.1", port, done) end)
      end)
      error("stops", 0)
      """)
    #expect(outcome.status == 1 && outcome.output == "", "\(outcome)")
    #expect(outcome.errors.hasPrefix("./lua: stops\n"), "\(outcome)")
    #expect(!outcome.errors.contains("closed"), "\(outcome)")
  }

  @Test func `at the end the program waits for threads of luv, and starts nothing new`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      local function again()
        uv.fs_scandir("/", again)
        uv.new_timer():start(0, 0, again)
        uv.new_fs_event():start(".", {}, again)
        uv.new_work(function() end, again):queue()
      end
      for _ = 1, 20 do again() end
      error("stops", 0)
      """, options: "--timeout=20")
    #expect(outcome.status == 1 && outcome.errors.hasPrefix("./lua: stops\n"), "\(outcome)")
  }

  @Test func `a closed loop is served no more`() throws {
    let outcome = try run(
      """
      local obs, uv = require "obs", require "luv"
      print(uv.loop_close())
      obs.after(0, function() print "on" end)
      """)
    #expect(outcome == .init(output: "0\non\n", errors: "", status: 0))
  }
}
