import Foundation
import Testing

/// Effects of callbacks on the program: their errors, and the ways the program ends during the
/// loop.
struct CallbackTests {
  private typealias Outcome = Command.Outcome

  /// A line that runs `script` as the file `f`.
  private func command(_ script: String, options: String = "") -> Command {
    Command("cat >f <<'END'\n\(script)\nEND\n$L \(options) f")
  }

  private static let failing = """
    local obs = require "obs"
    local t = {}
    obs.observe(t, "a", function() error("bad") end, {name = "first"})
    obs.observe(t, "a", function() print("second") end)
    obs.on_exit(function() print("exit") end)
    obs.after(0, function() print("later") end)
    t.a = 1
    """

  private static let report = """
    ./lua: f:3: bad
    stack traceback:
    \t[C]: in function 'error'
    \tf:3: in function <f:3>
    \t[C]: in ?
    in watcher first (registered at f:3)
    caused by the write at f:7

    """

  @Test func `an error in a watcher is reported with its cause, and ends the loop`() throws {
    #expect(
      try command(Self.failing).run()
        == Outcome(output: "second\nexit\n", errors: Self.report, status: 1))
  }

  @Test func `with --error=continue an error is reported, and the loop goes on`() throws {
    #expect(
      try command(Self.failing, options: "--error=continue").run()
        == Outcome(output: "second\nlater\nexit\n", errors: Self.report, status: 0))
  }

  @Test(arguments: [
    (
      "local obs = require 'obs'\nobs.batch(function() error 'bad' end)",
      "f:2: bad",
      """
      \t[C]: in function 'error'
      \tf:2: in function <f:2>
      \t[C]: in function 'obs.batch'
      \tf:2: in main chunk
      \t[C]: in ?

      """
    ),
    (
      "local obs = require 'obs'\nobs.apply({}, 5)",
      "f:2: bad argument #2 to 'apply' (list of changes expected, got number)",
      """
      \t[C]: in function 'obs.apply'
      \tf:2: in main chunk
      \t[C]: in ?

      """
    ),
    (
      "local obs = require 'obs'\nobs.task(function()\nobs.await(function() error 'bad' end) end)",
      "f:3: bad",
      """
      \t[C]: in function 'error'
      \tf:3: in upvalue 'start'
      \t[C]: in function 'obs.await'
      \tf:3: in function <f:2>
      in task task (registered at f:2)

      """
    ),
  ])
  func `tracebacks show functions of the module, not its code`(
    script: String, message: String, lines: String
  ) throws {
    #expect(
      try command(script).run()
        == Outcome(
          output: "", errors: "./lua: \(message)\nstack traceback:\n\(lines)", status: 1))
  }

  @Test func `an error that the script handles ends nothing`() throws {
    let handling = "require('obs').on_error(function(e) print(e) end)\n"
    let outcome = try command(handling + Self.failing).run()
    #expect(
      outcome == Outcome(output: "f:4: bad\nsecond\nlater\nexit\n", errors: "", status: 0))
  }

  @Test func `three lines make the error of a callback the failure of a runner's test`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let page = try String(
      contentsOf: folder.appending(path: "../../Documentation/Fixtures.md"), encoding: .utf8)
    let section = try #require(page.split(separator: "## In other test runners").last)
    let lines = try #require(section.split(separator: "```lua\n").dropFirst().first)
    let shown = try #require(lines.split(separator: "```").first)
    #expect(shown.split(separator: "\n").count == 3)
    let outcome = try command(
      """
      local checks = {}
      function after_each(check) checks[#checks + 1] = check end
      function it(name, test)
        local ok, message = pcall(test)
        for _, check in ipairs(checks) do
          local passed, failure = pcall(check)
          if ok and not passed then ok, message = false, failure end
        end
        print(name, ok, message)
      end
      \(shown.trimmingCharacters(in: .newlines))
      local t = {}
      it("writes nothing", function() end)
      obs.observe(t, "a", function() error("bad") end, { name = "first" })
      it("writes", function() t.a = 1 end)
      it("writes nothing again", function() end)
      """
    ).run()
    let output = """
      writes nothing\ttrue\tnil
      writes\tfalse\tf:16: bad
      in watcher first
      writes nothing again\ttrue\tnil

      """
    #expect(outcome == Outcome(output: output, errors: "", status: 0))
  }

  @Test func `os.exit in a watcher ends the program; only on_exit is still called`()
    throws
  {
    let outcome = try command(
      """
      local obs = require "obs"
      local t = {}
      obs.on_exit(function() print("exit") end)
      obs.observe(t, "a", function() os.exit(7) end)
      obs.observe(t, "a", function() print("not called") end)
      obs.next_turn(function() print("not called") end)
      t.a = 1
      """
    ).run()
    #expect(outcome == Outcome(output: "exit\n", errors: "", status: 7))
  }

  /// Under the address sanitizer the program fails if the sanitizer finds unreachable memory.
  @Test func `memory of operators stays reachable when os.exit ends the program`() throws {
    let outcome = try command(
      """
      local obs = require "obs"
      local operators = { "sum", "avg", "min", "max", "any", "all", "unionOfObjects", \
      "distinctUnionOfObjects" }
      local t = { items = {} }
      for i = 1, 9 do t.items[i] = { a = i % 3 == 0 and {} or i % 3 == 1 and "text" or i } end
      obs.on_error(function() end)
      for _, name in ipairs(operators) do
        obs.observe(t, "items.@" .. name .. ".a", function() end)
      end
      for i = 1, 9 do t.items[i].a = { i } obs.flush() end
      os.exit(3)
      """
    ).run()
    #expect(outcome == Outcome(output: "", errors: "", status: 3))
  }

  @Test(arguments: [("INT", 130), ("TERM", 143)])
  func `a signal ends a waiting loop, after on_exit`(signal: String, status: Int32) throws {
    let outcome = try command(
      """
      local obs = require "obs"
      obs.on_exit(function() print("exit") end)
      obs.every(3600, function() print("not called") end)
      -- The child waits until the loop does.
      local wait = [[until [ "$(cut -d " " -f 3 /proc/$PPID/stat)" = S ]; do :; done; ]]
      obs.next_turn(function() child = io.popen(wait .. "kill -\(signal) $PPID") end)
      """
    ).run()
    #expect(outcome == Outcome(output: "exit\n", errors: "", status: status))
  }

  @Test func `with --virtual-time timers come in order, without waiting`() throws {
    let outcome = try command(
      """
      local obs = require "obs"
      local hours, timer = 0, nil
      timer = obs.every(3600, function()
        hours = hours + 1
        print(hours, obs.now())
        if hours == 3 then timer:stop() end
      end)
      obs.after(5400, function() print("half past one", obs.now()) end)
      """, options: "--virtual-time"
    ).run()
    let expected = "1\t3600.0\nhalf past one\t5400.0\n2\t7200.0\n3\t10800.0\n"
    #expect(outcome == Outcome(output: expected, errors: "", status: 0))
  }

  @Test func `a callback that captures its observer causes a warning`() throws {
    let outcome = try command(
      """
      local obs = require "obs"
      local view, model = {}, {}
      obs.observe(model, "a", function() return view end, {observer = view})
      """
    ).run()
    let expected = """
      ./lua: f:3: warning: the callback captures its observer 'view', which keeps it alive for \
      ever; use the observer that the callback receives instead

      """
    #expect(outcome == Outcome(output: "", errors: expected, status: 0))
  }
}
