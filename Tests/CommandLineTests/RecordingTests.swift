import Foundation
import Testing

/// D1–D4, D7: recordings made and shown by the program.
///
/// The thread sanitizer reserves the addresses that a replay needs, so each recording warns.
@Suite(.disabled(if: Command.delaysSignals))
struct RecordingTests {
  private typealias Outcome = Command.Outcome

  /// A program of several turns, which prints everything that recording could change.
  ///
  /// The collector would shrink Lua's stack, by its use at that moment.
  private static let program = """
    collectgarbage "stop" local obs = require "obs"
    local t = { a = 0, list = obs.array {}, child = { n = 1 } }
    local function copy() t.b = t.a end
    obs.observe(t, "a", copy, { name = "copier" })
    obs.observe(t, "**", function() end)
    obs.computed(t, "double", { "a" }, function(self) return self.a * 2 end)
    obs.observe(t, "double", function() end)
    for i = 1, 100 do obs.after(i / 1000, function()
      t.a = i
      t.a = i
      t.list:append({ n = i })
      if i % 10 == 0 then t.child = { n = i } end
    end) end
    obs.task(function() obs.sleep(0.05) t.slept = true end)
    obs.on_exit(function()
      local counts = obs.stats()
      print(counts.turns, counts.calls, counts.watchers, collectgarbage "count", #arg, arg[-1])
    end)
    """

  private func script(_ text: String) -> String {
    "cat >a.lua <<'END'\n\(text)\nEND\n"
  }

  // D1
  @Test func `recording changes neither turns nor calls nor memory nor output`() throws {
    let run = { (options: String) in
      try Command(script(Self.program) + "$L --virtual-time \(options) a.lua; echo $?").run()
    }
    let plain = try run("")
    let recorded = try run("--record=r")
    #expect(plain.errors.isEmpty)
    #expect(plain.output.hasSuffix("\n0\n"))
    #expect(recorded.output == plain.output)
    #expect(recorded.errors.isEmpty)
  }

  // D2, D3
  @Test func `each line is JSON, and turns and calls name their causes`() throws {
    let outcome = try Command(
      script(Self.program)
        + "$L --virtual-time --record=r a.lua >/dev/null && stat -c %a r && cat r"
    ).run()
    var lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.removeFirst() == "600")
    let decoded = try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) }
    let header = try #require(decoded.first as? [String: Any])
    #expect(header["obs-lua"] as? String == "recording")
    #expect(header["version"] as? Int == 1)
    #expect(header["script"] as? String == "a.lua")
    let events = try decoded.dropFirst().map { try #require($0 as? [Any]) }
    let turns = events.filter { $0[0] as? String == "turn" }
    #expect(turns.first?[2] as? String == "chunk")
    #expect(turns.dropFirst().first?[2] as? String == "timer")
    var places: [Int: String] = [:]
    for event in events where event[0] as? String == "text" {
      places[event[1] as! Int] = event[2] as? String
    }
    #expect(turns.dropFirst().first.flatMap { places[$0[3] as! Int] } == "a.lua:8")
    let writes = Set(
      events.filter { ["write", "edit"].contains($0[0] as? String) }.map { $0[1] as! Int })
    let calls = events.filter { $0[0] as? String == "call" }
    #expect(calls.count > 200)
    #expect(calls.allSatisfy { !($0[2] as! [Int]).isEmpty })
    #expect(calls.flatMap { $0[2] as! [Int] }.allSatisfy { writes.contains($0) })
    #expect((events.last?[0] as? String) == "stopped")
  }

  // D3
  @Test func `a program that is killed leaves whole lines`() throws {
    let outcome = try Command(
      script(
        """
        local obs = require "obs"
        local t = { n = 0 }
        obs.observe(t, "n", function() end)
        obs.every(0.001, function()
          t.n = t.n + 1
          if t.n == 20 then os.execute("kill -9 $PPID") end
        end)
        """)
        + "$L --record=r a.lua; cat r"
    ).run()
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.filter { $0.hasPrefix("[\"write\"") }.count >= 19)
    for line in lines { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
  }

  // D3
  @Test func `os.exit and errors end a recording as the end of the script does`() throws {
    for (body, last) in [
      ("os.exit(3)", "stopped"), ("os.exit(3, true)", "stopped"), ("error 'no'", "stopped"),
    ] {
      let outcome = try Command(
        script(
          "local obs = require 'obs'\nlocal t = {}\nobs.observe(t, 'a', print)\nt.a = 1\n\(body)")
          + "$L --record=r a.lua >/dev/null 2>&1; tail -1 r; grep -c '\"error\"' r"
      ).run()
      #expect(outcome.output.hasPrefix("[\"\(last)\""), "\(body) \(outcome.output)")
      #expect(outcome.output.hasSuffix(body.hasPrefix("error") ? "\n1\n" : "\n0\n"), "\(body)")
    }
  }

  // D7
  @Test func `a page or trace replaces only files of its kind`() throws {
    let outcome = try Command(
      """
      $L --record=r -e 'x = 1'; cp r former; echo precious >p
      for o in --report --trace; do
        for f in r p; do $L $o=$f r; echo $?; done
        $L $o=made$o r; $L $o=made$o r; echo $?
        $L $o=/dev/full r; echo $?
      done
      cmp r former; cat p
      """
    ).run()
    #expect(outcome.output == "1\n1\n0\n1\n1\n1\n0\n1\nprecious\n")
    let errors = outcome.errors.split(separator: "\n")
    #expect(errors[0].hasSuffix("'r' exists, and was not made by --report"))
    #expect(errors[2].hasSuffix("cannot write '/dev/full': No space left on device"))
    #expect(errors[5].hasSuffix("cannot write '/dev/full': No space left on device"))
  }

  // D3
  @Test func `an error of the loop has one line, and is reported once`() throws {
    let outcome = try Command(
      script(
        """
        local obs = require "obs"
        local t = { a = 0, b = 0 }
        obs.limits { retrigger_turns = 3 }
        obs.observe(t, "a", function() t.b = t.b + 1 end)
        obs.observe(t, "b", function() t.a = t.a + 1 end)
        t.a = 1
        """)
        + "$L --record=r a.lua; grep -c '^.\"error\"' r"
    ).run()
    #expect(outcome.output == "1\n")
    #expect(outcome.errors.split(separator: "\n").count { $0.hasPrefix("./lua: ") } == 1)
  }

  // D4
  @Test func `--record-last keeps between one and two times as many turns`() throws {
    let outcome = try Command(
      script(
        """
        local obs = require "obs"
        local t = { n = 0, big = {} }
        for i = 1, 50 do t.big[i] = { i } end
        obs.observe(t, "**", function() end)
        for i = 1, 1000 do obs.after(i, function() t.n = i end) end
        """)
        + "$L --virtual-time --record=r --record-last=50 a.lua; grep -c '\"turn\"' r; "
        + "tail -3 r | head -1; head -2 r | tail -1; ls"
    ).run()
    let lines = outcome.output.split(separator: "\n")
    let kept = Int(lines[0]) ?? 0
    #expect((50...102).contains(kept), "\(kept)")
    #expect(lines[2].hasPrefix("[\"checkpoint\""))
    #expect(!outcome.output.contains("r.new"))
  }

  @Test(
    arguments: [
      ("echo precious >r", "cannot record to 'r': the file exists, and is not a recording"),
      ("mkdir r", "cannot record to 'r': Is a directory"),
      ("", "cannot record to 'no/r': No such file or directory"),
    ])
  func `a file that cannot be recorded to is an error before the script runs`(
    setup: String, message: String
  ) throws {
    let file = message.contains("'no/r'") ? "no/r" : "r"
    let outcome = try Command(
      "echo 'print(1)' >a.lua; \(setup)\n$L --record=\(file) a.lua"
    ).run()
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains(message))
    #expect(outcome.status == 1)
    if setup.hasPrefix("echo") {
      #expect(
        try Command("\(setup); $L --record=r -e '' 2>&1 >/dev/null; cat r").run().output
          .hasSuffix("precious\n"))
    }
  }

  @Test func `without space the program goes on, and says so once`() throws {
    let outcome = try Command(
      script(
        """
        local obs = require "obs"
        local t = { n = 0 }
        obs.observe(t, "n", function() end)
        for i = 1, 3 do obs.after(i / 1000, function() t.n = i print(i) end) end
        """)
        + "$L --error=continue --record=/dev/full a.lua; echo $?"
    ).run()
    #expect(outcome.output == "1\n2\n3\n0\n")
    #expect(
      outcome.errors.components(separatedBy: "cannot record to '/dev/full': No space left").count
        == 2)
  }

  // D7
  @Test(
    arguments: [
      (": >r", "'r' is empty: it is not a recording"),
      ("echo hello >r", "'r' is not a recording"),
      (
        "echo '{\"obs-lua\":\"recording\",\"version\":99}' >r",
        "'r' is a recording of version 99; this program reads version 1"
      ),
      ("", "cannot open 'r': No such file or directory"),
    ])
  func `what is no recording is refused`(setup: String, message: String) throws {
    for tool in ["--report", "--trace"] {
      let outcome = try Command("\(setup)\n$L \(tool)=out r").run()
      #expect(outcome == Outcome(output: "", errors: "./lua: \(message)\n", status: 1))
    }
  }

  // D7
  @Test func `a page has the lines and the source, and no text of the program is HTML`() throws {
    let outcome = try Command(
      script(
        """
        local obs = require "obs"
        local t = {}
        obs.observe(t, "*", function() end, { name = "</script><img src=x onerror=alert(1)>" })
        t["<!--"] = "</script><script>alert(1)</script>"
        """)
        + "$L --record=r a.lua; head -c -20 r >cut; $L --report=cut.html cut; "
        + "$L --report=r.html r; cat r.html"
    ).run()
    #expect(outcome.errors.isEmpty)
    let page = outcome.output
    #expect(page.hasPrefix("<!doctype html>"))
    #expect(!page.contains("<img"))
    #expect(!page.contains("alert(1)</script>"))
    #expect(page.contains("\\u003c/script>\\u003cimg src=x onerror=alert(1)>"))
    #expect(page.contains("obs.observe(t, \\u0022*\\u0022"))
    #expect(page.contains("default-src 'none'"))
    #expect(!page.contains("https://") || !page.contains("src=\"http"))
  }

  // D8
  @Test func `a page has the sources that the run has read, and no other files`() throws {
    // The sandboxed script calls its chunks like files that it cannot read.
    let named = """
      local obs = require "obs"
      local t = { n = 0 }
      obs.observe(t, "n", function() end)
      local chunk = "local obs, t = ... obs.observe(t, 'n', function() end) t.n = t.n + 1"
      for _, name in ipairs { "secret", "/etc/hostname", "fifo", "/dev/tty" } do
        load(chunk, "@" .. name)(obs, t)
      end
      """
    // Two bytes of a character come from two reads.
    let module = """
      local t = { n = 0 } -- \(String(repeating: "é", count: 5001))
      require "obs".observe(t, "n", function() end)
      """
    let outcome = try Command(
      "mkfifo fifo; echo TOPSECRET-4711 >secret\n" + script(named)
        + """
        cat >m.lua <<'END'
        \(module)
        END
        $L --sandbox --record=r a.lua; echo TOPSECRET-4711 >a.lua
        $L --record=r2 -e 'require "m"'; echo TOPSECRET-4711 >m.lua
        grep -c '"fifo:1"' r
        for r in r r2; do timeout 60 $L --report=$r.html $r </dev/null; done
        cat r2 | $L --report=r3.html /dev/stdin
        cat *.html | grep -c TOPSECRET; grep -o 'id="files">{"[^"]*"' r.html r2.html r3.html
        grep -c 'é\\\\u000arequire' r2.html
        """
    ).run()
    #expect(
      outcome.output == """
        1
        0
        r.html:id="files">{"a.lua"
        r2.html:id="files">{"./m.lua"
        1

        """, "\(outcome)")
    #expect(outcome.errors == "")
  }

  // D7
  @Test func `a trace is JSON with turns, calls and writes`() throws {
    let outcome = try Command(
      script(Self.program)
        + "$L --virtual-time --record=r a.lua >/dev/null; $L --trace=t r && cat t"
    ).run()
    #expect(outcome.errors.isEmpty)
    let events = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
    let turns = events.filter { $0["cat"] as? String == "turn" }
    #expect(turns.filter { ($0["name"] as? String)?.hasSuffix("(exit)") == false }.count == 102)
    #expect(events.contains { $0["name"] as? String == "copier" && $0["ph"] as? String == "X" })
    #expect(events.contains { $0["cat"] as? String == "write" })
  }
}
