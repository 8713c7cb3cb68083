import Foundation
import LibC
import Testing

/// The prompt on a terminal in unusual situations: rules N1 to N8, I5 and W3.
struct PromptEdgeTests {
  private static let end = "\u{4}"
  private static let interrupt = "\u{3}"

  // N2
  @Test func `a line that a callback has started and flushed is ended`() throws {
    let folder = try Folder(interpreter: Command.obsLua)
    defer { folder.remove() }
    let terminal = try Terminal(Command.obsLua, environment: try Terminal.screen(in: folder))
    let begun = "timer = obs.after(0.01, function() io.write 'abc' io.flush() end)\n"
    terminal.type(begun, after: "> ")
    let ended = "timer = obs.after(0.01, function() print 'de' io.flush() end)\n"
    terminal.type(ended, after: "abc\n> ")
    // One stream does not clear the output of the other.
    let mixed = """
      timer = obs.after(0.01, function() io.write 'fg' io.flush() io.stderr:write 'hi\\n' end)

      """
    terminal.type(mixed, after: "de\n> ")
    terminal.type(Self.end, after: "hi\n\n> ")
    #expect(terminal.finish() == 0)
    #expect(terminal.transcript.contains("\u{1b}[Jfg\u{1b}[Jhi\n"))
    // The cursor is only moved back if the output has not ended in its own line.
    #expect(!terminal.transcript.contains("abc\u{1b}8"))
  }

  @Test func `a callback that ends the process leaves the terminal in its ordinary mode`() throws {
    let terminal = try Terminal(Command.obsLua, environment: ["TERM": "xterm", "NO_COLOR": "1"])
    terminal.type("timer = obs.after(0.01, function() os.exit(7) end)\n", after: "> ")
    #expect(terminal.finish() == 7)
    // The editor switches bracketed paste on, and off again at the end.
    let modes = terminal.transcript.split(separator: "\u{1b}[?2004")
    #expect(modes.count > 2)
    #expect(modes.last?.hasPrefix("l") == true)
  }

  // I5
  @Test(.disabled(if: Command.delaysSignals))
  func `an interruption ends the printing of values`() throws {
    // The signal comes while a value is shown, and no code of a script runs.
    let transcript = try Terminal.session([
      "file = io.popen('read x; kill -INT $PPID', 'w')", "getmetatable(file).__tostring = io.close",
      "{file, 'not reached'}", "1 + 1",
    ])
    #expect(transcript.contains("\ninterrupted!\n> "))
    #expect(!transcript.contains("\"not reached\""))
    #expect(transcript.contains("\n2\n> "))
  }

  // N7
  @Test func `help and exit are variables if a function assigns them`() throws {
    let transcript = try Terminal.session([
      "values = {help = 'own help', exit = 'own exit'}",
      "_ = setmetatable(_G, {__index = function(_, name) return values[name] end})", "help", "exit",
      "values = {}", "help",
    ])
    #expect(transcript.contains("\n\"own help\"\n> "))
    #expect(transcript.contains("\n\"own exit\"\n> "))
    #expect(transcript.contains("\nexit or Ctrl-D ends the prompt"))
  }

  @Test func `the prompt works if unknown global variables are errors`() throws {
    let transcript = try Terminal.session([
      "_ = setmetatable(_G, {__index = function(_, name) error('no ' .. name, 2) end})", "unknown",
      "help", ".help", "print = nil", "1 + 1",
    ])
    #expect(transcript.contains("no unknown\n"))
    #expect(transcript.contains("no help\n"))
    #expect(transcript.contains("\nexit or Ctrl-D ends the prompt"))
    #expect(transcript.contains("\n2\n> "))
  }

  // N5
  @Test func `registrations by a tail call have the place of the line`() throws {
    let transcript = try Terminal.session([
      "obs.task(function() error('one') end)", "function fail() error('two') end",
      "obs.task(fail)", "coroutine.wrap(function() return obs.task(fail) end)()", "do",
      "obs.task(fail) end",
    ])
    for line in [1, 3, 4, 6] {
      #expect(transcript.contains("in task task (registered at prompt:\(line))\n"))
    }
    #expect(!transcript.contains("registered at ?"))
    #expect(!transcript.contains("prompt:2)"))
  }

  // N3
  @Test func `Tab indents at the beginning of a line`() throws {
    let transcript = try Terminal.session(["do", "\t\tindented = 'as typed'", "end", "indented"])
    #expect(transcript.contains("\n\"as typed\"\n> "))
    #expect(!transcript.contains("collectgarbage"))
  }

  // N8
  @Test func `the prompt lists everything the program waits for`() throws {
    let terminal = try Terminal(Command.obsLua)
    for line in [
      "do obs.after(1000, print) end", "obs.task(function() obs.sleep(1000) end)",
      "obs.task(function() obs.next_change({}, 'k', 1000) end)",
      "obs.task(function() obs.await(function() end, 1000) end)",
      "obs.task(function() obs.task(function() obs.sleep(999) end):await(1000) end)",
      "handler = obs.on_readable(io.popen 'read x </dev/null; exec sleep 1000', print)",
      "do obs.next_turn(function() print 'at once' end) end",
    ] {
      terminal.type(line + "\n", after: "> ")
    }
    terminal.type(Self.end, after: "> ")
    terminal.type(Self.interrupt, after: "ends it\n")
    #expect(terminal.finish() == 130)
    let text = """
      waiting for timer after at prompt:1, handler on_readable at prompt:6, task at prompt:2 and 4 \
      more; Ctrl-D or Ctrl-C ends it

      """
    #expect(terminal.transcript.contains(text))
    #expect(terminal.transcript.contains("at once\n"))
  }

  @Test func `the prompt does not wait for work that is ready`() throws {
    let transcript = try Terminal.session(["do obs.next_turn(function() print 'done' end) end"])
    #expect(transcript.contains("done\n"))
    #expect(!transcript.contains("waiting"))
  }

  @Test func `an idle luv leaves the terminal alone`() throws {
    let folder = try Folder(interpreter: Command.obsLua)
    defer { folder.remove() }
    let terminal = try Terminal(Command.obsLua, environment: try Terminal.screen(in: folder))
    terminal.type("uv = require 'luv' t = uv.new_timer()\n", after: "> ")
    terminal.type("o = obs.after(0.8, function() print 'late' end)\n", after: "> ")
    terminal.type("t = t:start(0, 0, function() print 'fired' end)\n", after: "late\n> ")
    terminal.type("", after: "fired\n> ")
    terminal.type(Self.end, after: "")
    #expect(terminal.finish() == 0)
    // The cursor position is saved where a callback may write, which is about ten times a second
    // while a callback is due.
    #expect(terminal.transcript.split(separator: "\u{1b}7").count <= 5, "\(terminal.transcript)")
  }

  // W3
  @Test func `a callback can open the prompt of break_on_change while a line is typed`() throws {
    let folder = try Folder(interpreter: Command.obsLua)
    defer { folder.remove() }
    let terminal = try Terminal(Command.obsLua, environment: try Terminal.screen(in: folder))
    let sign = folder.path + "/sign"
    terminal.type("sign, t = '\(sign)', {} obs.break_on_change(t, 'a')\n", after: "> ")
    let timer = """
      timer = obs.every(0.01, function() local file, value = io.open(sign), 41 if file then \
      file:close() timer:stop() t.a = value print 'went on' end end)

      """
    terminal.type(timer, after: "> ")
    terminal.type("x = 'typed'", after: "> ")
    terminal.type("", after: "'typed'")
    try Data().write(to: URL(fileURLWithPath: sign))
    // The Return key sends a carriage return, which ends a line only in the terminal's ordinary
    // mode.
    terminal.type("=value + 1\r", after: "lua_debug> ")
    terminal.type("cont\r", after: "=value + 1\n42\nlua_debug> ")
    terminal.type(" .. '!'\r", after: "went on\n> x = 'typed'")
    terminal.type("x\r", after: "> ")
    terminal.type(Self.end, after: "\"typed!\"\n> ")
    #expect(terminal.finish() == 0)
  }
}
