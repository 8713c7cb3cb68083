import Lua
import LuaObservables
import Observables
import Testing

private final class Holder: ScriptModel {
  static let properties = ModelProperties(for: Holder.self) {
    Property("child", get: { $0.child }, set: { $0.child = $1 })
    Property("table", get: { $0.table }, set: { $0.table = $1 })
    Property("value", get: { $0.value }, set: { $0.value = $1 })
    Property("risky", lazy: { $0.$risky }, from: ["value"]) { _ in throw Failure() }
  }
  static let methods = ModelMethods(for: Holder.self) {
    Method("fail") { (_) in throw Failure() }
    Method("run") { (holder, function: LuaFunction) in try function.call() }
  }
  struct Failure: Error, Equatable {}

  let observation = ModelObservation()
  weak var parent: Holder?
  var onChange: (() -> Void)?
  private let onEnd: () -> Void
  @Lazy var risky: Int = 0
  var child: Holder? { didSet { observation.didSet(0, from: oldValue, to: child) } }
  var table: LuaTable? { didSet { observation.didSet(1, from: oldValue, to: table) } }
  var value = 0 {
    didSet {
      onChange?()
      observation.didSet(2, from: oldValue, to: value)
    }
  }

  init(onEnd: @escaping () -> Void = {}) { self.onEnd = onEnd }
  deinit { onEnd() }
}

/// B3, B4: objects used in the wrong place or at the wrong time.
struct MisuseTests {
  private let test: TestHost
  private let holder = Holder()

  init() throws {
    test = try TestHost()
    test.host["holder"] = holder
    try test.host.run("obs, log = require 'obs', {}")
  }

  // MARK: Swift errors passing through Lua

  @Test(arguments: [
    "holder:fail()",
    "local ok, err = pcall(holder.fail, holder) error(err, 0)",
    "local ok, err = pcall(holder.fail, holder) error(err)",
    "local ok, err = xpcall(holder.fail, function(err) return err end, holder) error(err)",
    "coroutine.wrap(function() holder:fail() end)()",
    """
    local ok, err = coroutine.resume(coroutine.create(function() holder:fail() end)) \
    error(err, 0)
    """,
    "holder:run(function() holder:fail() end)",
    """
    local guard <close> = setmetatable({}, {__close = function(_, err) error(err, 0) end}) \
    holder:fail()
    """,
    "local t = setmetatable({}, {__index = function() holder:fail() end}) return t.x",
    "obs.batch(function() holder:fail() end)",
    "obs.scope(function() holder:fail() end)",
    "local t = {} obs.computed(t, 'x', function() holder:fail() end) return t.x",
    "table.sort({2, 1}, function() holder:fail() end)",
    "local t = obs.task(function() holder:fail() end) t:await()",
    "return holder.risky",
    "local t = {} obs.computed(t, 'x', {}, function() return holder.risky end) return t.x",
    "return obs.get(holder, 'risky')",
  ])
  func `an error of a method or getter returns to Swift as it was thrown`(script: String) throws {
    let error = #expect(throws: LuaError.self) { try test.host.run(script) }
    #expect(error?.underlying as? Holder.Failure == Holder.Failure(), "\(script): \(error!)")
  }

  // T10
  @Test(arguments: [
    ("obs.observe(holder, 'value', function() holder:fail() end)", LuaReport.Kind.watcher),
    ("obs.observe(holder, 'value', function() holder:fail() end, {immediate = true})", .immediate),
    ("obs.next_turn(function() holder:fail() end)", .timer),
    ("obs.after(0, function() holder:run(function() holder:fail() end) end)", .timer),
    ("obs.task(function() obs.sleep(0) holder:fail() end)", .task),
    (
      """
      obs.task(function() local t = obs.task(function() obs.sleep(1) holder:fail() end) \
      t:await() end)
      """,
      .task
    ),
    (
      "obs.on_observed(holder, function() holder:fail() end) obs.observe(holder, 'child', print)",
      .hook
    ),
    (
      "obs.observe(holder, 'value', function() holder:run(function() holder:fail() end) end)",
      .watcher
    ),
  ])
  func `a report has the error, too, and the other watchers run`(
    script: String, kind: LuaReport.Kind
  ) throws {
    try test.host.run(script)
    try test.host.run("obs.observe(holder, 'value', function() log[#log + 1] = 'called' end)")
    test.loop.turn { holder.value += 1 }
    test.loop.run()
    #expect(test.reports.first?.kind == kind)
    #expect(test.reports.first?.error.underlying as? Holder.Failure == Holder.Failure())
    #expect(try test.log() == ["called"])
  }

  // MARK: After the end

  @Test func `objects kept from a closed host say that it is closed`() throws {
    let values = try test.host.run("return {x = 1}, print, holder, coroutine.create(print), log")
    guard case .table(let table) = values[0], case .function(let function) = values[1],
      case .userdata(let userdata) = values[2]
    else { return }
    holder.table = table
    test.host.close()
    var codes: [LuaError.Code] = []
    func note(_ body: () throws(LuaError) -> Void) {
      do { try body() } catch { codes.append(error.code) }
    }
    note { () throws(LuaError) in _ = try table["x"] }
    note { () throws(LuaError) in try table.set("x", to: 1) }
    note { () throws(LuaError) in _ = try table.length }
    note { () throws(LuaError) in try function.call() }
    note { () throws(LuaError) in _ = try userdata.metatable }
    note { () throws(LuaError) in try test.host.run("return 1") }
    note { () throws(LuaError) in try test.host.set("x", to: holder) }
    note { () throws(LuaError) in try test.host.set("x") { () in } }
    note { () throws(LuaError) in _ = try test.host.value(for: holder) }
    note { () throws(LuaError) in _ = try test.host.value(of: table, at: "x") }
    note { () throws(LuaError) in _ = try test.host.state.encode([holder.value: "x"]) }
    #expect(codes.count == 11 && Set(codes) == [.closed])
    #expect(throws: LuaError.self) { try test.host.observe(table, "x") { _ in } }
    #expect(test.host.object(values[2], as: Holder.self) == nil)
    #expect(test.host.step() == false)
  }

  @Test func `a model outlives its host, with the watchers of others`() throws {
    try test.host.run("obs.observe(holder, 'value', function() log[1] = 'called' end)")
    let other = try TestHost { _ in try LuaHost(loop: test.loop) }
    other.host["holder"] = holder
    try other.host.run(
      "log = {} require('obs').observe(holder, 'value', function(h) log[#log + 1] = h.value end)")
    var calls = 0
    try holder.observe("value", in: test.loop) { _ in calls += 1 }
    test.host.close()
    test.loop.turn { holder.value = 1 }
    try other.host.run("holder.value = holder.value + 1")
    #expect(calls == 2 && holder.value == 2)
    #expect(try other.log() == ["1", "2"])
  }

  // MARK: Another state

  @Test func `a value of another state is rejected with a sentence`() throws {
    let other = try TestHost { _ in try LuaHost(loop: test.loop) }
    let values = try other.host.run("return {theme = 'dark'}, print")
    guard case .table(let table) = values[0], case .function(let function) = values[1] else {
      return
    }
    let own = try test.host.state.makeTable()
    let sentence = "the value belongs to another Lua state"
    var messages: [String] = []
    func note(_ body: () throws -> Void) {
      do { try body() } catch { messages.append((error as? LuaError)?.message ?? "\(error)") }
    }
    note { try test.host.set("x", to: table) }
    note { try own.set("x", to: function) }
    note { try own.set(table, to: 1) }
    note { try own.setMetatable(table) }
    note { try test.host.state.function("f") { (_: LuaValue) in }.call(table) }
    note { try test.host.observe(table, "theme") { _ in } }
    note { _ = try test.host.value(of: table, at: "theme") }
    #expect(messages == Array(repeating: sentence, count: 7))
    // From a script: a property, and the result of a function.
    holder.table = table
    try test.host.set("give") { () in function }
    for script in ["return holder.table", "return give()", "for _, v in pairs(holder) do end"] {
      let error = #expect(throws: LuaError.self) { try test.host.run(script) }
      #expect(error?.message.contains(sentence) == true, "\(script)")
    }
    // In its own host the table is still valid.
    other.host["holder"] = holder
    #expect(try other.host.run("return holder.table.theme") == ["dark"])
  }

  @Test func `a path continues into a table of another state on the loop`() throws {
    let other = try TestHost { _ in try LuaHost(loop: test.loop) }
    guard case .table(let table) = try other.host.run("t = {theme = 'dark'} return t")[0] else {
      return
    }
    holder.table = table
    try test.host.run(
      "obs.observe(holder, 'table.theme', function() log[#log + 1] = obs.get(holder, 'value') end)")
    try other.host.run("t.theme = 'light'")
    #expect(try test.log() == ["0"])
    other.host.close()
    test.loop.turn { holder.table = nil }
    #expect(try test.log() == ["0", "0"])
  }

  // MARK: The wrong thread

  @Test func `use on another thread is an error`() throws {
    nonisolated(unsafe) let (test, holder) = (test, holder)
    guard case .table(let table) = try test.host.run("return {}")[0] else { return }
    let codes = onOtherThread {
      var codes: [LuaError.Code] = []
      func note(_ body: () throws(LuaError) -> Void) {
        do { try body() } catch { codes.append(error.code) }
      }
      note { () throws(LuaError) in try test.host.run("return 1") }
      note { () throws(LuaError) in try test.host.set("x", to: 1) }
      note { () throws(LuaError) in try test.host.set("x", to: holder) }
      note { () throws(LuaError) in _ = try table["x"] }
      note { () throws(LuaError) in try table.set("x", to: 1) }
      note { () throws(LuaError) in _ = try test.host.state.run("return 1") }
      return codes
    }
    #expect(codes.count == 6 && Set(codes) == [.thread])
  }

  // MARK: Ends inside a write

  @Test func `a model may be freed in its own setter`() throws {
    var log: [String] = []
    var child: Holder? = Holder { log.append("gone") }
    holder.child = child
    child!.onChange = { [unowned holder] in holder.child = nil }
    try test.host.run("child = holder.child")
    child = nil
    try test.host.run(
      """
      obs.observe(holder, 'child.value', function(h) log[#log + 1] = tostring(h.child) end)
      obs.observe(child, 'value', function(c) log[#log + 1] = c.value end)
      local own = child
      child = nil
      own.value = 3
      """)
    #expect(try test.log() == ["nil", "3"])
    try test.collect()
    #expect(log == ["gone"])
  }

  @Test func `Swift may drop the last reference in a setter, watched or not`() throws {
    for isWatched in [false, true] {
      var ends = 0
      var child: Holder? = Holder { ends += 1 }
      child!.onChange = { child = nil }
      if isWatched { try child!.observe("value", in: test.loop) { _ in } }
      test.loop.turn { child!.value = 1 }
      #expect(ends == 1)
    }
  }

  @Test func `nil for a property may free the object whose setter runs`() throws {
    var ends = 0
    do {
      let child = Holder { ends += 1 }
      child.parent = holder
      child.child = Holder { ends += 1 }
      holder.child = child
    }
    // The write of the script removes the written object, which only the script's reference keeps
    // alive.
    try test.host.run(
      """
      obs.observe(holder, "child.child", function(h) log[#log + 1] = tostring(h.child) end)
      local child = holder.child
      obs.observe(child, "child", function() holder.child = nil collectgarbage() end,
        {immediate = true})
      child.child = nil
      child = nil
      """)
    #expect(try test.log() == ["nil"])
    try test.collect()
    #expect(ends == 2)
  }
}

/// B4: a separate suite, whose tests hold no host.
///
/// After waiting for a process, a test can resume on another thread, where hosts must not close.
struct ThreadMisuseTests {
  @Test func `misuse of a non-throwing function ends the program with a sentence`() async {
    await #expect(processExitsWith: .failure) {
      nonisolated(unsafe) let host = try LuaHost(loop: Loop(clock: .virtual))
      onOtherThread { host.close() }
    }
  }
}
