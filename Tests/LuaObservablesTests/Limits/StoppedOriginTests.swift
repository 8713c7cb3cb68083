import Lua
import LuaObservables
import Observables
import Testing

/// X2, X3: a limit that stops an apply with an origin, and sandboxes that apply changes to one
/// tree.
@Suite struct StoppedOriginTests {
  /// A host with a tree, a watcher that skips the origin "x", and changes made by that origin.
  private static func host(_ change: (inout ScriptLimits) -> Void) throws -> ContainedHost {
    let test = try ContainedHost(change)
    try test.host.run(
      """
      obs = require 'obs'
      t = { a = 1, list = {}, o = { n = 1 }, tags = obs.set_of {} }
      for i = 1, 200 do t.list[i] = { i = i } end
      delivered = 0
      watcher = obs.changes(t, function(_, changes) delivered = delivered + #changes end,
        { skip = 'x' })
      changes = {
        { path = { 'a' }, kind = 'set', old = 1, new = 2 },
        { path = { 'o' }, kind = 'set', old = { n = 1 }, new = { n = 2, deep = { { 1 } } } },
        { path = { 'list', 1 }, kind = 'insert', new = { i = 0 } },
        { path = { 'list', 150 }, kind = 'remove', old = { i = 149 } },
        { path = { 'tags' }, kind = 'insert', new = 'm' },
        { path = { 'p' }, kind = 'set', new = { q = {} } },
        { path = { 'p', 'q', 'o' }, kind = 'set', ref = { after = { 'o' } } },
      }
      function check()
        local made = t.a == 2
        local snapshot, raw = watcher:snapshot(), obs.raw(t)
        raw.tags = made and { 'm' } or {}
        assert(#obs.diff(raw, snapshot) == 0, 'the snapshot is not what is there')
        assert((t.p ~= nil) == made and t.tags:contains('m') == made and t.o.n == (made and 2 or 1))
        assert(#t.list == 200 and t.list[1].i == (made and 0 or 1))
        return made
      end
      """)
    return test
  }

  @Test func `an apply that runs out of memory applies all or nothing`() throws {
    var outcomes: Set<Bool> = []
    for room in stride(from: 0, to: 400, by: 5) {
      let test = try Self.host {
        $0.turnTime = nil
        $0.memory = 4 << 20
      }
      // Functions, because compiling takes memory, too. A growing table would fail early, and leave
      // as much room as it has.
      let fill = try test.host.run(
        """
        kept = {}
        local function fill(text)
          pcall(function()
            local n = 0
            while true do
              n = n + 1
              kept = { kept, text and text:rep(256) .. n }
            end
          end)
        end
        return function()
          fill 'x'
          fill()
          -- For the next call.
          for _ = 1, 20 do kept = kept[1] end
        end
        """, as: LuaFunction.self)
      let apply = try test.host.run(
        """
        return function(room)
          for _ = 1, room do kept = kept[1] end
          pcall(obs.apply, t, changes, { origin = 'x' })
          kept = nil
        end
        """, as: LuaFunction.self)
      // The collector may find more garbage after the first time.
      for _ in 1...2 {
        try fill.call()
        try test.host.state.collectGarbage()
      }
      try apply.call(room)
      try test.host.state.collectGarbage()
      try test.host.run("made = check()")
      outcomes.insert(test.host["made"] == true)
      test.loop.advance(by: 1)
      #expect(test.host["delivered"] == 0, "room \(room)")
      try test.host.run("made = check() t.o.n, t.list[100].i = 7, 7")
      #expect(test.host["delivered"] == 2, "room \(room)")
    }
    #expect(outcomes == [false, true])
  }

  @Test func `an apply that is stopped between its writes is undone`() throws {
    let test = try Self.host { $0.turnTime = .seconds(100) }
    let stopping = Stopping { [unowned host = test.host] in host.interrupt() }
    try test.host.set("stopping", to: stopping)
    _ = try test.host.run(
      "t.stopping = stopping table.insert(changes, 4, "
        + "{ path = { 'stopping', 'n' }, kind = 'set', old = 0, new = 1 })")
    test.loop.advance(by: 1)
    try test.host.run("delivered = 0")
    #expect(test.failure("obs.apply(t, changes, { origin = 'x' })") != nil)
    test.loop.advance(by: 1)
    try test.host.run(
      "assert(t.a == 1 and #t.list == 200 and t.p == nil and watcher:snapshot().a == 1)")
    #expect(test.host["delivered"] == 0)
    try test.host.run("t.a = 3")
    #expect(test.host["delivered"] == 1)
  }

  // X2
  @Test func `origins of one sandbox have no effect in another one`() throws {
    let test = try ContainedHost()
    try test.host.run("t = { n = 1 }")
    let (a, b) = try test.sandboxes(
      running: """
        obs = require 'obs'
        log = {}
        obs.changes(t, function(_, changes, _, delivery)
          log[#log + 1] = changes[1].new .. table.concat(delivery.origins)
        end, { skip = 'x' })
        function apply(old, origin)
          obs.apply(t, { { path = { 'n' }, kind = 'set', old = old, new = old + 1 } },
            { origin = origin })
        end
        function taken()
          local text = table.concat(log, ' ')
          log = {}
          return text
        end
        """)
    try b.run("apply(1, 'x')")
    #expect(try a.run("return taken()")[0] == "2")
    #expect(try b.run("return taken()")[0] == "")
    try b.run("apply(2, 'y')")
    #expect(try a.run("return taken()")[0] == "3")
    #expect(try b.run("return taken()")[0] == "3y")
    try test.host.run(
      """
      require 'obs'.apply(t, { { path = { 'n' }, kind = 'set', old = 3, new = 4 } },
        { origin = 'x' })
      """)
    for sandbox in [a, b] { #expect(try sandbox.run("return taken()")[0] == "") }
  }

  // S8
  @Test func `a transaction of a sandbox undoes no applies of others`() throws {
    let test = try ContainedHost()
    try test.host.run("t = { x = 1, mine = 1, n = 1 }")
    let (a, b) = try test.sandboxes(running: "obs = require 'obs'")
    try test.host.run(
      """
      obs, log = require 'obs', {}
      watcher = obs.changes(t, function(_, changes)
        for _, change in ipairs(changes) do log[#log + 1] = table.concat(change.path, '.') end
      end, { skip = 'x' })
      obs.observe(t, 'n', function() log[#log + 1] = 'plain' end)
      """)
    try b.run(
      """
      obs.observe(t, 'x', function()
        obs.apply(t, { { path = { 'n' }, kind = 'set', old = 1, new = 2 } }, { origin = 'x' })
      end, { immediate = true, once = true })
      """)
    try a.run(
      """
      obs.transaction({ t }, function()
        obs.apply(t, { { path = { 'mine' }, kind = 'set', old = 1, new = 2 } }, { origin = 'x' })
        t.x = 2
        error 'no'
      end)
      """)
    test.loop.advance(by: 1)
    try test.host.run("assert(t.n == 2 and t.x == 1 and t.mine == 1)")
    try test.host.run("result = table.concat(log, ' ') .. watcher:snapshot().n")
    #expect(test.host["result"] == "plain n2")
  }
}

/// A model whose setter stops the script.
private final class Stopping: ObservableModel {
  static let properties = ModelProperties(for: Stopping.self) {
    Property("n", get: { $0.n }, set: { $0.n = $1 })
  }
  let observation = ModelObservation()
  private let stop: () -> Void
  var n = 0 {
    didSet {
      observation.didSet(0, from: oldValue, to: n)
      if n == 1 { stop() }
    }
  }

  init(_ stop: @escaping () -> Void) { self.stop = stop }
}
