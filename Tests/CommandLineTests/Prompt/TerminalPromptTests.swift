import Foundation
import LibC
import Testing

/// The prompt on a terminal: rules N1 to N9, and the prompt of `break_on_change`, W3.
///
/// On a pipe the prompt works as in `lua`.
struct TerminalPromptTests {
  private static let end = "\u{4}"
  private static let interrupt = "\u{3}"

  @Test func `without arguments a terminal shows the version and a prompt`() throws {
    let transcript = try Terminal.session(["=1 + 1"])
    #expect(transcript.hasPrefix("Lua 5.4"))
    #expect(transcript.contains("\n2\n> "))
  }

  // S9
  @Test func `the prompt of a sandbox edits lines in a locked process`() throws {
    let transcript = try Terminal.session(
      ["print(io, 6 * 7)"], in: ["--sandbox"], environment: ["TERM": "xterm"])
    #expect(transcript.contains("nil\t42\n"))
  }

  // N1
  @Test func `values are shown in full`() throws {
    let transcript = try Terminal.session([
      "{b = 1, a = {2}, obs.array {3}}", "'x', nil", "t = {k = 1} obs.observe(t, 'k', print)", "t",
      "= 1 + 1",
    ])
    #expect(transcript.contains("\n{obs.array {3}, a = {2}, b = 1}\n> "))
    #expect(transcript.contains("\n\"x\"\tnil\n> "))
    #expect(transcript.contains("\n{\n  k = 1,  -- observed\n}\n> "))
    #expect(transcript.contains("\n2\n> "))
  }

  @Test func `more values than can be passed on are cut`() throws {
    let transcript = try Terminal.session(["table.unpack({}, 1, 999980)", "1"])
    #expect(transcript.contains("\tnil\t… 999880 more values\n> "))
    #expect(transcript.contains("\n1\n> "))
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `Ctrl-C stops a __tostring that a value is shown with`() throws {
    let terminal = try Terminal(Command.obsLua)
    let value = "setmetatable({}, {__tostring = function() print('go') while true do end end})"
    terminal.type("value = \(value)\n", after: "> ")
    terminal.type("{value}\n", after: "> ")
    terminal.type(Self.interrupt, after: "go\n")
    terminal.type("1\n", after: "interrupted!>}\n> ")
    terminal.type(Self.end, after: "\n1\n> ")
    #expect(terminal.finish() == 0)
  }

  @Test func `a script's redefined print shows values`() throws {
    let transcript = try Terminal.session(["function print(v) io.write('own ', v, '\\n') end", "5"])
    #expect(transcript.contains("\nown 5\n> "))
  }

  @Test func `colours need a terminal that supports them, and a user who wants them`() throws {
    let number = "\u{1b}[36m42\u{1b}[0m"
    #expect(try Terminal.session(["42"], environment: ["TERM": "xterm"]).contains(number))
    let declined = ["TERM": "xterm", "NO_COLOR": "1"]
    #expect(try !Terminal.session(["42"], environment: declined).contains(number))
    #expect(try !Terminal.session(["42"]).contains("\u{1b}["))
  }

  // N5
  @Test func `each line has a separate place`() throws {
    let transcript = try Terminal.session([
      "t = {}", "w = obs.observe(t, 'k', function() end, {name = 'w'})", "error('x')", "do", "",
      "error('y') end", "t.k = 5", "io.write(select(2, obs.why(w)), '\\n')",
      "io.write(obs.describe(t), '\\n')", "x = = 1",
    ])
    #expect(transcript.contains("\nprompt:3: x\nstack traceback:"))
    #expect(transcript.contains("\nprompt:6: y\n"))
    #expect(transcript.contains("registered at prompt:2"))
    #expect(transcript.contains("prompt:7"))
    #expect(transcript.contains("\nprompt:10: unexpected symbol near '='\n"))
  }

  @Test func `a task has the place of its line, although the call is not on the stack`() throws {
    let transcript = try Terminal.session([
      "1", "obs.task(error, 'x')", "obs.task(obs.sleep, 0.05)",
    ])
    #expect(transcript.contains("in task task (registered at prompt:2)"))
    #expect(transcript.contains("waiting for task at prompt:3;"))
  }

  // N6
  @Test func `obs is a global of the prompt if there is no script`() throws {
    let transcript = try Terminal.session([
      "obs == require 'obs', load('return obs')(), _G.obs", "obs = 7", "obs", "x = 5", "_G.x",
    ])
    #expect(transcript.contains("\ntrue\tnil\tnil\n> "))
    #expect(transcript.contains("\n7\n> "))
    #expect(transcript.contains("\n5\n> "))
    #expect(try Terminal.session(["obs"], in: ["-i", "/dev/null"]).contains("\nnil\n> "))
    #expect(try Terminal.session(["obs ~= nil"], in: ["-i"]).contains("\ntrue\n> "))
  }

  // N7
  @Test func `help and exit are commands where Lua gives them no meaning`() throws {
    #expect(try Terminal.session(["help"]).contains("\nexit or Ctrl-D ends the prompt"))
    let own = try Terminal.session(["help = 12", "help", ".help"])
    #expect(own.contains("\n12\n> "))
    #expect(own.contains("\nexit or Ctrl-D ends the prompt"))
    for word in ["exit", ".exit"] {
      let terminal = try Terminal(Command.obsLua)
      terminal.type(word + "\n", after: "> ")
      #expect(terminal.finish() == 0)
      #expect(!terminal.transcript.contains("nil"))
    }
    #expect(try Terminal.session(["exit = print", "exit"]).contains("function: "))
    func inheriting(_ body: String) -> String {
      "setmetatable(_G, {__index = function(_, name) if name == 'help' then \(body) end end})"
    }
    let found = try Terminal.session([inheriting("return 'found'"), "help"])
    #expect(found.contains("\n\"found\"\n> "))
    #expect(try Terminal.session([inheriting("error 'no help'"), "help"]).contains("no help\n"))
  }

  // N2
  @Test func `output replaces the line, which is drawn again`() throws {
    let folder = try Folder(interpreter: Command.obsLua)
    defer { folder.remove() }
    let terminal = try Terminal(Command.obsLua, environment: try Terminal.screen(in: folder))
    let sign = folder.path + "/sign"
    terminal.type("sign = '\(sign)'\n", after: "> ")
    let timer = """
      timer = obs.every(0.01, function() local file = io.open(sign) if file then file:close() \
      timer:stop() print 'one' io.write 'two' io.stderr:write 'three\\n' error 'four' end end)

      """
    terminal.type(timer, after: "> ")
    terminal.type("x = 'typed'", after: "> ")
    terminal.type("", after: "'typed'")
    try Data().write(to: URL(fileURLWithPath: sign))
    terminal.type(" .. '!'\n", after: "> x = 'typed'")
    terminal.type("x\n", after: "> ")
    terminal.type(Self.end, after: "\"typed!\"\n> ")
    #expect(terminal.finish() == 0)
    let transcript = terminal.transcript
    #expect(transcript.contains("\u{1b}[Jone\n"))
    let output = try #require(transcript.range(of: "one\n"))
    let rest = transcript[output.lowerBound...]
    for text in ["two\n", "three\n", "prompt:2: four\n"] { #expect(rest.contains(text)) }
    // The timer wrote nothing before, so nothing was drawn for it.
    #expect(transcript.components(separatedBy: "> x = 'typed'").count == 3)
  }

  @Test func `a line of several rows is cleared as a whole`() throws {
    let folder = try Folder(interpreter: Command.obsLua)
    defer { folder.remove() }
    let terminal = try Terminal(Command.obsLua, environment: try Terminal.screen(in: folder))
    terminal.type("sign = '\(folder.path)/sign'\n", after: "> ")
    terminal.type("timer = obs.every(0.01, function() local file = io.open(sign)\n", after: "> ")
    terminal.type("if file then file:close() timer:stop() print 'one' end end)\n", after: ">> ")
    terminal.type("x = '" + String(repeating: "y", count: 170) + "z'", after: "> ")
    terminal.type("", after: "z'")
    try Data().write(to: URL(fileURLWithPath: folder.path + "/sign"))
    terminal.type("\n", after: "z'")
    terminal.type("#x\n", after: "> ")
    terminal.type(Self.end, after: "171\n> ")
    #expect(terminal.finish() == 0)
    #expect(terminal.transcript.contains("\u{1b}[2A\u{1b}[Jone\n"))
  }

  @Test func `the cursor keeps its place in the line`() throws {
    let folder = try Folder(interpreter: Command.obsLua)
    defer { folder.remove() }
    let terminal = try Terminal(
      Command.obsLua, environment: try Terminal.screen(in: folder), rows: 10)
    let sign = folder.path + "/sign"
    terminal.type("sign = '\(sign)'\n", after: "> ")
    let timer = """
      timer = obs.every(0.01, function() local file = io.open(sign) if file then file:close() \
      timer:stop() obs.task(print, 'from a task') end end)

      """
    terminal.type(timer, after: "> ")
    // The cursor is in the first of three rows.
    let (beginning, left) = (String(repeating: "y", count: 170), "\u{1b}[D")
    terminal.type("x = '\(beginning)z'" + String(repeating: left, count: 150), after: "> ")
    terminal.type("", after: "z'")
    try Data().write(to: URL(fileURLWithPath: sign))
    terminal.type("M\n", after: "from a task\n> x = '")
    terminal.type("x:find 'M', #x\n", after: "> ")
    terminal.type(Self.end, after: "\n23\t172\n> ")
    #expect(terminal.finish() == 0)
  }

  // N9
  @Test func `a long table is shown in pages`() throws {
    let terminal = try Terminal(Command.obsLua, rows: 6)
    let more = "-- more (space, Enter, q) --"
    terminal.type("t = {} for i = 1, 300 do t['key' .. i] = i end\n", after: "> ")
    terminal.type("t\n", after: "> ")
    terminal.type(" ", after: "{\n  key1 = 1,\n  key2 = 2,\n  key3 = 3,\n  key4 = 4,\n" + more)
    let second = (5...9).map { "  key\($0) = \($0),\n" }.joined()
    terminal.type("x\n", after: second + more)
    terminal.type("q", after: "  key10 = 10,\n" + more)
    terminal.type("t\n", after: "> ")
    for _ in 0..<60 { terminal.type(" ", after: more) }
    terminal.type("1 + 1\n", after: "\n}\n> ")
    terminal.type(Self.end, after: "\n2\n> ")
    #expect(terminal.finish() == 0)
    #expect(terminal.transcript.contains("  key300 = 300,\n}\n> "))
  }

  @Test func `a long row takes several rows of a page`() throws {
    let terminal = try Terminal(Command.obsLua, rows: 4)
    terminal.type("('x'):rep(400)\n", after: "> ")
    terminal.type(" ", after: "\"" + String(repeating: "x", count: 239) + "\n-- more")
    terminal.type(Self.end, after: String(repeating: "x", count: 161) + "\"\n> ")
    #expect(terminal.finish() == 0)
  }

  @Test func `an interruption ends the pages`() throws {
    let terminal = try Terminal(Command.obsLua, rows: 4)
    terminal.type("('x\\n'):rep(9)\n", after: "> ")
    terminal.type(Self.interrupt, after: "-- more")
    terminal.type("1 + 1\n", after: "> ")
    terminal.type(Self.end, after: "\n2\n> ")
    #expect(terminal.finish() == 0)
  }

  @Test func `print, and lines that were typed ahead, need no key`() throws {
    let terminal = try Terminal(Command.obsLua, rows: 4)
    terminal.type("t = {} for i = 1, 300 do t['key' .. i] = i end\n", after: "> ")
    terminal.type("for i = 1, 9 do print(i) end\n", after: "> ")
    terminal.type("t\ntwo = 2\n", after: "9\n> ")
    terminal.type("two\n", after: "… 200 more,\n}\n> ")
    terminal.type(Self.end, after: "\n2\n> ")
    #expect(terminal.finish() == 0)
    #expect(!terminal.transcript.contains("-- more"))
  }

  // N3
  @Test func `Tab completes`() throws {
    let terminal = try Terminal(Command.obsLua)
    let steps = [
      "value_of_test = {inner = {first = 41}}\n", "value_of_t\t.inn\t.fi\t + 1\n",
      "obs.observe(value_of_test, 'inn\t.fi\t', function() end).active\n",
      "obs.observed_k\t(value_of_test)\n", "('x'):upp\t()\n",
    ]
    for step in steps { terminal.type(step, after: "> ") }
    terminal.type(Self.end, after: "> ")
    #expect(terminal.finish() == 0)
    let transcript = terminal.transcript
    #expect(transcript.contains("\n42\n> "))
    #expect(transcript.contains("obs.observe(value_of_test, 'inner.first', function() end)"))
    #expect(transcript.contains("\n{\"inner\"}\n> "))
    #expect(transcript.contains("\n\"X\"\n> "))
  }

  @Test func `Tab lists numbers in names by value`() throws {
    let terminal = try Terminal(Command.obsLua)
    terminal.type("k = {key30 = 1, key3 = 2, key100 = 3}\n", after: "> ")
    terminal.type("k.k\t\t\t", after: "> ")
    terminal.type("3\n", after: "key3    key30   key100")
    terminal.type(Self.end, after: "\n2\n> ")
    #expect(terminal.finish() == 0)
  }

  @Test func `Tab completes the names of files that are modules`() throws {
    let folder = try Folder(interpreter: Command.obsLua)
    defer { folder.remove() }
    let module = "return 'of module'"
    try Data(module.utf8).write(to: URL(fileURLWithPath: folder.path + "/own_module.lua"))
    let transcript = try Terminal.session(
      ["require 'own_mo\t'"], environment: ["LUA_PATH": folder.path + "/?.lua"])
    #expect(transcript.contains("\n\"of module\"\t"))
  }

  @Test func `without a library for line editing the prompt reads plain lines`() throws {
    let folder = try Folder(interpreter: Command.obsLua)
    defer { folder.remove() }
    // The search meets files that are not libraries first.
    for name in ["libreadline.so.8", "libedit.so.2"] {
      try Data().write(to: URL(fileURLWithPath: folder.path + "/" + name))
    }
    let others = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"].map { ":\($0)" } ?? ""
    let transcript = try Terminal.session(
      ["{1}", "error('x')", "help"], environment: ["LD_LIBRARY_PATH": folder.path + others])
    #expect(transcript.contains("\n{1}\n> "))
    #expect(transcript.contains("\nprompt:2: x\n"))
  }

  // N4
  @Test func `the history lasts, with entries of several lines as one`() throws {
    let folder = try Folder(interpreter: Command.obsLua)
    defer { folder.remove() }
    let environment = ["XDG_STATE_HOME": folder.path + "/state"]
    _ = try Terminal.session(
      ["x = '\\\\'", "function f()", "return 6 * 7", "end"], environment: environment)
    #expect(
      folder.contents(of: "state/obs-lua/history")
        == "x = '\\\\\\\\'\nfunction f()\\nreturn 6 * 7\\nend\n")
    let path = folder.path + "/state/obs-lua/history"
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)

    let previous = "\u{10}"
    let terminal = try Terminal(Command.obsLua, environment: environment)
    terminal.type(previous + "\n", after: "> ")
    terminal.type("f()\n", after: "> ")
    terminal.type(previous + "\n", after: "42\n> ")
    terminal.type(Self.end, after: "42\n> ")
    #expect(terminal.finish() == 0)
    // A repeated entry is stored once.
    let history = folder.contents(of: "state/obs-lua/history")
    #expect(history.hasSuffix("\nfunction f()\\nreturn 6 * 7\\nend\nf()\n"))
  }

  @Test func `a long history is shortened`() throws {
    let folder = try Folder(interpreter: Command.obsLua)
    defer { folder.remove() }
    let path = folder.path + "/obs-lua"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let entries = (1...2500).map { "x = \($0)\n" }.joined()
    try Data(entries.utf8).write(to: URL(fileURLWithPath: path + "/history"))
    _ = try Terminal.session(["y = 1"], environment: ["XDG_STATE_HOME": folder.path])
    let kept = folder.contents(of: "obs-lua/history").split(separator: "\n")
    #expect(kept.count == 1001)
    #expect(kept.first == "x = 1501")
    #expect(kept.last == "y = 1")
  }

  @Test func `without a state folder the history covers only the session`() throws {
    let environment = ["XDG_STATE_HOME": "/dev/null/state"]
    #expect(try Terminal.session(["1"], environment: environment).contains("\n1\n> "))
    #expect(
      try Terminal.session(["1"], environment: ["XDG_STATE_HOME": "state"]).contains("\n1\n> "))
  }

  // N8
  @Test func `after the input the prompt lists all pending work, and can be ended`() throws {
    func waiting(_ key: String) throws -> (String, Int32) {
      let terminal = try Terminal(Command.obsLua)
      terminal.type("timer = obs.every(1000, function() end)\n", after: "> ")
      terminal.type(
        "obs.after(1000, print):unref() obs.on_exit(function() print 'end' end)\n", after: "> ")
      terminal.type(Self.end, after: "> ")
      terminal.type(
        key, after: "waiting for timer every at prompt:1; Ctrl-D or Ctrl-C ends it\n")
      let status = terminal.finish()
      return (terminal.transcript, status)
    }
    let (transcript, status) = try waiting(Self.end)
    #expect(transcript.hasSuffix("end\n"))
    #expect(status == 0)
    #expect(try waiting(Self.interrupt).1 == 130)
    #expect(try !Terminal.session(["1"]).contains("waiting"))
  }

  @Test func `timers that end let the program end`() throws {
    let transcript = try Terminal.session(["for i = 1, 5 do obs.after(0.05, function() end) end"])
    let text =
      "waiting for timer after at prompt:1, timer after at prompt:1, timer after at prompt:1 and 2"
    #expect(transcript.contains(text + " more"))
  }

  @Test func `handlers and tasks are waited for, too`() throws {
    let transcript = try Terminal.session([
      "task = obs.task(function() obs.sleep(0.05) end)",
      "out = obs.on_writable(1, function() if task.done then out:stop() end end)",
    ])
    #expect(transcript.contains("waiting for handler on_writable at prompt:2, task at prompt:1;"))
  }

  // W3
  @Test func `the prompt of break_on_change has the variables of the writing function`() throws {
    let script = """
      local obs, t, up = require 'obs', {}, 7
      obs.break_on_change(t, 'a')
      local function set(value, label) local pair = {value, label} t.a = value print(label, up) end
      set(1, 'one')
      """
    let terminal = try Terminal(Command.obsLua, ["-e", script])
    for line in [
      "pair", "value + 1, label", "=value + 2", "= pair[2]", "label, up, new = 'two', up + 1, 5",
      "help",
      "coroutine.wrap(function() return label, new end)()", "error('x', 0)",
      "error(setmetatable({}, {__tostring = function() error('text', 0) end}))", "y = = 1",
      "help = 3",
      "help", "cont ",
    ] {
      terminal.type(line + "\n", after: "lua_debug> ")
    }
    #expect(terminal.finish() == 0)
    let transcript = terminal.transcript
    for text in [
      "{1, \"one\"}", "2\t\"one\"", "3", "\"one\"", "Variables here: label, pair, t, up, value.",
      "\"two\"\t5", "x", "text",
      "(debug command):1: unexpected symbol near '='", "3",
    ] {
      #expect(transcript.contains("\n\(text)\nlua_debug> "), "\(text)")
    }
    #expect(transcript.hasSuffix("two\t8\n"))
  }

  @Test func `that prompt works without variables, too`() throws {
    let script = """
      local t = {}
      require('obs').break_on_change(t, 'a')
      debug.getlocal = nil
      setmetatable(_G, {__index = function(_, name) error('undefined ' .. name, 2) end})
      t.a = 1
      """
    let terminal = try Terminal(Command.obsLua, ["-e", script])
    for line in ["1 + 1", "help", "nothing", "cont"] {
      terminal.type(line + "\n", after: "lua_debug> ")
    }
    #expect(terminal.finish() == 0)
    #expect(terminal.transcript.contains("\n2\nlua_debug> "))
    #expect(terminal.transcript.contains("ends the script.\nlua_debug> "))
    #expect(terminal.transcript.contains("undefined nothing\nlua_debug> "))
  }
}
