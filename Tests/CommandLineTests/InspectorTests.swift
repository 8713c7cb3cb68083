import Foundation
import LibC
import Testing

/// V1–V4: the inspector of a running program, and its page.
struct InspectorTests {
  private typealias Outcome = Command.Outcome

  /// A program that waits, with a watcher, a property, and a list.
  private static let waiting = """
    local obs = require "obs"
    t = { n = 1, list = obs.array { 1, 2 } }
    obs.observe(t, "n", function(t) print("n", t.n) io.flush() end, { name = "counter" })
    obs.observe(t, "list.*", function() end)
    t.n = 2
    obs.after(3600, function() end)
    """

  /// A script that starts an inspector that may write.
  private static let writing = """
    local inspector = assert(require("obs").inspect { write = true, roots = { app = _G.t } })
    io.stderr:write("inspect: ", inspector.url, "\\n")
    """

  // V1
  @Test func `the page has no data, and policies for the browser`() throws {
    let program = try InspectedProgram(Self.waiting)
    let answer = program.answer(to: "GET / HTTP/1.1\r\nHost: localhost:\(program.port)\r\n\r\n")
    #expect(status(of: answer) == 200)
    let head = answer.components(separatedBy: "\r\n\r\n")[0]
    for field in [
      "Content-Type: text/html; charset=utf-8", "Cache-Control: no-store", "Connection: close",
      "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
    ] {
      #expect(head.contains("\r\n\(field)"), "\(field)")
    }
    #expect(!head.contains("Access-Control"))
    let policy = try #require(head.firstMatch(of: /Content-Security-Policy: (.*)/)).1
    let nonce = try #require(policy.firstMatch(of: /script-src 'nonce-([0-9a-f]{32})'/)).1
    #expect(policy.hasPrefix("default-src 'none'; "))
    #expect(policy.contains("connect-src 'self'"))
    #expect(answer.contains("<script nonce=\"\(nonce)\">"))
    #expect(answer.contains("<style nonce=\"\(nonce)\">"))
    #expect(!answer.contains("SCRIPTS"))
    #expect(!answer.contains(program.token))
    #expect(!answer.contains("counter on"))
    let again = program.answer(to: "GET / HTTP/1.1\r\nHost: localhost:\(program.port)\r\n\r\n")
    #expect(!again.contains(nonce))
  }

  // V1
  @Test func `everything but the page needs the token`() throws {
    let program = try InspectedProgram(Self.waiting)
    let wrong = String(program.token.dropLast()) + (program.token.hasSuffix("0") ? "1" : "0")
    for path in ["/info", "/events", "/roots", "/why?watcher=1", "/nothing"] {
      for field in [
        "", "Authorization: Bearer \(wrong)\r\n", "Authorization: Bearer \r\n",
        "Authorization: Bearer \(program.token)0\r\n", "Authorization: \(program.token)\r\n",
        "Cookie: \(program.token)\r\n",
      ] {
        let answer = program.answer(
          to: "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(program.port)\r\n\(field)\r\n")
        #expect(status(of: answer) == 401, "\(path) \(field)")
      }
    }
    #expect(program.get("/info?token=\(program.token)").status == 200)
  }

  // V1
  @Test func `requests of other pages and for other hosts are refused`() throws {
    let program = try InspectedProgram(Self.waiting)
    let (port, token) = (program.port, program.token)
    func status(_ fields: String) -> Int {
      CommandLineTests.status(
        of: program.answer(
          to: "GET /info HTTP/1.1\r\n\(fields)\r\nAuthorization: Bearer \(token)\r\n\r\n"))
    }
    for host in ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"] {
      #expect(status("Host: \(host)") == 200)
      #expect(status("Host: \(host)\r\nOrigin: http://\(host)") == 200)
      for origin in ["null", "http://evil.example", "https://\(host)", "http://127.0.0.1:1", ""] {
        #expect(status("Host: \(host)\r\nOrigin: \(origin)") == 403, "\(origin)")
      }
    }
    for host in ["evil.example", "evil.example:\(port)", "127.0.0.1", "localhost:1", ""] {
      #expect(status("Host: \(host)") == 403, "\(host)")
    }
    #expect(status("Accept: */*") == 400)
    #expect(status("Host: localhost:\(port)\r\nhost: localhost:\(port)") == 400)
  }

  // V1, V2
  @Test func `a page reads what the program explains`() throws {
    let program = try InspectedProgram(Self.waiting)
    #expect(program.get("/info") == (200, "{\"write\":false}"))
    #expect(program.get("/roots") == (200, "[]"))
    let why = program.get("/why?watcher=1")
    #expect(why.status == 200)
    #expect(why.body.hasPrefix("counter was called in turn 1"))
    #expect(why.body.contains("'n' was written at a.lua:5 in turn 1 (1 → 2)"))
    #expect(program.get("/whynot?watcher=2").body.hasPrefix("a.lua:4: "))
    let description = program.get("/describe?object=1")
    #expect(description.status == 200)
    #expect(description.body.hasPrefix("table #1 is observed:\n"))
    #expect(description.body.contains("counter on 'n', registered at a.lua:3"))
    for path in [
      "/why", "/why?watcher=", "/why?watcher=-1", "/why?watcher=x", "/describe?watcher=1",
    ] {
      #expect(program.get(path).status == 400, "\(path)")
    }
    for path in ["/why?watcher=99", "/whynot?watcher=0", "/describe?object=99", "/nothing", "//"] {
      #expect(program.get(path).status == 404, "\(path)")
    }
    for path in ["/set", "/run", "/break"] {
      #expect(program.get(path).status == 405, "\(path)")
      #expect(program.post(path, "{}").status == (path == "/break" ? 400 : 403), "\(path)")
    }
    for path in ["/", "/info", "/events", "/describe"] {
      #expect(program.post(path, "").status == 405, "\(path)")
    }
  }

  // V1
  @Test(
    arguments: [
      ("GET /info HTTP/1.0\r\n$F\r\n", 505), ("GET /info HTTP/2.0\r\n$F\r\n", 505),
      ("GET /info HTTP/1.x\r\n$F\r\n", 400), ("GET /info\r\n$F\r\n", 400),
      ("GET  /info HTTP/1.1\r\n$F\r\n", 400), ("\r\n\r\n", 400), ("nonsense\r\n\r\n", 400),
      ("GET http://127.0.0.1/info HTTP/1.1\r\n$F\r\n", 400), ("GET * HTTP/1.1\r\n$F\r\n", 400),
      ("GET info HTTP/1.1\r\n$F\r\n", 400), ("GET /info#x HTTP/1.1\r\n$F\r\n", 400),
      ("GET /%zz HTTP/1.1\r\n$F\r\n", 400), ("GET /% HTTP/1.1\r\n$F\r\n", 400),
      ("GET /%00 HTTP/1.1\r\n$F\r\n", 400), ("GET /%ff HTTP/1.1\r\n$F\r\n", 400),
      ("GET /why?watcher=%4 HTTP/1.1\r\n$F\r\n", 400),
      ("PUT /info HTTP/1.1\r\n$F\r\n", 405), ("OPTIONS /info HTTP/1.1\r\n$F\r\n", 405),
      ("BREW /info HTTP/1.1\r\n$F\r\n", 501), ("G\u{1}T /info HTTP/1.1\r\n$F\r\n", 400),
      ("GET /info HTTP/1.1\r\n$F X: folded\r\n\r\n", 400),
      ("GET /info HTTP/1.1\r\n$FX : space\r\n\r\n", 400),
      ("GET /info HTTP/1.1\r\n$F: none\r\n\r\n", 400),
      ("GET /info HTTP/1.1\r\n$FX\r\n\r\n", 400),
      ("GET /info HTTP/1.1\r\n$FX: a\rb\r\n\r\n", 400),
      ("GET /info HTTP/1.1\r\n$FX: a\nb\r\n\r\n", 400),
      ("GET /info HTTP/1.1\r\n$FX: \0\r\n\r\n", 400), ("\0\0\0\0", 400), ("ä\r\n\r\n", 400),
      ("GET /info HTTP/1.1\r\n$FAuthorization: Bearer x\r\n\r\n", 400),
      ("POST /run HTTP/1.1\r\n$F\r\n", 400),
      ("POST /run HTTP/1.1\r\n$FContent-Length: -1\r\n\r\n", 400),
      ("POST /run HTTP/1.1\r\n$FContent-Length: +1\r\n\r\n", 400),
      ("POST /run HTTP/1.1\r\n$FContent-Length: \r\n\r\n", 400),
      ("POST /run HTTP/1.1\r\n$FContent-Length: 0x1\r\n\r\n", 400),
      ("POST /run HTTP/1.1\r\n$FContent-Length: 1, 1\r\n\r\n", 400),
      ("POST /run HTTP/1.1\r\n$FContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400),
      ("POST /run HTTP/1.1\r\n$FContent-Length: 99999999999999999999999\r\n\r\n", 413),
      ("POST /run HTTP/1.1\r\n$FContent-Length: 70000\r\n\r\n", 413),
      ("POST /run HTTP/1.1\r\n$FTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
      ("GET /info HTTP/1.1\r\n$F\r\nGET /info HTTP/1.1\r\n\0\0garbage", 200),
      ("GET /info HTTP/1.1\r\n$FContent-Length: 4\r\n\r\nbody", 200),
    ])
  func `a request that is no request is refused`(request: String, expected: Int) throws {
    let program = try InspectedProgram(Self.waiting)
    let answer = program.answer(to: request.replacing("$F", with: program.fields))
    #expect(status(of: answer) == expected, "\(answer)")
    #expect(answer.matches(of: /HTTP\/1\.1 \d/).count == 1)
    #expect(program.get("/info").status == 200)
  }

  // V4
  @Test func `long and slow requests are refused`() throws {
    let program = try InspectedProgram(Self.waiting)
    let slow = program.connect()
    slow.send("GET /info HTTP/1.1\r\nHost:")
    let silent = program.connect()
    let long = program.connect()
    long.send("GET /info HTTP/1.1\r\nX: " + String(repeating: "x", count: 10 << 20))
    #expect(status(of: long.rest()) == 431)
    let many = "GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 200) + "\r\n"
    #expect(status(of: program.answer(to: many)) == 431)
    #expect(program.post("/run", String(repeating: " ", count: 1 << 16)).status == 413)
    #expect(status(of: slow.rest()) == 408)
    #expect(status(of: silent.rest()) == 408)
    #expect(program.get("/info").status == 200)
  }

  // V4
  @Test func `of more than 50 connections the others are refused`() throws {
    let program = try InspectedProgram(Self.waiting)
    let pages = (0..<50).map { _ in program.events() }
    for page in pages { _ = page.text { $0.contains("checkpoint") } }
    for _ in 0..<70 { #expect(program.get("/info").status == 503) }
    _ = pages
  }

  // V2
  @Test func `an inspector that may write assigns and runs code in turns`() throws {
    let program = try InspectedProgram(Self.waiting + "\n" + Self.writing, "")
    #expect(program.get("/info").body == "{\"write\":true}")
    #expect(program.get("/roots").body == "[{\"name\":\"app\",\"object\":1}]")
    let page = program.events()
    _ = page.text { $0.contains("\"checkpoint\"") }
    #expect(program.post("/set", #"{"object":1,"key":"n","value":7.5}"#) == (200, "done"))
    let lines = page.text { $0.contains("\"end\"") }
    #expect(lines.contains(#","inspector",0,"#))
    #expect(lines.contains(#","n",2,7.5,"#))
    #expect(lines.contains("[\"call\",1,["))
    #expect(
      program.post("/run", #"{"code":"t.n = t.n + 1 return t.n, 'x\u00e9', {a = 1}"}"#)
        == (200, "8.5\t\"xé\"\t{a = 1}"))
    #expect(program.post("/run", #"{"code":"1 + 1"}"#) == (200, "2"))
    #expect(program.post("/run", #"{"code":"local x = 1"}"#) == (200, ""))
    let turns = program.post("/run", #"{"code":"require 'obs'.stats().turns"}"#)
    #expect(turns == (200, "5"))
    for (path, body, text) in [
      ("/run", #"{"code":"error 'no'"}"#, "no"), ("/run", #"{"code":"1 +"}"#, "unexpected symbol"),
      ("/run", #"{"code":1}"#, "expected"), ("/run", "", "expected"),
      ("/run", #"{"code":"1"}x"#, "expected"), ("/run", #"{"code":"\ud800"}"#, "expected"),
      ("/set", #"{"object":99,"key":"n","value":1}"#, "no observed object has the number 99"),
      ("/set", #"{"object":1,"key":null,"value":1}"#, "nil"),
      ("/set", #"{"object":1,"key":"n","value":[1]}"#, "expected"),
      ("/set", #"{"object":1,"key":"n"}"#, "expected"),
      ("/set", #"{"object":"1","key":"n","value":1}"#, "expected"),
      ("/set", String(repeating: "[", count: 60_000), "expected"),
    ] {
      let answer = program.post(path, body)
      #expect(answer.status == 400, "\(body)")
      #expect(answer.body.contains(text), "\(body): \(answer.body)")
    }
    #expect(program.output == "n\t2\nn\t7.5\nn\t8.5\n")
  }

  // V2
  @Test func `a break shows the calls that lead to writes of a key`() throws {
    let program = try InspectedProgram(
      """
      local obs = require "obs"
      local t = { n = 1, m = 1, list = obs.array {} }
      obs.observe(t, "*", function() end)
      obs.observe(t.list, "*", function() end)
      local function set() t.n = t.n + 1 end
      local function tick()
        set()
        t.m = t.m + 1
        t.list:append(t.n)
      end
      obs.every(0.01, tick)
      """)
    for body in [
      #"{"object":1}"#, #"{"object":1,"key":true}"#, #"{"object":1,"key":1.5}"#,
      #"{"object":1,"key":"n","on":1}"#, #"{"object":-1,"key":"n"}"#, "[]",
    ] { #expect(program.post("/break", body).status == 400, "\(body)") }
    #expect(program.post("/break", #"{"object":99,"key":"n"}"#).status == 404)
    #expect(
      program.post("/break", #"{"object":1,"key":"n"}"#)
        == (200, "writes of \"n\" are shown with their calls"))
    let page = program.events()
    let stack = #","a.lua:5: in function set\na.lua:7: in function"]"#
    _ = page.text { $0.contains(stack) }
    #expect(program.post("/break", #"{"object":2,"key":null}"#).status == 200)
    let lines = page.text {
      $0.contains(#"["break","#) && $0.contains(#""a.lua:9: in function"]"#)
    }
    #expect(lines.contains(stack))
    #expect(!lines.contains("a.lua:8: in"))
    #expect(
      program.post("/break", #"{"object":1,"key":"n","on":false}"#)
        == (200, "writes of \"n\" are no longer shown with calls"))
    var reads = 0
    let turns = page.text { _ in
      reads += 1
      return reads > 40
    }
    .components(separatedBy: #"["end""#)
    #expect(!turns.suffix(5).joined().contains("a.lua:5: in"))
  }

  // V2
  @Test func `code from the page can end the inspector and the program`() throws {
    let program = try InspectedProgram(
      Self.waiting + "\n" + Self.writing.replacing("local inspector", with: "inspector"), "")
    _ = program.post("/run", #"{"code":"inspector:stop() inspector:stop() os.exit(3)"}"#)
    #expect(program.wait() == 3)
  }

  // V3
  @Test(arguments: ["--virtual-time", ""])
  func `an inspector changes neither turns nor calls nor output`(option: String) throws {
    let script = """
      local obs = require "obs"
      local t = { n = 0 }
      obs.observe(t, "n", function() end)
      for i = 1, 100 do obs.after(i / 1000, function() t.n = i end) end
      obs.on_exit(function()
        local counts = obs.stats()
        print(counts.turns, counts.calls, counts.watchers, counts.observed, counts.errors, #arg)
        print(arg[-1], obs.describe(t))
      end)
      """
    let run = { (options: String) in
      try Command("cat >a.lua <<'END'\n\(script)\nEND\n$L \(option) \(options) a.lua; echo $?")
        .run()
    }
    let plain = try run("")
    let inspected = try run("--inspect")
    #expect(plain.output.hasPrefix("102\t100\t1\t1\t0\t0\n"))
    #expect(inspected.output == plain.output)
    #expect(inspected.errors.hasPrefix("inspect: http://127.0.0.1:"))
  }

  // V3
  @Test func `requests are no turns, and a connected page keeps nothing running`() throws {
    let program = try InspectedProgram(
      """
      local obs = require "obs"
      local t = { n = 0 }
      obs.observe(t, "n", function() end)
      local timer
      timer = obs.every(0.01, function()
        t.n = t.n + 1
        if io.open "go" then timer:stop() end
      end)
      obs.on_exit(function() print(obs.stats().turns - t.n) end)
      """)
    let page = program.events()
    _ = page.text { $0.contains("\"end\"") }
    for _ in 0..<100 { #expect(program.get("/describe?object=1").status == 200) }
    program.create("go")
    let lines = page.rest()
    #expect(lines.hasSuffix("]\n\n"))
    #expect(lines.contains("data: [\"stopped\","))
    #expect(program.wait() == 0)
    #expect(program.output == "2\n")
  }

  // V4
  @Test func `events are the lines of a recording with numbers that grow by one`() throws {
    let program = try InspectedProgram(Self.waiting + "\n" + Self.writing, "")
    var last = 0
    for _ in 0..<2 {
      let page = program.events(after: last == 0 ? nil : last)
      let head = page.text { $0.contains("\"watcher\"") }
      #expect(head.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"))
      _ = program.post("/run", #"{"code":"t.n = t.n + 1"}"#)
      let text = head + page.text { $0.contains("\"end\"") }
      let events = text.components(separatedBy: "\r\n\r\n")[1].components(separatedBy: "\n\n")
        .dropLast()
      for (index, event) in events.enumerated() {
        let match = try #require(event.wholeMatch(of: /id: (\d+)\ndata: (.*)/))
        #expect(Int(match.1) == last + 1)
        last += 1
        let line = match.2
        _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
        #expect(line.hasPrefix("{\"obs-lua\":\"recording\"") == (index == 0))
        #expect(line.hasPrefix("[\"checkpoint\"") == (index == 1))
      }
    }
  }

  // V4
  @Test func `a page that reads late gets the number of the lines it missed`() throws {
    let program = try InspectedProgram(Self.burst, "")
    let page = program.events()
    for _ in 0..<20 { #expect(program.post("/run", #"{"code":"burst(10000)"}"#).status == 200) }
    let text = page.text { $0.contains(/event: gap\n[^_]*"watcher"/) }
    let gap = try #require(text.firstMatch(of: /\n\nevent: gap\ndata: (\d+)\n\n/))
    #expect(Int(gap.1).map { 1000...250_000 ~= $0 } == true)
    let lines = text[gap.range.upperBound...].components(separatedBy: "\n\n")
    #expect(lines[0].contains("\ndata: {\"obs-lua\":\"recording\""))
    #expect(lines[1].contains("\ndata: [\"checkpoint\","))
    #expect(program.post("/run", #"{"code":"burst(1)"}"#).status == 200)
    #expect(page.text { $0.contains("\"end\"") }.contains("\"write\""))
  }

  /// A script with a function that makes many writes in a turn.
  private static let burst =
    """
    local obs = require "obs"
    local t = { n = 0 }
    obs.observe(t, "n", function() end)
    function burst(count) for _ = 1, count do t.n = t.n + 1 end end
    obs.after(3600, function() end)
    """ + "\n" + writing

  // V4
  @Test(.enabled(if: Command.reusesMemory))
  func `a page that reads nothing costs no more than a megabyte`() throws {
    let program = try InspectedProgram(Self.burst, "")
    #expect(program.post("/run", #"{"code":"burst(10000)"}"#).status == 200)
    let before = program.residentMemory
    let page = program.events()
    for _ in 0..<20 { #expect(program.post("/run", #"{"code":"burst(10000)"}"#).status == 200) }
    #expect(before > 0)
    #expect(program.residentMemory - before < 6 << 20)
    _ = page
  }

  // V4
  @Test func `objects that are larger than the limit reach a page that reads`() throws {
    let program = try InspectedProgram(
      """
      local obs = require "obs"
      local t = {}
      for i = 1, 100000 do t[i] = "value" .. i end
      obs.observe(t, "**", function() end)
      obs.after(3600, function() end)
      """)
    let text = program.events().text { $0.contains("\"watcher\"") }
    #expect(text.contains("value100000"))
    #expect(!text.contains("event: gap"))
  }

  @Test func `a port that is in use is an error that names it`() throws {
    let program = try InspectedProgram(Self.waiting)
    let outcome = try Command("echo 'print(1)' >a.lua; $L --inspect=\(program.port) a.lua").run()
    #expect(
      outcome
        == Outcome(
          output: "",
          errors: "./lua: cannot inspect on port \(program.port): Address already in use\n",
          status: 1))
    let script = "print(require 'obs'.inspect { port = \(program.port) })"
    #expect(
      try Command("$L -e \"\(script)\"").run().output
        == "nil\tcannot inspect on port \(program.port): Address already in use\n")
  }

  // V2
  @Test func `a sandbox can be inspected, and its scripts cannot start an inspector`() throws {
    let program = try InspectedProgram(
      """
      local obs = require "obs"
      local t = { n = 0 }
      obs.observe(t, "n", function() end, { name = "counter" })
      print(pcall(obs.inspect))
      obs.every(0.01, function() t.n = t.n + 1 end)
      """, "--sandbox --inspect")
    let page = program.events()
    #expect(page.text { $0.contains("\"call\"") }.contains("counter"))
    #expect(program.get("/describe?object=1").body.contains("counter on 'n'"))
    #expect(program.get("/info").status == 200)
    #expect(program.post("/run", "{}").status == 403)
  }

  // D4
  @Test func `a key that a recording hides is hidden on the page, too`() throws {
    let program = try InspectedProgram(
      """
      local obs = require "obs"
      local t = { password = 1 }
      obs.observe(t, "password", function() end)
      local recording = assert(obs.start_recording("r", { hide = { "password" } }))
      t.password = 12345
      obs.after(3600, function() end)
      """)
    let lines = program.events().text { $0.contains("\"watcher\"") }
    #expect(lines.contains("\"password\""))
    #expect(!lines.contains("12345"))
  }
}
