import Foundation
import Testing

/// S9: `--sandbox` locks its process, which can then open nothing.
///
/// `Tests/LockTests`, a program that locks itself, tests the refused and the allowed calls.
struct LockTests {
  /// Runs a command for which the system refuses a lock, see `refusing.c`.
  private static let refusing: String = {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let source = tests.appending(path: "LockTests/refusing.c").path
    let program = NSTemporaryDirectory() + "obs-lua-refusing-\(getpid())"
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let build = try? Command("PATH='\(path)' clang -o \(program) \(source)").run()
    return build?.status == 0 ? program : "refusing.c was not built"
  }()

  /// Runs a script that waits, and then the lines, in which `$!` is the script's process.
  private func whileWaiting(_ options: String, _ lines: String) throws -> Command.Outcome {
    try Command(
      """
      mkfifo ready
      $L --turn-time=60s \(options) -e 'require "obs".after(60, print) print "ready"' >ready &
      read line <ready
      \(lines)
      kill $!
      wait
      """
    ).run()
  }

  @Test func `the process of a sandbox is locked`() throws {
    let status = "grep -E '^(Seccomp|NoNewPrivs):' /proc/$!/status"
    #expect(try whileWaiting("--sandbox", status).output == "NoNewPrivs:\t1\nSeccomp:\t2\n")
    let folder = try whileWaiting("--sandbox=strict --sandbox=.", status)
    #expect(folder.output == "NoNewPrivs:\t1\nSeccomp:\t2\n")
    #expect(!(try whileWaiting("--max-memory=1G", status).output.contains("Seccomp:\t2")))
  }

  @Test func `a script can come from a descriptor`() throws {
    let outcome = try Command("echo 'print(...)' >s.lua; $L --sandbox /dev/fd/8 7 8<s.lua").run()
    #expect(outcome == Command.Outcome(output: "7\n", errors: "", status: 0))
  }

  @Test(.disabled(if: Command.delaysSignals))
  func `a locked process waits, and ends by time, by memory and by signals`() throws {
    let script = """
      local obs = require "obs"
      local t = { n = 0 }
      obs.observe(t, "n", function() print("changed", t.n) end)
      obs.task(function() obs.sleep(0.01) t.n = 1 print(#os.date(), os.clock() > 0) end)
      obs.on_exit(function() print "exit" end)
      """
    let hog = "local t = {} for i = 1, 1e8 do t[i] = {} end"
    let outcome = try Command(
      """
      $L --sandbox --turn-time=60s -e '\(script)'
      $L --sandbox --turn-time=60s --timeout=0.05 -e 'require "obs".every(60, print)'; echo $?
      $L --sandbox --timeout=0.05 --turn-time=60s -e 'while true do end'; echo $?
      $L --sandbox --turn-time=60s --max-memory=8M -e '\(hog)'; echo $?
      """
    ).run()
    #expect(
      outcome.output == "24\ttrue\nchanged\t1\nexit\n124\n124\n1\n", "\(outcome)")
    #expect(try whileWaiting("--sandbox", "kill -INT $!; wait $!; echo $?").output == "130\n")
  }

  @Test(arguments: [(1, "Operation not permitted"), (38, "Function not implemented")])
  func `a refused lock is reported once`(error: Int, text: String) throws {
    let refusing = "\(Self.refusing) \(error)"
    for what in ["filter", "all"] {
      let outcome = try Command(
        "echo 'return 7' >m.lua; \(refusing) \(what) $L --sandbox=. -e 'print(require [[m]])'"
      ).run()
      #expect(outcome.output == "7\n" && outcome.status == 0)
      #expect(
        outcome.errors
          == "./lua: warning: the system refuses to lock the process (seccomp: \(text))\n")
    }
    let plain = try Command("\(refusing) all $L -e 'print(7)'").run()
    #expect(plain == Command.Outcome(output: "7\n", errors: "", status: 0))
  }

  // D8
  @Test(.disabled(if: Command.delaysSignals))
  func `a replay that cannot be locked says so, unless the recording is the user's own`() throws {
    for (option, isWarned) in [("", true), ("--until=1", true), ("--trust", false)] {
      let outcome = try Command(
        """
        $L --record=r -e 'print(7)' >out
        \(Self.refusing) 38 filter $L --replay=r \(option) 2>&1 >out </dev/null | head -1
        """
      ).run()
      let warning =
        "./lua: warning: the system refuses to lock the process (seccomp: Function not "
        + "implemented); replay only recordings of programs that you trust\n"
      #expect(outcome.output == (isWarned ? warning : ""), "\(outcome)")
    }
  }

  @Test func `a strict sandbox ends if the system refuses the lock`() throws {
    for folder in ["", "--sandbox=.", "--sandbox=strict"] {
      let options = "\(folder) --sandbox=strict --sandbox"
      let outcome = try Command("\(Self.refusing) 38 all $L \(options) -e 'print(7)'").run()
      #expect(outcome.output == "" && outcome.status == 1)
      #expect(
        outcome.errors == "./lua: --sandbox=strict: the system refuses to lock the process "
          + "(seccomp: Function not implemented)\n")
    }
  }

  @Test func `a folder may be called strict`() throws {
    let outcome = try Command(
      """
      mkdir strict; echo 'return 7' >strict/m.lua
      $L --sandbox=./strict -e 'print(require [[m]])'; $L --sandbox=strict -e 'require [[m]]'
      """
    ).run()
    #expect(outcome.output == "7\n" && outcome.status == 1)
    #expect(outcome.errors.contains("module 'm' not found"))
  }

  @Test func `a missing folder ends the program`() throws {
    let outcome = try Command("$L --sandbox=none -e 'print(7)'").run()
    #expect(outcome.output == "" && outcome.status == 1)
    #expect(outcome.errors == "./lua: the folder of modules cannot be opened: none\n")
  }

  @Test func `the prompt of a sandbox edits lines in a locked process`() throws {
    let terminal = try Terminal(Command.obsLua, ["--sandbox"], environment: ["TERM": "xterm"])
    terminal.type("print(io, 6 * 7)\n", after: "> ")
    // Text typed before the prompt would not reach the editor.
    terminal.type("\u{4}", after: "> ")
    #expect(terminal.finish() == 0, "\(terminal.transcript)")
    #expect(terminal.transcript.contains("nil\t42\n"))
  }
}
