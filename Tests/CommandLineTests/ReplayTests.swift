import Foundation
import Testing

/// D4–D6: runs that are recorded with their inputs, and replayed.
///
/// The thread sanitizer reserves the addresses that a replay needs.
@Suite(.enabled(if: !Command.delaysSignals))
struct ReplayTests {
  private static let folder =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Repeating"

  private func script(_ text: String, named name: String = "a.lua") -> String {
    "cat >\(name) <<'END'\n\(text)\nEND\n"
  }

  /// Records a run, changes the world, and replays the run in each environment.
  ///
  /// - Returns: the output of the shell: none if all runs had the same output, errors and status.
  private func differences(
    _ run: String, before: String = "", meanwhile: String = "", in environments: [String] = [""],
    options: String = ""
  ) throws -> String {
    let replays = environments.map { environment in
      """
      (ulimit -s 2048; exec env -i \(environment) $L --replay=r \(options) >out2 2>err2 \
        </dev/null); again=$?
      cmp out out2; cmp err err2
      test $status = $again || { echo "$status, then $again"; cat err2; }
      """
    }
    let outcome = try Command(
      "\(before)\n\(run) >out 2>err; status=$?\n\(meanwhile)\n"
        + replays.joined(separator: "\n")
    ).run()
    return outcome.output + outcome.errors
  }

  // D5
  @Test(arguments: [
    "print(os.time(), os.clock(), os.date(), os.date('%c %Z'), os.getenv 'HOME', os.getenv 'no')",
    "print(os.time { year = 2020, month = 13, day = 1, hour = 12 })",
    "print(os.tmpname(), os.remove 'none', os.rename('none', 'other'))",
    "print(os.execute 'exit 3', os.execute())",
    "print(os.setlocale(), os.setlocale 'none')",
    "local f = io.popen 'date +%N; exit 4' print(f:read 'a', f:close())",
    "local f = io.popen('cat >/dev/null', 'w') print(f:write(('x'):rep(100000)), f:close())",
    "print(io.read('n', 'l', 3, 'a'))",
    "for line in io.lines() do print(line) end print(io.read())",
    "print(io.open 'none', io.open('/', 'r'):read())",
    "local f = io.open('f', 'w+') f:write('abc', 1) print(f:seek('set', 1), f:read 'a', f)",
    "local f = io.tmpfile() f:write(('line\\n'):rep(3000)) f:seek 'set' print(#f:read 'a')",
    "io.output 'f' io.write 'abc' io.close() for line in io.lines 'f' do print(line) end",
    "print(loadfile 'a.lua', pcall(dofile, 'none'), pcall(require, 'none'))",
    "local f = io.open('m.lua', 'w') f:write 'return os.time()' f:close() print(require 'm')",
    "print(os.setlocale 'C.UTF-8', os.setlocale(nil), os.setlocale 'C')",
    "print(math.random(), math.randomseed(), {}, print, io.stdin, coroutine.create(print))",
    "for name in pairs(string) do io.write(name, ' ') end error 'no'",
    "error { }", "os.exit(7)", "os.exit(7, true)", "print(#arg, arg[0], arg[1], ...)",
    "setmetatable({}, { __gc = function() print(os.time(), io.read()) end })",
    """
    local t <close> = setmetatable({}, { __close = function() print(os.clock()) end })
    os.exit(1, true)
    """,
    "io.stdout:close() print(1)", "io.stderr:write 'err' io.stdout:setvbuf 'no' print 'out'",
    """
    obs = require 'obs'
    obs.every(0.01, function() print(obs.now()) if os.clock() > 0.1 then os.exit(2) end end)
    """,
    """
    obs = require 'obs'
    h = obs.on_readable(io.stdin, function(f)
      local line = f:read()
      print(line)
      if not line then h:stop() end
    end)
    """,
    "obs = require 'obs' obs.task(function() obs.sleep(0.02) print(obs.now()) error 'late' end)",
    """
    obs = require 'obs'
    obs.on_exit(function() print(obs.stats().seconds, collectgarbage 'count') end)
    """,
    "obs = require 'obs' print(pcall(obs.on_readable, 77, print))",
    "local f = io.open('/dev/stderr', 'a') f:write 'errors' f:close() print 'out'",
    "obs = require 'obs' print(obs.start_recording 'f', obs.start_recording 'a.lua')",
  ])
  func `a replay has the same output, errors and status`(program: String) throws {
    let run = "printf '12 a\\nbcd\\nrest\\n' | $L --record=r a.lua 'b c' d"
    #expect(
      try differences(run, before: script(program), meanwhile: "rm -rf a.lua f m m.lua") == "")
  }

  // D8
  @Test(arguments: [
    ("local f = io.open('m', 'wb') f:write(B) f:close() dofile 'm'", "bytecode"),
    ("print(load(B))", "bytecode"),
    ("print(load(function() local s = B B = nil return s end, 'b', 'b'))", "bytecode"),
    ("print(require 'cjson'.encode { 1 }, require 'lpeg'.P 'a')", "cjson.so'"),
  ])
  func `bytecode and C modules are replayed if the recording is the user's own`(
    program: String, name: String
  ) throws {
    let program = "B = string.dump(function() print 'b' end)\n" + program
    let run = "$L --record=r a.lua"
    #expect(
      try differences(run, before: script(program), meanwhile: "rm -f a.lua m", options: "--trust")
        == "")
    let outcome = try Command(script(program) + "\(run) >out; $L --replay=r").run()
    #expect(outcome.output == "" && outcome.status == 1, "\(outcome)")
    #expect(outcome.errors.hasPrefix("./lua: the rest cannot be replayed: "))
    #expect(outcome.errors.contains(name) && outcome.errors.contains("--trust"), "\(outcome)")
  }

  // D8
  @Test func `a library that is no module of this machine is never loaded`() throws {
    let program = """
      local path = package.searchpath("cjson", package.cpath)
      local folder, file = path:match "^(.*)/(.-)$"
      local paths = {
        "./x.so", io.popen "pwd":read() .. "/x.so", folder .. "/../5.4/" .. file,
        folder .. "/./" .. file, folder .. "//" .. file, "libm.so.6",
      }
      print(package.loadlib(paths[tonumber(arg[1])], "*"))
      """
    let outcome = try Command(
      script(program)
        + """
        cp "$($L -e 'print(package.searchpath("cjson", package.cpath))')" x.so
        for i in 1 2 3 4 5 6; do
          $L --record=r a.lua $i; LUA_CPATH='./?.so;;' $L --replay=r --trust
        done
        """
    ).run()
    #expect(outcome.output == String(repeating: "true\n", count: 6))
    let errors = outcome.errors.split(separator: "\n")
    #expect(errors.count == 6)
    for error in errors {
      #expect(
        error.hasPrefix("./lua: the rest cannot be replayed: the C module '")
          && error.hasSuffix("', which is not in package.cpath of this machine"))
    }
  }

  // D8
  @Test func `a replay runs in a locked process`() throws {
    // The output does not fit into a pipe.
    let outcome = try Command(
      script("require 'obs'.next_turn(function() end) for i = 1, 50000 do print(i) end")
        + """
        status() { grep -E '^(Seccomp|NoNewPrivs):' /proc/$!/status; }
        $L --record=r a.lua >out; mkfifo to from
        $L --replay=r >from & exec 8<from; read line <&8; status
        cat <&8 >rest; wait; wc -l <rest
        $L --replay=r --until=1 <to >from 2>&1 & exec 7>to 8<from; read line <&8; status
        echo 'print(io.open "r")' >&7; exec 7>&-; grep -o 'r: .*' <&8
        """
    ).run()
    let locked = "NoNewPrivs:\t1\nSeccomp:\t2\n"
    #expect(
      outcome.output == "\(locked)49999\n\(locked)r: Operation not permitted\t1\n", "\(outcome)")
  }

  // D5
  @Test(arguments: [
    "LUA_INIT='print(os.time())' $L --record=r -e 'print(1)'",
    "LUA_PATH='./?.x' $L --record=r -e 'print(package.path, pcall(require, [[none]]))'",
    "echo 'print(os.clock())' | $L --record=r -",
    "echo 'print(obs.now())' | $L --record=r --sandbox -l obs -",
    "$L --record=r --sandbox b.lua",
    "$L --record=r --virtual-time -l obs -e 'obs.after(9, function() print(obs.now()) end)'",
    "$L --record=r -W -e 'warn [[a]] print(...)'",
    "$L --record=r --error=continue -l obs -e 'obs.next_turn(error) obs.after(0.01, print)'",
    "$L --record=r $(printf -- '-eprint[[\\377]]')",
    "$L --record=r none.lua",
    "$L --record=r --timeout=2 -l obs -e 'obs.after(9, print) obs.on_exit(print)'",
    "$L --record=r --max-memory=64M --turn-time=20s -e 'print(collectgarbage [[count]])'",
  ])
  func `the command line and the environment are those of the recorded run`(run: String) throws {
    let outcome = try differences(
      run, before: script("print(1)", named: "b.lua"), meanwhile: "rm b.lua")
    #expect(outcome == "")
  }

  // D5: the program starts itself again, which neither its script nor its processes see.
  @Test(arguments: [
    ("A=1", "nil\tnil\t1"), ("SWIFT_DETERMINISTIC_HASHING=0", "0\tnil\tnil"),
    ("SWIFT_DETERMINISTIC_HASHING=1", "1\tnil\tnil"),
  ])
  func `the environment, arguments and input are those of the user`(
    setting: String, variables: String
  ) throws {
    let program = """
      local hashing, again = "SWIFT_DETERMINISTIC_HASHING", "OBS_LUA_STARTED_AGAIN"
      print(os.getenv(hashing), os.getenv(again), os.getenv "A")
      for line in io.popen "env | grep -E '^(SWIFT_|OBS_|A=)'":lines() do print(line) end
      print(arg[-2], arg[-1], arg[0], io.read())
      """
    let outcome = try Command(
      script(program) + "echo in | env \(setting) $L --record=r a.lua; A=3 $L --replay=r"
    ).run()
    let run = "\(variables)\n\(setting)\nnil\t./lua\ta.lua\tin\n"
    #expect(outcome == .init(output: run + run, errors: "", status: 0))
  }

  // D5
  @Test func `a program that does everything at random is replayed`() throws {
    let run = "seq 1000 | $L --record=r \(Self.folder)/random.lua 300"
    for _ in 1...10 { #expect(try differences(run) == "") }
  }

  // D5
  @Test(arguments: ["INT", "TERM"])
  func `a signal during a wait ends the replay, too`(signal: String) throws {
    let program = """
      obs = require "obs"
      obs.after(100, print)
      obs.on_exit(function() print("exit", obs.now()) end)
      os.execute [[(until grep -q '^."end",1' r; do :; done; kill -\(signal) $PPID) &]]
      """
    #expect(try differences("$L --record=r a.lua", before: script(program)) == "")
  }

  // D5
  @Test func `a replay writes no file and starts no process`() throws {
    let program = """
      io.open("made", "w"):write("x"):close()
      os.execute "touch started"
      io.popen("touch opened"):close()
      os.rename("kept", "moved")
      os.remove "gone"
      print(os.tmpname())
      """
    let names = "made started opened moved"
    let outcome = try Command(
      script(program)
        + """
        touch kept gone; name=$($L --record=r a.lua)
        rm \(names) "$name"; touch kept gone
        test "$($L --replay=r)" = "$name" && ls \(names) "$name" kept gone 2>/dev/null
        """
    ).run()
    #expect(outcome.output == "gone\nkept\n")
  }

  // D5
  @Test func `a changed line of the script is reported if the script is named`() throws {
    let outcome = try Command(
      script("print(1)\nprint(2)\nprint(3)") + "$L --record=r a.lua >out\n"
        + script("print(1)\nprint(22)\nprint(3)")
        + "$L --replay=r; $L --replay=r a.lua; echo $?; rm a.lua; $L --replay=r a.lua"
    ).run()
    #expect(outcome.output == "1\n2\n3\n1\n1\n2\n3\n")
    #expect(
      outcome.errors.contains(
        "a.lua:2 has changed since the recording: it was 'print(2)', and is 'print(22)'"))
  }

  // D5
  @Test(arguments: Self.examples) func `examples are replayed`(example: String) throws {
    #expect(
      try differences(
        "$L --record=r \(example)", before: "cp \(Self.root)/Scripts/Examples/*.lua .",
        meanwhile: "rm *.lua",
        in: ["", "TZ=Asia/Tokyo MALLOC_PERTURB_=85", "A=\(String(repeating: "x", count: 5000))"])
        == "")
  }

  private static let root = URL(fileURLWithPath: folder + "/../../..").standardized.path

  /// The examples that use neither luv nor `obs.io`, and end; a process that one of them starts
  /// prints as well.
  private static let examples = try! FileManager.default
    .contentsOfDirectory(atPath: root + "/Scripts/Examples")
    .filter { name in
      name.hasSuffix(".lua") && name != "twocopies.lua"
        && (try! String(contentsOfFile: root + "/Scripts/Examples/" + name, encoding: .utf8))
          .firstMatch(of: /obs\.io|"luv"|"socket"/) == nil
    }.sorted()

  // D5
  @Test func `a recording that was cut is replayed as far as it goes`() throws {
    let program = """
      local obs = require "obs"
      local t = { n = 0 }
      obs.observe(t, "n", function() print(t.n) end)
      obs.every(0.001, function()
        t.n = t.n + 1
        if t.n == 20 then os.execute("kill -9 $PPID") end
      end)
      """
    let outcome = try Command(
      script(program) + "$L --record=r a.lua >out 2>&1; $L --replay=r; echo $?"
    ).run()
    #expect(outcome.output.hasPrefix("1\n2\n"))
    #expect(outcome.output.hasSuffix("\n0\n"))
    #expect(outcome.output.split(separator: "\n").count >= 19)
    #expect(
      outcome.errors.hasPrefix("./lua: the recording ends here, in turn ")
        && outcome.errors.hasSuffix("(timer, a.lua:4)\n"), "\(outcome.errors)")
  }

  // D5
  @Test func `a replay stops at the first event or input that differs`() throws {
    let program = """
      local obs = require "obs"
      local t = { n = 0 }
      obs.observe(t, "n", function() print(t.n) end)
      obs.after(0.01, function() t.n = 5 end)
      obs.after(0.02, function() t.n = 6 print(os.getenv "A") end)
      """
    let outcome = try Command(
      script(program)
        + """
        $L --record=r a.lua >out
        sed '/"write",1/s/,5,/,4,/' r >r1; $L --replay=r1 >out1; echo $?
        sed 's/"getenv","A"/"getenv","B"/' r >r2; $L --replay=r2 >out2; echo $?
        wc -l <out1; wc -l <out2
        """
    ).run()
    #expect(outcome.output == "1\n1\n1\n1\n")
    let errors = outcome.errors.split(separator: "\n")
    let known = errors.map {
      String($0).replacing(/line \d+/, with: "line L").replacing(/,\d+\]/, with: "]")
    }
    let beginning = "./lua: the replay differs from the recording: line L, in turn "
    #expect(
      known == [
        beginning + "2 (timer, a.lua:4) at a.lua:4: "
          + "recorded [\"write\",1,1,\"n\",0,4], now [\"write\",1,1,\"n\",0,5]",
        beginning + "3 (timer, a.lua:5): recorded [\"input\",\"getenv\",\"B\"], "
          + "now the input 'getenv' of 'A'",
      ])
  }

  // D5
  @Test func `a write of another table is an event that differs`() throws {
    let program = """
      local obs = require "obs"
      local t = {}
      obs.observe(t, "a", function() end)
      t.a = {}
      t.b = obs.array {}
      """
    let outcome = try Command(
      script(program)
        + """
        $L --record=r a.lua; $L --replay=r; echo $?
        sed '/"write"/s/"o":"2000[0-9a-f]*"/"o":"200000000000"/' r >r1; $L --replay=r1; echo $?
        """
    ).run()
    #expect(outcome.output == "0\n1\n", "\(outcome)")
    #expect(outcome.errors.contains("the replay differs from the recording: "))
  }

  // D5
  @Test func `the message of a C module that could not be loaded is an input`() throws {
    let program = "print(package.loadlib('./x.so', '*')) print(package.loadlib('./y.so', '*'))"
    #expect(
      try differences(
        "$L --record=r a.lua", before: script(program) + "echo x >x.so", meanwhile: "rm x.so") == ""
    )
  }

  // D6
  @Test func `a recording of another build, and one without inputs, are refused`() throws {
    let outcome = try Command(
      """
      $L --record=r -e 'print(1)' >out
      sed '1s/, build [0-9a-f]*/, build 123/' r >r1; $L --replay=r1; echo $?
      $L --replay=r b.lua; echo $?
      $L --replay=none; echo $?
      echo x >r2; $L --replay=r2; echo $?
      $L --record=r3 --no-inputs -e 'print(1)' >out; $L --replay=r3; echo $?
      $L --record=r4 --record-last=9 -e 'print(1)' >out; $L --replay=r4; echo $?
      """
    ).run()
    #expect(outcome.output == "1\n1\n1\n1\n1\n1\n")
    let errors = outcome.errors.split(separator: "\n")
    #expect(
      errors[0].firstMatch(of: /'r1' was recorded by obs-lua .*, build 123, and this is obs-lua/)
        != nil)
    #expect(errors[1].contains("'r' is a recording of '-', not of 'b.lua'; leave out"))
    #expect(errors[2].hasSuffix("cannot replay 'none': No such file or directory"))
    #expect(errors[3].hasSuffix("'r2' is not a recording"))
    #expect(errors[4].contains("'r3' cannot be replayed: it has no inputs"))
    #expect(errors[5].contains("'r4' cannot be replayed: it has no inputs"))
  }

  // D5
  @Test(arguments: [
    // A write that waits in a file of the script.
    (
      "f = io.open('f', 'w') f:write 'a' obs.next_turn(function() os.execute 'kill -9 $PPID' end)",
      "", "the recording ends here, in the main chunk"
    ),
    (
      "f = io.open('f', 'w') f:write 'a' x = 0 obs.next_turn(function() x = 1 end)",
      "--bisect='x == 0'", "'x == 0' is false after turn 2 (next, a.lua:2)"
    ),
    // Programs without turns, or that end early.
    ("x = 1 os.exit(3)", "--bisect='x ~= 1'", "'x ~= 1' is false after the main chunk"),
    ("x = 1", "--bisect='x == 1'", "'x == 1' is true after each turn, up to the main chunk"),
    (
      "obs.on_exit(print)", "--until=3",
      "the program has ended with turn 3 (exit, a.lua:2): there is no prompt after it"
    ),
    ("os.exit()", "--until=9", "the run ends before turn 9, after the main chunk"),
    // Expressions that would change the run.
    ("x = 1", "--bisect='os.exit(0)'", "the expression cannot be evaluated after the main chunk"),
    ("x = 1", "--bisect='os.time() > 0'", "is true after each turn, up to the main chunk"),
    (
      "x = 1", "--bisect='obs.start_recording([[g]]) or true'",
      "is true after each turn, up to the main chunk"
    ),
    // Steps that are named.
    ("print(1) obs.inspect()", "", "the rest cannot be replayed: an inspector"),
    (
      "while os.clock() do end", "",
      "the rest cannot be replayed: a signal or time limit that interrupts the script"
    ),
  ])
  func `a replay ends with an answer`(program: String, option: String, answer: String) throws {
    let outcome = try Command(
      script("obs = require 'obs'\n" + program)
        + """
        $L --record=r --timeout=1 a.lua >out 2>err
        timeout 20 $L --replay=r \(option) 2>&1; ls g 2>/dev/null
        """
    ).run()
    #expect(outcome.output.hasSuffix(answer + "\n"), "\(outcome)")
  }

  // D5
  @Test func `a time limit of the recorded run does not end a replay`() throws {
    let outcome = try Command(
      """
      $L --record=r --timeout=1000 -e 'for i = 1, 60000 do print(i) end' >out
      sed '1s/--timeout=1000/--timeout=0.001/' r >r1; $L --replay=r1 | tail -1
      """
    ).run()
    #expect(outcome.output == "60000\n")
  }

  // D3
  @Test func `closed standard streams stay closed while a run is recorded`() throws {
    let outcome = try Command(
      """
      $L --record=r -e 'print(1) io.stderr:write(1) print(io.read())' >&- 2>&- <&-
      $L --replay=r; head -c 10 r
      """
    ).run()
    #expect(outcome.output == "1\nnil\tBad file descriptor\t9\n{\"obs-lua\"", "\(outcome)")
  }

  // D8
  @Test func `damage at random does no harm`() throws {
    let environment = ProcessInfo.processInfo.environment
    let (first, count) = (environment["OBS_SEED"] ?? "1", environment["OBS_COUNT"] ?? "25")
    let outcome = try Command(
      """
      echo TOPSECRET-4711 >secret; mkfifo fifo
      printf 'x\\ny\\n' | $L --record=r \(Self.folder)/inputs.lua >out 2>err; grep -c input r
      $L \(Self.folder)/damage.lua $L r \(first) \(count)
      """
    ).run()
    #expect(Int(outcome.output.split(separator: "\n").first ?? "") ?? 0 > 50, "\(outcome)")
    #expect(outcome.output.split(separator: "\n").count == 1 && outcome.errors == "", "\(outcome)")
  }

  // D5
  @Test(arguments: [
    ("s/\"remove\",\"no\",-1,2/\"remove\",\"no\",-1,4294967296/", ""),
    ("s/\"read\",\"#2\",[0-9]*,/\"read\",\"#2\",600000,/", ""),
    ("1s/\"command\":\\[/\"command\":[\"x\",\"--record=stolen\",/", "damaged: it has '--record'"),
    (
      "1s/\"command\":\\[/\"command\":[\"x\",\"--nothing\",/",
      "damaged: unrecognized option '--nothing'"
    ),
    ("1s/\"command\":\\[/\"command\":5,\"x\":[/", "no valid 'command'"),
    ("1s/\"command\":\\[/\"command\":[[300],/", "no valid 'command'"),
    ("1s/\"seed\":\"[0-9]*\"/\"seed\":\"x\"/", "it has no inputs"),
    ("1s/\"terminal\":false/\"terminal\":0/", "no valid 'terminal'"),
  ])
  func `damage to a recording does no harm`(edit: String, message: String) throws {
    let outcome = try Command(
      """
      $L --record=r -e 'print(os.remove "no", #io.open("/proc/self/stat"):read "a")' >out
      sed '\(edit)' r >r1; timeout 20 $L --replay=r1 >out 2>err; echo $?; cat err
      ls stolen 2>/dev/null
      """
    ).run()
    #expect(["0", "1"].contains(outcome.output.prefix { $0 != "\n" }), "\(outcome)")
    #expect(message == "" || outcome.output.contains(message), "\(outcome)")
    #expect(!outcome.output.hasSuffix("\nstolen\n"))
  }

  // D5
  @Test func `a recording that is not a file is refused`() throws {
    let outcome = try Command(
      "mkfifo f; for r in /dev/zero . f; do timeout 20 $L --replay=$r; echo $?; done"
    ).run()
    #expect(outcome.output == "1\n1\n1\n")
    #expect(
      outcome.errors.split(separator: "\n").allSatisfy {
        $0.hasSuffix(": it is not a regular file")
      })
  }

  // D6
  @Test func `calls of a C module that cannot be replayed are named when they are met`() throws {
    let program = "local lfs = require 'lfs'\nprint(1)\nprint(lfs.currentdir() ~= nil)"
    let outcome = try Command(
      script(program) + "$L --record=r a.lua; $L --replay=r --trust; echo $?"
    ).run()
    #expect(outcome.output == "1\ntrue\n1\n1\n")
    let errors = outcome.errors.split(separator: "\n")
    #expect(
      errors[0].firstMatch(
        of: /beyond this point: .*lfs.so calls getcwd, in the main chunk at a.lua:3$/) != nil
    )
    #expect(errors[1].firstMatch(of: /the rest cannot be replayed: .*lfs.so calls getcwd$/) != nil)
  }

  private static let interruption = "a signal or time limit that interrupts the script"

  // D6
  @Test func `calls in threads of a C module are no inputs`() throws {
    let program = """
      local uv = require "luv"
      local function open(n)
        uv.fs_open("a.lua", "r", 0, function() if n > 0 then open(n - 1) end end)
      end
      for _ = 1, 20 do open(20) end
      for _ = 1, 5 do
        uv.new_thread(function() for _ = 1, 100 do os.time() os.getenv "A" end end)
      end
      uv.run()
      print "end"
      """
    let outcome = try Command(script(program) + "timeout 60 $L --record=r a.lua; echo $?").run()
    #expect(outcome.output == "end\n0\n", "\(outcome)")
    #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome)")
  }

  // D6
  @Test func `an interruption of running code is named`() throws {
    let outcome = try Command(
      """
      for o in --timeout=0.2 --turn-time=200ms; do
        $L --record=r $o -l obs -e 'obs.after(0, function() while true do end end)' 2>&1
        grep -c '^."cannot"' r; timeout 20 $L --replay=r 2>&1; echo $?
      done
      """
    ).run()
    let lines = outcome.output.split(separator: "\n")
    #expect(
      lines.filter { $0.contains("warning: this run cannot be replayed beyond this") }.count == 2)
    #expect(
      lines.filter { $0.hasSuffix(": the rest cannot be replayed: \(Self.interruption)") }.count
        == 2)
    #expect(lines.filter { $0 == "1" }.count == 4)
  }

  // D5
  @Test func `until stops after a turn, at a prompt`() throws {
    let program = """
      local obs = require "obs"
      t = { n = 0 }
      w = obs.observe(t, "n", function() print(t.n) end, { name = "printer" })
      for i = 1, 5 do obs.after(i / 100, function() t.n = i end) end
      obs.on_exit(function() print "exit" end)
      """
    let outcome = try Command(
      script(program)
        + """
        $L --record=r a.lua >out
        printf 't.n\\nrequire "obs".why(w)\\nio.open("f", "w")\\n' | $L --replay=r --until=3 a.lua
        $L --replay=r --until=99 </dev/null | tail -1
        """
    ).run()
    #expect(outcome.output.contains("\n2\n> "), "\(outcome)")
    #expect(outcome.output.contains("'n' was written at a.lua:4 in turn 3 (1 → 2)"), "\(outcome)")
    #expect(outcome.output.contains("f: Operation not permitted"))
    #expect(outcome.output.hasSuffix("> \nexit\n"))
    #expect(outcome.errors.contains("after turn 3 (timer, a.lua:4)"))
    #expect(outcome.errors.contains("the run ends before turn 99, after turn 8 (exit, a.lua:5)"))
  }

  // D5
  @Test func `bisect finds the first turn after which an expression is false`() throws {
    let program = """
      local obs = require "obs"
      t = { n = 0 }
      for i = 1, 9 do obs.after(i / 500, function() t.n = i print(i) end) end
      """
    let outcome = try Command(
      script(program)
        + """
        $L --record=r a.lua >out
        $L --replay=r --bisect='t.n < 6'; echo $?
        $L --replay=r --bisect='t.n < 60'; echo $?
        $L --replay=r --bisect='(function() t.n = 60 return true end)()'; echo $?
        $L --replay=r --bisect='t.x.y'; echo $?
        $L --replay=r --bisect='t n'; echo $?
        """
    ).run()
    #expect(
      outcome.output == """
        't.n < 6' is false after turn 7 (timer, a.lua:3)
        0
        't.n < 60' is true after each turn, up to turn 10 (timer, a.lua:3)
        1
        '(function() t.n = 60 return true end)()' is true after each turn, \
        up to turn 10 (timer, a.lua:3)
        1
        2
        2

        """, "\(outcome)")
    #expect(outcome.errors.contains("bisect:1: attempt to index a nil value (field 'x')"))
  }

  // D5
  @Test func `a copy that evaluates an expression for ever ends with its process`() throws {
    let outcome = try Command(
      """
      $L --record=r -e 'print(1)' >out; mkfifo p
      $L --replay=r --bisect='(function() while true do end end)()' >p & P=$!
      exec 3<p
      while [ -z "$(cat /proc/$P/task/$P/children)" ]; do :; done
      kill -9 $P
      timeout 60 cat <&3; echo $?
      """
    ).run()
    #expect(outcome.output == "0\n", "\(outcome)")
  }

  // D8
  @Test(arguments: [
    ("cart.total >= 0", true), ("collectgarbage() == 0", true),
    ("#string.rep('x', 1000000) > 0", true), ("io.close(file)", false),
    ("io.open('written', 'w')", false), ("os.rename('precious', 'written')", false),
    ("os.execute 'touch written'", false), ("io.popen 'touch written'", false),
    ("pcall(require, 'cjson')", false), ("file:read(5000)", false),
    ("pcall(obs.inspect)", false), ("obs.start_recording 'written'", false),
  ])
  func `the copy that evaluates an expression changes nothing outside`(
    expression: String, isTrue: Bool
  ) throws {
    let program = """
      obs = require "obs"
      cart = setmetatable({}, { __index = function()
        os.execute "touch written"
        return 1
      end })
      setmetatable({}, { __gc = function() os.remove "precious" end })
      for i = 1, 50 do file = io.open "a.lua" end
      """
    let outcome = try Command(
      script(program)
        + """
        echo kept >precious; $L --record=r a.lua; echo kept >precious
        $L --replay=r --bisect="\(expression)"; cat precious; ls written 2>/dev/null
        """
    ).run()
    let answer = isTrue ? "true after each turn, up to" : "false after"
    #expect(
      outcome.output == "'\(expression)' is \(answer) the main chunk\nkept\n", "\(outcome)")
  }

  // D4
  @Test func `a recording without inputs has none of them`() throws {
    let outcome = try Command(
      "A=secret $L --record=r --no-inputs -e 'print(os.getenv [[A]])'; grep -c 'input\\|secret' r"
    ).run()
    #expect(outcome.output == "secret\n0\n")
  }
}
