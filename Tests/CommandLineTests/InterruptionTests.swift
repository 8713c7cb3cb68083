import Testing

/// Rules I1 to I4 and I6: a signal interrupts any running code, and the loop ends in order.
struct InterruptionTests {
  private typealias Outcome = Command.Outcome

  /// A script that sends signals to itself; `script` begins in line 6.
  ///
  /// A signal arrives while `close` waits, and is raised in `send`.
  private func command(_ script: String, options: String = "") -> Command {
    let beginning = """
      local obs = require "obs"
      function send(name) io.popen("read line; kill -" .. name .. " $PPID", "w"):close() end
      function spin() while true do end end
      obs.on_exit(function() print("exit") end)
      local t = {}

      """
    return Command("cat >f <<'END'\n\(beginning)\(script)\nEND\n$L \(options) f")
  }

  // MARK: Running code

  @Test(
    arguments: [
      (
        "send('INT')",
        """
        \tf:2: in function 'send'
        \tf:6: in main chunk
        \t[C]: in ?

        """
      ),
      (
        "obs.observe(t, 'a', function() send('INT') end, {name = 'w'})\nt.a = 1",
        """
        \tf:2: in function 'send'
        \tf:6: in function <f:6>
        \t[C]: in ?
        in watcher w (registered at f:6)
        caused by the write at f:7

        """
      ),
      (
        """
        obs.observe(t, 'a', function() send('INT') end, {name = 'w', immediate = true})
        t.a = 1 print("not reached")
        """,
        """
        \tf:2: in function 'send'
        \tf:6: in function <f:6>
        \t[C]: in metamethod 'newindex'
        \tf:7: in main chunk
        \t[C]: in ?
        in immediate watcher w (registered at f:6)

        """
      ),
      (
        "obs.computed(t, 'g', {'a'}, function() send('INT') end)\nobs.observe(t, 'g', print)",
        """
        \tf:2: in function 'send'
        \tf:6: in function <f:6>
        in getter g (registered at f:6)

        """
      ),
      (
        """
        obs.computed(t, 'g', {'a'}, function() send('INT') end)
        obs.after(0, function() return t.g, 1 end)
        """,
        """
        \tf:2: in function 'send'
        \tf:6: in function <f:6>
        \t[C]: in metamethod 'index'
        \tf:7: in function <f:7>
        \t[C]: in ?
        in timer after (registered at f:7)

        """
      ),
      (
        "obs.every(0.001, function() send('INT') end)",
        """
        \tf:2: in function 'send'
        \tf:6: in function <f:6>
        \t[C]: in ?
        in timer every (registered at f:6)

        """
      ),
      (
        "obs.task(function() obs.sleep(0.001) send('INT') end)",
        """
        \tf:2: in function 'send'
        \tf:6: in function <f:6>
        in task task (registered at f:6)

        """
      ),
      (
        "obs.on_observed(t, function() send('INT') end)\nobs.observe(t, 'a', print)",
        """
        \tf:2: in function 'send'
        \tf:6: in function <f:6>
        \t[C]: in function 'obs.observe'
        \tf:7: in main chunk
        \t[C]: in ?
        in hook on_observed (registered at f:6)

        """
      ),
      (
        "obs.on_exit(function() send('INT') end)",
        """
        \tf:2: in function 'send'
        \tf:6: in function <f:6>
        in exit on_exit (registered at f:6)

        """
      ),
    ])
  func `SIGINT is raised in the running code, and names it`(script: String, place: String) throws {
    // Otherwise the interrupted code would run for ever.
    let endless = script.replacing("send('INT')", with: "send('INT') spin()")
    let errors = "./lua: f:6: interrupted!\nstack traceback:\n" + place
    #expect(
      try command(endless).run() == Outcome(output: "exit\n", errors: errors, status: 130))
  }

  @Test(
    arguments: [
      "coroutine.wrap(function() send('INT') spin() end)()",
      """
      local function body() send('INT') spin() end
      error(select(2, coroutine.resume(coroutine.create(body))), 0)
      """,
      """
      local c = setmetatable({}, {__close = function() send('INT') spin() end})
      local co = coroutine.create(function() local c <close> = c coroutine.yield() end)
      coroutine.resume(co) error(select(2, coroutine.close(co)), 0)
      """,
    ])
  func `SIGINT is raised in the coroutine that runs`(body: String) throws {
    for place in [
      "obs.next_turn(function() \(body) end)", "obs.task(function() \(body) end)", body,
    ] {
      let outcome = try command(place).run()
      #expect(outcome.output == "exit\n")
      #expect(outcome.errors.contains("interrupted!\nstack traceback:"))
      #expect(outcome.status == 130)
    }
  }

  @Test func `a signal left pending by a coroutine is raised in its caller`() throws {
    // The coroutine consists of the C function in which the signal arrives.
    let outcome = try command(
      """
      local file = io.popen("read line; kill -INT $PPID", "w")
      coroutine.wrap(file.close)(file)
      spin()
      """
    ).run()
    #expect(outcome.errors.contains("interrupted!\nstack traceback:"))
    #expect(outcome.output == "exit\n")
    #expect(outcome.status == 130)
  }

  // I2
  @Test func `watchers that are pending are called before on_exit`() throws {
    let outcome = try command(
      """
      obs.observe(t, "a", function() send("INT") spin() end)
      obs.observe(t, "a", function() print("second") end)
      obs.next_turn(function() print("not called") end)
      t.a = 1
      """
    ).run()
    #expect(outcome.output == "second\nexit\n")
    #expect(outcome.status == 130)
  }

  @Test func `a flush by the script is completed, then the script is interrupted`() throws {
    let outcome = try command(
      """
      obs.observe(t, "a", function() send("INT") spin() end)
      obs.observe(t, "a", function() print("second") end)
      t.a = 1
      obs.flush()
      print("not reached")
      """
    ).run()
    #expect(outcome.output == "second\nexit\n")
    #expect(outcome.errors.split(separator: "interrupted!").count == 2)
    #expect(outcome.status == 130)
  }

  // I2
  @Test func `an interrupted script ends in spite of on_error and --error=continue`() throws {
    let outcome = try command(
      """
      obs.on_error(print)
      obs.every(0.001, function() send("INT") spin() end)
      """, options: "--error=continue"
    ).run()
    #expect(outcome.output == "exit\n")
    #expect(outcome.errors.hasSuffix("in timer every (registered at f:7)\n"))
    #expect(outcome.status == 130)
  }

  // MARK: Catching

  private static let catching = """
    print(pcall(function() send("INT") spin() end))
    print("goes on")

    """

  // I3
  @Test func `the first SIGINT can be caught, without any effect`() throws {
    let outcome = try command(Self.catching + "obs.next_turn(function() print('turn') end)").run()
    let output = "false\tf:6: interrupted!\ngoes on\nturn\nexit\n"
    #expect(outcome == Outcome(output: output, errors: "", status: 0))
  }

  // I3
  @Test func `the second SIGINT cannot be caught, and on_exit is left out`() throws {
    let outcome = try command(
      Self.catching + "while true do pcall(function() send('INT') spin() end) end"
    ).run()
    #expect(outcome.output == "false\tf:6: interrupted!\ngoes on\n")
    #expect(outcome.errors.hasPrefix("./lua: "))
    #expect(outcome.errors.contains("interrupted!\nstack traceback:"))
    #expect(outcome.status == 130)
  }

  @Test func `a SIGINT that is caught in each turn still ends the loop`() throws {
    let outcome = try command(
      """
      local function turn()
        pcall(function() send("INT") spin() end)
        print("turn")
        obs.next_turn(turn)
      end
      obs.next_turn(turn)
      """
    ).run()
    #expect(outcome.output.wholeMatch(of: /(turn\n)+/) != nil)
    #expect(outcome.errors.hasSuffix("in timer next_turn (registered at f:9)\n"))
    #expect(outcome.status == 130)
  }

  @Test func `a second SIGINT ends on_exit and skips the rest of it`() throws {
    let outcome = try command(
      """
      obs.on_exit(function() send("INT") while true do pcall(spin) end end)
      obs.on_exit(function() print("not called") end)
      obs.next_turn(function() send("INT") spin() end)
      """
    ).run()
    #expect(outcome.output == "exit\n")
    #expect(outcome.errors.hasSuffix("in exit on_exit (registered at f:6)\n"))
    #expect(outcome.status == 130)
  }

  @Test func `an error of an awaited task is an interruption in the awaiting task`() throws {
    let outcome = try command(
      """
      local first = obs.task(function() obs.sleep(0.001) send("INT") spin() end)
      obs.task(function() first:await() end)
      """
    ).run()
    #expect(outcome.output == "exit\n")
    #expect(outcome.errors.hasSuffix("in task task (registered at f:7)\n"))
    #expect(outcome.status == 130)
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `the second SIGINT also ends code that cannot be interrupted`() throws {
    let outcome = try command(
      """
      setmetatable({}, { __gc = function() send("INT") send("INT") spin() end })
      collectgarbage()
      """
    ).run()
    #expect(outcome == Outcome(output: "", errors: "", status: 130))
  }

  // MARK: Other signals

  // I4
  @Test(arguments: [("TERM", 143), ("HUP", 129)])
  func `SIGTERM and SIGHUP end an endless callback in order`(
    signal: String, status: Int32
  ) throws {
    let outcome = try command("obs.next_turn(function() send('\(signal)') spin() end)").run()
    #expect(outcome.output == "exit\n")
    #expect(outcome.errors.hasSuffix("in timer next_turn (registered at f:6)\n"))
    #expect(outcome.status == status)
  }

  // I4
  @Test(arguments: [("TERM", 143), ("HUP", 129)])
  func `both signals end the loop, even if the callback catches them`(
    signal: String, status: Int32
  ) throws {
    let script = "obs.next_turn(function() pcall(function() send('\(signal)') spin() end) end)"
    let outcome = try command(script + " obs.every(1000, print)").run()
    #expect(outcome == Outcome(output: "exit\n", errors: "", status: status))
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `repeated SIGTERM ends a callback that catches each of them`() throws {
    let outcome = try command(
      "obs.next_turn(function() pcall(send, 'TERM') while true do pcall(spin) end end)"
    ).run()
    #expect(outcome.output == "exit\n")
    #expect(outcome.errors.hasSuffix("in timer next_turn (registered at f:6)\n"))
    #expect(outcome.status == 143)
  }

  // I4
  @Test func `a program started with SIGHUP ignored keeps ignoring it`() throws {
    let command = command("obs.next_turn(function() send('HUP') print('goes on') end)")
    let outcome = try Command("trap '' HUP\n" + command.line).run()
    #expect(outcome == Outcome(output: "goes on\nexit\n", errors: "", status: 0))
  }

  @Test(
    arguments: [("pcall(send, 'TERM')", 143), ("send('INT')", 130)],
    [
      """
      local n = 0
      obs.every(1, function()
        n = n + 1
        if n == 3 then last() elseif n > 1000 then os.exit(9) end
      end)
      """,
      """
      obs.task(function()
        obs.sleep(3) last()
        for _ = 1, 1000 do obs.sleep(1) end
        os.exit(9)
      end)
      """,
    ])
  func `both signals end virtual time`(signal: (call: String, status: Int32), script: String) throws
  {
    let last = "function last() \(signal.call) end\n"
    let outcome = try command(last + script, options: "--virtual-time").run()
    #expect(outcome.output == "exit\n")
    #expect(outcome.status == signal.status)
  }

  // MARK: Scripts that don't use the loop

  @Test(
    arguments: [
      ("send('INT') spin()", 1),
      ("pcall(function() send('INT') spin() end) send('INT') spin()", 130),
      ("send('TERM') spin()", 143),
      ("send('HUP') spin()", 129),
      ("coroutine.wrap(function() send('INT') spin() end)()", 1),
    ])
  func `without obs a script ends as under lua`(script: String, status: Int32) throws {
    let functions = """
      function send(name) io.popen("kill -" .. name .. " $PPID"):close() end
      function spin() while true do end end
      """
    let outcome = try Command("cat >f <<'END'\n\(functions)\n\(script)\nEND\n$L f").run()
    #expect(outcome.status == status)
    #expect(outcome.errors.contains("interrupted!\nstack traceback:") == (status == 1))
  }

  // MARK: The time limit

  /// Runs a script until its time limit.
  ///
  /// A busy machine starts the script late: if it was stopped before its first statement, it runs
  /// again with more time.
  private func timedOut(_ script: String) throws -> (outcome: Outcome, limit: String) {
    var last: (Outcome, String)?
    for limit in ["0.1", "1", "10"] {
      let begun = "io.open('begun', 'w'):close()\n"
      var line = command(begun + script, options: "--timeout=\(limit)")
      line.line += "; status=$?; [ -e begun ] || echo not begun; exit $status"
      let outcome = try line.run()
      last = (outcome, limit)
      if !outcome.output.hasSuffix("not begun\n") { break }
    }
    return last!
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `on_exit gets extra time after the time limit`() throws {
    let outcome = try timedOut(
      "obs.on_exit(function() for _ = 1, 1000 do end print('done') end) obs.every(1000, print)"
    ).outcome
    #expect(outcome == Outcome(output: "exit\ndone\n", errors: "", status: 124))
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `the time limit for on_exit is enforced, too`() throws {
    let (outcome, limit) = try timedOut(
      """
      obs.on_exit(function() while true do pcall(spin) end end)
      obs.on_exit(function() print("not called") end)
      obs.every(1000, print)
      """)
    #expect(outcome.output == "exit\n")
    #expect(outcome.errors.contains(": timed out (--timeout=\(limit))\nstack traceback:"))
    #expect(outcome.errors.hasSuffix("in exit on_exit (registered at f:7)\n"))
    #expect(outcome.status == 124)
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `the time limit applies in coroutines`() throws {
    let (outcome, limit) = try timedOut("while true do pcall(coroutine.wrap(spin)) end")
    #expect(outcome.output == "exit\n")
    #expect(outcome.errors.contains("timed out (--timeout=\(limit))\nstack traceback:"))
    #expect(outcome.status == 124)
  }
}
