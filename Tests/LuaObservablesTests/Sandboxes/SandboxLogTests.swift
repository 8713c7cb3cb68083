import Lua
import LuaObservables
import Observables
import Testing

/// S5: each sandbox has its own `obs.log` and `obs.record`, and learns nothing about others.
struct SandboxLogTests {
  private let test: ContainedHost
  private let a: LuaSandbox
  private let b: LuaSandbox

  init() throws {
    test = try ContainedHost()
    (a, b) = try test.sandboxes()
    try test.host.run("obs = require 'obs'")
  }

  /// A script that makes a sandbox keep a sentence for each event.
  private static let sink = """
    obs = require 'obs'
    events = ''
    obs.log(function(event)
      local who = event.kind == 'call' and event.name or event.key or event.name
      local value = event.new ~= nil and ' ' .. tostring(event.new) or ''
      events = events .. event.kind .. ' ' .. who .. value .. '; '
    end)
    """

  private func events(of sandbox: LuaSandbox) -> String {
    defer { sandbox["events"] = "" }
    return sandbox["events"].text
  }

  @Test func `a sink receives writes of its own code and events of its own watchers`() throws {
    let document = Paper()
    test.host["document"] = try test.host.value(for: document)
    try test.host.run(Self.sink)
    for (name, sandbox) in [("a", a), ("b", b)] {
      try sandbox.run(Self.sink)
      try sandbox.run("obs.observe(document, 'title', function() end, { name = '\(name)' })")
    }
    #expect(events(of: a) == "observe a; ")
    #expect(events(of: b) == "observe b; ")
    #expect(test.host["events"].text == "observe a; observe b; ")
    test.host["events"] = ""
    try a.run("document.title = 'of a'")
    #expect(events(of: a) == "write title of a; call a; ")
    #expect(events(of: b) == "call b; ")
    try b.run("document.title = 'of b'")
    #expect(events(of: a) == "call a; ")
    #expect(events(of: b) == "write title of b; call b; ")
    test.host["events"] = ""
    document.title = "of Swift"
    test.host.step()
    #expect(events(of: a) == "call a; " && events(of: b) == "call b; ")
    #expect(test.host["events"].text == "write title of Swift; call a; call b; ")
    #expect(test.reports.isEmpty)
  }

  @Test func `writes of callbacks, timers, tasks and hooks belong to their sandbox`() throws {
    test.host["t"] = try test.host.run("return { v = 0, at = 0, by = 0, done = 0, getter = 0 }")[0]
    try a.run(Self.sink)
    try b.run("obs = require 'obs' obs.observe(t, '*', function() end)")
    try a.run(
      """
      obs.observe(t, 'v', function(t) t.at = t.v end, { immediate = true })
      obs.after(1, function() t.by = 1 end)
      obs.task(function() obs.sleep(1) t.done = 1 end)
      """)
    _ = events(of: a)
    try b.run("t.v = 5")
    #expect(events(of: a).contains("write at 5; ") && !events(of: a).contains("write v"))
    test.loop.advance(by: 2)
    test.host.step()
    let text = events(of: a)
    #expect(text.contains("write by 1; ") && text.contains("write done 1; "))
  }

  @Test func `writes of a Swift watcher belong to the host, whoever triggered it`() throws {
    let (document, secret) = (Paper(), Paper())
    test.host["document"] = try test.host.value(for: document)
    try a.run(Self.sink)
    let watchers = [
      try secret.observe("title", in: test.loop) { _ in },
      try document.observe("title", in: test.loop) { document in secret.title = document.title },
      try document.observeImmediately("title", in: test.loop) { _, _ in secret.title = "at once" },
    ]
    try test.host.run(Self.sink)
    try a.run("document.title = 'x' obs.flush() document.title = 'y'")
    #expect(events(of: a) == "write title x; write title y; ")
    let seen = test.host["events"].text
    #expect(seen.contains("write title at once; ") && seen.hasSuffix("write title y; "))
    for watcher in watchers { watcher.stop() }
  }

  @Test func `computations belong to the sandbox that has declared the property`() throws {
    test.host["t"] = try test.host.run("return { v = 1 }")[0]
    try a.run(Self.sink)
    try b.run(Self.sink)
    try a.run("obs.computed(t, 'secret', { 'v' }, function(t) return t.v * 10 end)")
    try b.run("assert(t.secret == 10) t.v = 2 assert(t.secret == 20)")
    #expect(events(of: a) == "compute secret 10; invalidate secret; compute secret 20; ")
    #expect(events(of: b) == "write v 2; ")
  }

  @Test func `the end of a watcher is an event of its sandbox, whoever ends it`() throws {
    test.host["t"] = try test.host.run("return { v = 1 }")[0]
    try a.run(Self.sink)
    try b.run(Self.sink)
    try a.run("obs.observe(t, 'v', function() end, { name = 'w' })")
    _ = events(of: a)
    try test.host.run("obs.stop(t)")
    #expect(events(of: a) == "end w; " && events(of: b).isEmpty)
  }

  @Test func `switching off a sink ends no other one`() throws {
    test.host["t"] = try test.host.run("return { v = 1 }")[0]
    for sandbox in [a, b] {
      try sandbox.run(Self.sink)
      try sandbox.run("obs.observe(t, 'v', function() end, { name = 'w' })")
      _ = events(of: sandbox)
    }
    try a.run("obs.log(nil) t.v = 2")
    #expect(events(of: a).isEmpty && events(of: b) == "call w; ")
    try b.run("obs.log(nil) t.v = 3")
    #expect(events(of: b).isEmpty)
  }

  @Test func `a closed sandbox has no sink, and the others keep theirs`() throws {
    try test.host.run(Self.sink + " t = { v = 1 }")
    for sandbox in [a, b] {
      try sandbox.run(Self.sink)
      try sandbox.run("obs.observe(t, 'v', function() end, { name = 'w' })")
      _ = events(of: sandbox)
    }
    try test.host.run("gone = setmetatable({}, { __mode = 'k' })")
    try a.run("local sink = function() end obs.log(sink) gone[sink] = true")
    test.host["events"] = ""
    a.close()
    try b.run("t.v = 2")
    #expect(events(of: b) == "write v 2; call w; ")
    #expect(test.host["events"].text == "end w; write v 2; call w; ")
    for _ in 1...2 { try test.host.state.collectGarbage() }
    #expect(try test.host.run("return next(gone) == nil") == [true])
  }

  @Test func `the sink of a paused sandbox is not called`() throws {
    try test.host.run("t = { v = 1 }")
    try a.run(Self.sink)
    try a.run("obs.observe(t, 'v', function() end, { immediate = true, name = 'w' })")
    _ = events(of: a)
    a.pause()
    try b.run("t.v = 2")
    try test.host.run("obs.stop(t)")
    #expect(events(of: a).isEmpty)
    a.resume()
    test.host.step()
    try a.run("obs.observe(t, 'v', function() end, { name = 'x' })")
    #expect(events(of: a).hasSuffix("observe x; "))
  }

  @Test func `a sink may close its own sandbox`() throws {
    try a.run("obs = require 'obs'")
    try a.set("close") { [a] in a.close() }
    let error = #expect(throws: LuaError.self) {
      try a.run(
        """
        t = { v = 1 }
        obs.log(function() close() end)
        obs.observe(t, 'v', function() end)
        """)
    }
    #expect(a.isClosed && error?.code == .closed)
    try b.run(Self.sink + " t = { v = 1 } obs.observe(t, 'v', function() end, { name = 'w' })")
    #expect(events(of: b) == "observe w; " && test.reports.isEmpty)
  }

  @Test(.disabled(if: ContainedHost.delaysSignals))
  func `an endless sink is stopped at the expense of its sandbox`() throws {
    var stopped: [LuaError.Code] = []
    a.onError = { stopped.append($0.error.code) }
    test.host["t"] = try test.host.run("return { v = 1 }")[0]
    try a.run(
      """
      obs = require 'obs'
      obs.observe(t, 'v', function() end)
      obs.log(function() while true do pcall(error) end end)
      """)
    try b.run(Self.sink + " obs.observe(t, 'v', function() end, { name = 'w' })")
    _ = events(of: b)
    try b.run("t.v = 2 after = true")
    #expect(events(of: b) == "write v 2; call w; " && b["after"] == true)
    #expect(stopped == [.timeLimit] && test.reports.isEmpty)
  }

  @Test func `an error in a sink goes to its sandbox, and other sinks receive the event`() throws {
    var seen: [String] = []
    b.onError = { seen.append($0.error.message) }
    try test.host.run(Self.sink)
    test.host["t"] = try test.host.run("return { v = 1 }")[0]
    try a.run(
      """
      obs = require 'obs'
      obs.on_error(function(message, info) caught = message .. ' ' .. info.name end)
      obs.log(function(event) error(event.kind, 0) end)
      """)
    try b.run("obs = require 'obs' obs.log(function() local x = nil .. '' end)")
    for sandbox in [a, b] { try sandbox.run("obs.observe(t, 'v', function() end)") }
    #expect(a["caught"] == "observe log" && seen.count == 1)
    #expect(test.host["events"].text.split(separator: "; ").count == 2)
  }

  @Test func `sinks that write cause no events for themselves, and no endless ones`() throws {
    try test.host.run("t = { a = 0, b = 0, v = 0 } obs.observe(t, '*', function() end)")
    let script = """
      obs = require 'obs'
      count = 0
      obs.log(function() count = count + 1 t.NAME = t.NAME + 1 end)
      obs.observe(t, 'OTHER', function() end, { immediate = true })
      """
    for (sandbox, name, other) in [(a, "a", "b"), (b, "b", "a")] {
      try sandbox.run(script.replacing("NAME", with: name).replacing("OTHER", with: other))
    }
    for sandbox in [a, b] { sandbox["count"] = 0 }
    try test.host.run("t.v = 1")
    #expect(a["count"] == 0 && b["count"] == 0)
    // The sink of `a` makes one write, which causes one event in `b`, and no more.
    try a.run("t.v = 2")
    #expect(a["count"] == 1 && b["count"] == 1)
    #expect(test.reports.isEmpty)
  }

  @Test func `a record of one sandbox reveals nothing to another one`() throws {
    test.host["t"] = try test.host.run("return { v = 1 }")[0]
    for sandbox in [a, b] {
      try sandbox.run("obs = require 'obs' w = obs.observe(t, 'v', function() end)")
    }
    let why = "local writes, text = obs.why(w) return #writes, writes[1] and writes[1].new, text"
    try a.run("obs.record(true)")
    try b.run("t.v = 2 t.v = 3")
    var answer = try a.run(why)
    #expect(answer[0] == 2 && answer[1] == 2)
    answer = try b.run(why)
    #expect(answer[0] == 1 && answer[1] == .nil && answer[2].text.contains("recording is off"))
    #expect(try b.run("return select(2, obs.whynot(w))")[0].text.contains("recording is off"))
    test.host["w"] = a["w"]
    // A sandbox learns nothing about a watcher of another one, even while it records.
    try b.run("obs.record(true) mine, w = w, nil t.v = 4")
    #expect(throws: LuaError.self) { try b.run("local w = w " + why) }
    #expect(try b.run("w = mine " + why)[1] == 4)
    try a.run("obs.record(false)")
    #expect(try a.run(why)[2].text.contains("recording is off"))
    try a.run("obs.record(true)")
    #expect(try a.run(why)[0] == 0)
    b.close()
    try a.run("t.v = 5")
    #expect(try a.run(why)[1] == 5)
  }

  @Test func `sandboxes may query the host's record about their own watchers`() throws {
    test.host["t"] = try test.host.run("return { v = 1 }")[0]
    try a.run("obs = require 'obs' w = obs.observe(t, 'v', function() end)")
    test.host.record(true)
    try b.run("t.v = 2")
    #expect(try a.run("return #obs.why(w), obs.why(w)[1].new") == [1, 2])
    try a.run("obs.record(true) obs.record(false) t.v = 3")
    #expect(try a.run("return obs.why(w)[1].new") == [3])
    test.host.record(false)
    #expect(try a.run("return select(2, obs.why(w))")[0].text.contains("recording is off"))
  }

  @Test func `events and records take memory of the host, and free it`() throws {
    let test = try ContainedHost {
      $0.memory = 8 << 20
      $0.turnTime = .seconds(20)
    }
    let a = try test.host.sandbox(named: "a")
    try a.run(
      """
      obs = require 'obs'
      t, count = { v = 0 }, 0
      w = obs.observe(t, 'v', function() end)
      obs.log(function() count = count + 1 end)
      obs.record(true)
      """)
    let before = test.host.state.memoryInUse
    _ = try? a.run("for i = 1, 200000 do t.v = i end")
    #expect(test.codes.contains(.memory))
    guard case .integer(let count) = a["count"] else { throw LuaError("no number") }
    #expect(count > 1000 && count < 200_000)
    try a.run("obs.record(false) obs.log(nil)")
    for _ in 1...2 { try test.host.state.collectGarbage() }
    #expect(test.host.state.memoryInUse < before + 200_000)
  }
}
