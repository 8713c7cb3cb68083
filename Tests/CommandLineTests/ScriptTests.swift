import Testing

struct ScriptTests {
  private typealias Outcome = Command.Outcome

  @Test func `chunks and libraries run in the order written, then the script`() throws {
    let chunks = "-e 's = 1 print(s)' -l s=string '-es = 2'"
    let command = Command("echo 'print(s, ...)' >f; $L \(chunks) f a")
    #expect(try command.run() == Outcome(output: "1\n2\ta\n", errors: "", status: 0))
  }

  @Test func `arguments before the script have negative indices`() throws {
    let command = Command("echo 'print(arg[-3], arg[-1], arg[0], arg[1])' >f; $L -e '' f x")
    #expect(try command.run().output == "./lua\t\tf\tx\n")
  }

  @Test func `our own options come before the script, and appear in arg`() throws {
    let command = Command("echo 'print(arg[-1], arg[1])' >f; $L --virtual-time f --help")
    #expect(try command.run() == Outcome(output: "--virtual-time\t--help\n", errors: "", status: 0))
  }

  @Test func `an error shows the program, the place, the message and the traceback`() throws {
    let outcome = try Command("printf 'local x\nerror(\"bad\")' >f; $L f").run()
    let expected = """
      ./lua: f:2: bad
      stack traceback:
      \t[C]: in function 'error'
      \tf:2: in main chunk
      \t[C]: in ?

      """
    #expect(outcome == Outcome(output: "", errors: expected, status: 1))
  }

  // W2
  @Test func `a task that a tail call starts has the place of its function`() throws {
    let script = "local obs = require \"obs\"\n\nreturn obs.task(function()\nerror(\"x\") end)"
    let outcome = try Command("printf '\(script)' >f; $L f").run()
    #expect(outcome.errors.contains("in task task (registered at f:3)\n"))
  }

  @Test func `the prompt says why the last line is incomplete`() throws {
    let outcome = try Command("printf 'print(1' | $L -i").run()
    #expect(outcome.errors == "stdin:1: ')' expected near <eof>\n")
  }

  @Test func `the collector is incremental`() throws {
    let outcome = try Command(#"$L -e 'print(collectgarbage("incremental"))'"#).run()
    #expect(outcome.output == "incremental\n")
  }

  @Test func `a terminal without arguments gets the version and a prompt`() throws {
    let terminal = try Terminal(Command.obsLua)
    terminal.type("=1 + 1\n", after: "\n> ")
    terminal.type("\u{4}", after: "\n2\n> ")
    #expect(terminal.finish() == 0)
    #expect(terminal.transcript.hasPrefix("Lua 5.4"))
  }

  @Test(
    arguments: [
      ("INT", 1, "interrupted!"), ("TERM", 143, "Terminated"), ("KILL", 137, "Killed"),
    ])
  func `signals end the main chunk`(signal: String, status: Int32, message: String) throws {
    let chunk = "io.popen('kill -\(signal) $PPID'):close() while true do end"
    let outcome = try Command("$L -e \"\(chunk.replacing("$", with: "\\$"))\"").run()
    #expect(outcome.errors.contains(message))
    #expect(outcome.status == status)
  }
}
