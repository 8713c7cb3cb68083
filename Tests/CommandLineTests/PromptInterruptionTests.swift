import LibC
import Testing

/// Rule I1 at the prompt: Ctrl-C brings the prompt back.
struct PromptInterruptionTests {
  private static let interrupt = "\u{3}"
  private static let end = "\u{4}"

  /// Runs steps of (expected output, text to type); each text is typed after its output has
  /// appeared.
  private func session(_ steps: [(String, String)], in arguments: [String] = []) throws -> (
    transcript: String, status: Int32
  ) {
    let terminal = try Terminal(Command.obsLua, arguments)
    for (prompt, text) in steps { terminal.type(text, after: prompt) }
    let status = terminal.finish()
    return (terminal.transcript.replacing(Command.obsLua, with: "lua"), status)
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `Ctrl-C interrupts a running line`() throws {
    let (transcript, status) = try session([
      ("> ", "print('go') while true do end\n"), ("\ngo\n", Self.interrupt), ("\n> ", "=1 + 1\n"),
      ("\n2\n> ", Self.end),
    ])
    let report = "interrupted!\nstack traceback:\n\tprompt:1: in main chunk\n\t[C]: in ?\n> "
    #expect(transcript.contains(report))
    #expect(status == 0)
  }

  // In a locked process the line editor can signal the process itself only.
  @Test(arguments: [[], ["--sandbox"]])
  func `Ctrl-C drops a typed line`(options: [String]) throws {
    let (transcript, status) = try session(
      [("> ", "x ="), ("x =", Self.interrupt), ("\n> ", "=1 + 1\n"), ("\n2\n> ", Self.end)],
      in: options)
    #expect(!transcript.contains("error"))
    #expect(!transcript.contains("interrupted!"))
    #expect(status == 0)
  }

  @Test func `Ctrl-C drops a chunk of several lines as a whole`() throws {
    let (transcript, status) = try session([
      ("> ", "print(\n"), (">> ", Self.interrupt), ("\n> ", "=1 + 1\n"), ("\n2\n> ", Self.end),
    ])
    #expect(!transcript.contains("near"))
    #expect(status == 0)
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `Ctrl-C interrupts a timer that runs while the prompt waits for a line`() throws {
    let (transcript, status) = try session([
      ("> ", "obs = require 'obs'\n"),
      ("> ", "function f() print('go') while true do end end\n"),
      ("> ", "do obs.on_exit(function() print 'exit' end) end\n"),
      ("> ", "do obs.after(0.01, f) end\n"),
      ("go\n", Self.interrupt), ("\n> ", "=1 + 1\n"), ("\n2\n> ", Self.end),
    ])
    let report = """
      stack traceback:
      \tprompt:2: in function 'f'
      \t[C]: in ?
      in timer after (registered at prompt:4)

      """
    #expect(transcript.contains("interrupted!\n" + report))
    #expect(transcript.hasSuffix("exit\n"))
    #expect(status == 0)
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `Ctrl-C in an immediate watcher also interrupts the line that wrote`() throws {
    let (transcript, status) = try session([
      ("> ", "obs = require 'obs' t = {}\n"),
      ("> ", "function f() print('go') while true do end end\n"),
      ("> ", "do obs.observe(t, 'a', f, {immediate = true, name = 'w'}) end\n"),
      ("> ", "t.a = 1 print('not', 'reached')\n"),
      ("\ngo\n", Self.interrupt), ("\n> ", "=1 + 1\n"), ("\n2\n> ", Self.end),
    ])
    #expect(transcript.contains("in immediate watcher w (registered at prompt:3)\n"))
    #expect(!transcript.contains("not\treached"))
    #expect(status == 0)
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `a second SIGINT cannot be caught, and the prompt comes back`() throws {
    let (transcript, status) = try session([
      ("> ", "function f() print('go') while true do end end\n"),
      ("> ", "while true do pcall(f) end\n"),
      ("\ngo\n", Self.interrupt), ("go\n", Self.interrupt), ("\n> ", "=1 + 1\n"),
      ("\n2\n> ", Self.end),
    ])
    #expect(transcript.contains("interrupted!\nstack traceback:"))
    #expect(status == 0)
  }

  @Test(arguments: [SIGTERM, SIGHUP])
  func `other signals end the prompt in order`(signal: Int32) throws {
    let terminal = try Terminal(Command.obsLua, ["-e", Self.exitHook, "-i"])
    terminal.send(signal, after: "> ")
    #expect(terminal.finish() == 128 + signal)
    #expect(terminal.transcript.hasSuffix("exit\n"))
  }

  // MARK: The prompt of break_on_change

  private static let exitHook = "require('obs').on_exit(function() print('exit') end)"

  private static let breaking = """
    local t = {} require('obs').break_on_change(t, 'a')
    t.a = 1 print('one')
    t.a = 2 print('two')
    """

  private func debug(_ steps: [(String, String)]) throws -> (transcript: String, status: Int32) {
    try session(steps, in: ["-e", Self.exitHook, "-e", Self.breaking])
  }

  @Test func `the end of the input continues the script, and the next change asks again`() throws {
    let (transcript, status) = try debug([
      ("lua_debug> ", Self.end), ("lua_debug> ", Self.end),
    ])
    #expect(transcript.contains("lua_debug> \none\n"))
    #expect(transcript.hasSuffix("lua_debug> \ntwo\nexit\n"))
    #expect(status == 0)
  }

  @Test func `Ctrl-C ends the script`() throws {
    let (transcript, status) = try debug([("lua_debug> ", Self.interrupt)])
    #expect(
      transcript.hasSuffix(
        """
        interrupted!
        stack traceback:
        \t(command line):2: in main chunk
        \t[C]: in ?
        exit

        """))
    #expect(!transcript.contains("one\n"))
    #expect(status == 130)
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `Ctrl-C ends a statement at that prompt, and the prompt comes back`() throws {
    let (transcript, status) = try debug([
      ("lua_debug> ", "print('go') while true do end\n"), ("\ngo\n", Self.interrupt),
      ("interrupted!\nlua_debug> ", "cont\n"), ("lua_debug> ", "cont\n"),
    ])
    #expect(transcript.hasSuffix("two\nexit\n"))
    #expect(status == 0)
  }
}
