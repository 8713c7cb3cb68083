import Foundation
import Testing

struct OptionTests {
  private typealias Outcome = Command.Outcome

  @Test(arguments: [("--help", 1), ("--version", 1), ("--test c.lua", 2)])
  func `failed output is a failure of the program`(options: String, status: Int) throws {
    let outcome = try Command("echo >c.lua; $L \(options) >/dev/full; echo $?").run()
    #expect(
      outcome
        == Outcome(
          output: "\(status)\n", errors: "./lua: cannot write to the standard output\n", status: 0))
  }

  @Test func `--help shows every option on the standard output`() throws {
    let outcome = try Command("$L --help").run()
    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty)
    let options = [
      "-e stat", "-l g=mod", "-i ", "-v ", "-E ", "-W ", "--help ", "--version ",
      "--error=stop|continue ", "--virtual-time ", "--timeout=SECONDS ",
    ]
    for option in options { #expect(outcome.output.contains("\n  \(option)")) }
  }

  @Test func `--version shows our version and that of Lua`() throws {
    let outcome = try Command("$L --version").run()
    #expect(outcome.output.wholeMatch(of: /obs-lua \d+\.\d+\.\d+ \(Lua 5\.4\.\d+\)\n/) != nil)
    #expect(outcome.errors.isEmpty)
    #expect(outcome.status == 0)
  }

  @Test(
    arguments: [
      ("--versoin", "unrecognized option '--versoin' (did you mean '--version'?)"),
      ("--timout=3", "unrecognized option '--timout' (did you mean '--timeout=SECONDS'?)"),
      ("--whatever", "unrecognized option '--whatever' (see --help)"),
      ("---", "unrecognized option '---' (see --help)"),
      ("--help=1", "'--help' takes no value"),
      ("--timeout", "'--timeout' is written '--timeout=SECONDS', with a number above 0"),
      ("--timeout=0", "'--timeout' is written '--timeout=SECONDS', with a number above 0"),
      ("--timeout=soon", "'--timeout' is written '--timeout=SECONDS', with a number above 0"),
      ("--timeout=nan", "'--timeout' is written '--timeout=SECONDS', with a number above 0"),
      ("--error=never", "'--error' is written '--error=stop|continue'"),
    ])
  func `wrong use of our options ends with status 2`(option: String, message: String) throws {
    let outcome = try Command("$L \(option) -e 'print(1)'").run()
    #expect(outcome == Outcome(output: "", errors: "./lua: \(message)\n", status: 2))
  }

  @Test(
    arguments: [
      ("--record-last=5 a.lua", "'--record-last' needs '--record=FILE'"),
      ("--no-inputs a.lua", "'--no-inputs' needs '--record=FILE'"),
      ("--until=5 a.lua", "'--until' needs '--replay=FILE'"),
      ("--bisect=true a.lua", "'--bisect' needs '--replay=FILE'"),
      ("--trust a.lua", "'--trust' needs '--replay=FILE'"),
      ("--replay= a.lua", "'--replay' is written '--replay=FILE'"),
      (
        "--replay=r --until=x a.lua",
        "'--until' is written '--until=TURN', with a whole number from 1 on"
      ),
      ("--replay=r --bisect= a.lua", "'--bisect' is written '--bisect=EXPRESSION'"),
      ("--replay=r --bisect=x --until=1", "'--until' cannot be used with '--bisect'"),
      ("--replay=r --test a.lua", "'--test' cannot be used with '--replay'"),
      ("--replay=r --watch a.lua", "'--watch' cannot be used with '--replay'"),
      ("--replay=r --sandbox a.lua", "'--sandbox' cannot be used with '--replay'"),
      ("--replay=r --record=s a.lua", "'--record' cannot be used with '--replay'"),
      ("--replay=r -e 'x=1'", "'-e, -l, -i, -v, -E or -W' cannot be used with '--replay'"),
      ("--record= a.lua", "'--record' is written '--record=FILE'"),
      (
        "--record=r --record-last=0 a.lua",
        "'--record-last' is written '--record-last=TURNS', with a whole number from 1 on"
      ),
      ("--record=r --test a.lua", "'--record' cannot be used with '--test'"),
      ("--record=r --watch a.lua", "'--record' cannot be used with '--watch'"),
      ("--report=r.html", "'--report' needs one recording"),
      ("--trace=r.json a b", "'--trace' needs one recording"),
      ("--report= a", "'--report' is written '--report=FILE'"),
      ("--inspect= a.lua", "'--inspect' is written '--inspect[=PORT]', with a number up to 65535"),
      (
        "--inspect=65536 a.lua",
        "'--inspect' is written '--inspect[=PORT]', with a number up to 65535"
      ),
      ("--inspect=x a.lua", "'--inspect' is written '--inspect[=PORT]', with a number up to 65535"),
      ("--inspect --test a.lua", "'--inspect' cannot be used with '--test'"),
      ("--inspect --watch a.lua", "'--inspect' cannot be used with '--watch'"),
      ("--inspect --report=a r", "'--inspect' cannot be used with '--report'"),
    ])
  func `options for recordings and inspectors that do not fit are refused`(
    options: String, message: String
  ) throws {
    let outcome = try Command("echo >a.lua; $L \(options)").run()
    #expect(outcome == Outcome(output: "", errors: "./lua: \(message)\n", status: 2))
  }

  @Test func `our options change nothing for a script that ends by itself`() throws {
    let options = "--timeout=60 --error=continue --virtual-time"
    let outcome = try Command("$L \(options) -e 'print(1)'").run()
    #expect(outcome == Outcome(output: "1\n", errors: "", status: 0))
  }

  // Foundation takes longer to load than most scripts take to run.
  @Test func `the program does not load Foundation`() throws {
    let program = try Data(contentsOf: URL(fileURLWithPath: Command.obsLua))
    #expect(program.range(of: Data("liblua5.4".utf8)) != nil)
    #expect(program.range(of: Data("libFoundation".utf8)) == nil)
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `the time limit stops a loop and shows its position`() throws {
    let outcome = try Command("$L --timeout=0.2 -e 'while true do end'").run()
    let expected = """
      ./lua: (command line):1: timed out (--timeout=0.2)
      stack traceback:
      \t(command line):1: in main chunk
      \t[C]: in ?

      """
    #expect(outcome == Outcome(output: "", errors: expected, status: 124))
  }

  @Test(
    .disabled(if: Command.delaysSignals),
    arguments: [
      "while true do pcall(function() while true do end end) end",
      "coroutine.wrap(function() while true do end end)()",
      "string.find(string.rep('a', 1000000), '.*b')",
      "setmetatable({}, {__gc = function() while true do end end}) collectgarbage()",
      "while true do coroutine.wrap(function() while true do end end)() end",
    ])
  func `no script outlives the time limit`(chunk: String) throws {
    let outcome = try Command("$L --timeout=0.05 -e \"\(chunk)\"").run()
    #expect(outcome.errors.contains("timed out (--timeout=0.05)"))
    #expect(outcome.status == 124)
  }
}
