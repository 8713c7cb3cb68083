import Lua
import LuaObservables
import Observables
import Testing

/// Swift watchers of tables of scripts: one or several paths, with and without an observer,
/// immediate or not, and all options.
struct TableWatcherTests {
  private final class View {}

  private let test: TestHost

  init() throws {
    test = try TestHost()
    try test.host.run("t = { x = 1, y = { z = 1 } }")
  }

  private var table: LuaTable { get throws { try test.host.state.globals.get("t") } }

  // T1
  @Test func `one watcher of several paths is called once per turn`() throws {
    var log: [LuaValue] = []
    try test.host.observe(table, "x", "y.z") { log.append((try? $0["x"]) ?? .nil) }
    try test.host.run("t.x = 2 t.y.z = 2")
    try test.host.run("t.y.z = 3")
    #expect(log == [2, 2])
  }

  // L3
  @Test func `each call has the observer, whose end ends the watcher`() throws {
    var view: View? = View()
    var log: [String] = []
    let (options, identity) = (WatcherOptions(observer: view!), ObjectIdentifier(view!))
    let one = try test.host.observe(table, "x", options: options) { [unowned view] _ in
      log.append("one \(view.map(ObjectIdentifier.init) == identity)")
    }
    try test.host.observe(table, "x", "y.z", options: options) { _ in log.append("several") }
    try test.host.observeImmediately(table, "x", options: options) { _, change in
      log.append("now \(change.key.text)")
    }
    try test.host.observeImmediately(table, "x", "y.z", options: options) { _, change in
      log.append("at once \(change.path)")
    }
    try test.host.run("t.y.z = 2 t.x = 2")
    #expect(log == ["at once y.z", "now x", "at once x", "one true", "several"])
    view = nil
    try test.host.run("t.y.z, t.x = 3, 3")
    #expect(log.count == 5 && !one.isActive)
  }

  // T9
  @Test func `an immediate watcher receives path, key and values`() throws {
    var log: [String] = []
    func note(_ change: TableChange) {
      log.append("\(change.path): \(change.key.text) \(change.old.text) \(change.new.text)")
    }
    try test.host.observeImmediately(table, "x", "y.z") { _, change in note(change) }
    try test.host.observeImmediately(
      table, "x", options: WatcherOptions(initial: true)
    ) { _, change in note(change) }
    try test.host.run("t.x = 'a' t.y = { z = 7 } t.x = nil")
    #expect(
      log == [
        "x: x 1 a", "x: x 1 a", "y.z: y table table", "x: x a nil", "x: x a nil", "x: nil nil nil",
      ])
  }

  // T1, T7
  @Test func `it is paused, run and scheduled, and takes more paths, like one of a model`() throws {
    var log: [LuaValue] = []
    let watcher: Watcher = try test.host.observe(table, "x") { log.append((try? $0["x"]) ?? .nil) }
    watcher.pause()
    try test.host.run("t.x = 2")
    try test.host.run("t.x = 3")
    #expect(log == [])
    watcher.resume()
    try test.host.run("local _")
    #expect(log == [3])
    try watcher.observe("y.z")
    try test.host.run("t.y.z = 2")
    #expect(log == [3, 3])
    watcher.run()
    watcher.schedule()
    try test.host.run("local _")
    #expect(log == [3, 3, 3, 3])
    #expect(watcher.stop() == 2)
    watcher.run()
    try test.host.run("t.x = 4")
    #expect(log.count == 4 && watcher.stop() == 0)
  }

  // T9
  @Test func `a paused immediate watcher receives the first change when resumed`() throws {
    var log: [String] = []
    let watcher = try test.host.observeImmediately(table, "x") { _, change in
      log.append("\(change.old.text) \(change.new.text)")
    }
    watcher.pause()
    try test.host.run("t.x = 2 t.x = 3")
    #expect(log == [])
    watcher.resume()
    #expect(log == ["1 2"])
  }

  @Test func `names, initial calls, once and comparisons work as for other watchers`() throws {
    var log: [String] = []
    let watcher = try test.host.observe(
      table, "x", options: WatcherOptions(name: "small", initial: true)
    ) { _ in log.append("initial") }
    try test.host.observe(
      table, "x",
      options: WatcherOptions(once: true, equals: { ($0 as? LuaValue) == 1 && $1 == nil })
    ) { _ in log.append("once") }
    #expect(watcher.name == "small")
    try test.host.run("local _")
    try test.host.run("t.x = nil")
    try test.host.run("t.x = 2")
    try test.host.run("t.x = 3")
    #expect(log == ["initial", "initial", "initial", "once", "initial"])
    let description = try test.host.run("return require 'obs'.describe(t)")
    #expect(description[0].text.contains("small on 'x' (Swift)"))
  }

  // T10, S5
  @Test func `an error goes to the handler of the sandbox that registered the watcher`() throws {
    struct Refused: Error {}
    let test = try ContainedHost()
    let (a, b) = try test.sandboxes(running: "t = { n = 1 }")
    var log: [String] = []
    a.onError = { log.append("a: \($0.error.message)") }
    for sandbox in [a, b] {
      let table = try #require(sandbox["t"] as LuaTable?)
      try sandbox.observe(table, "n") { _ in throw Refused() }
      try sandbox.observeImmediately(table, "n") { _, _ in throw Refused() }
      try sandbox.run("t.n = 2")
    }
    #expect(log == ["a: Refused()", "a: Refused()"])
    #expect(test.reports.map(\.error.message) == ["Refused()", "Refused()"])
    a["f"] = b["t"] as LuaTable?
    a.close()
    a["x"] = 1
    #expect(test.reports.last?.error.code == .closed)
  }

  // L3
  @Test func `it reports the end of its table`() throws {
    var ends: [String] = []
    try test.host.observe(
      table, "x", "y.z", options: WatcherOptions(onEnd: { ends.append("\($0)") })
    ) { _ in }
    try test.host.run("t = nil")
    try test.collect()
    #expect(ends == ["x"])
  }

  @Test func `edits begin with the whole content, on request`() throws {
    var told: [String] = []
    try test.host.run("list, map = { 'a', 'b' }, { k = 1 }")
    let options = WatcherOptions(initial: true)
    try test.host.observeEdits(test.host.state.globals.get("list"), options: options) { _, edits in
      told.append("\(edits.count)")
    }
    try test.host.observeKeyedEdits(test.host.state.globals.get("map"), options: options) {
      told.append("\($1.map { "\($0.key.text) \($0.old == nil)" })")
    }
    try test.host.run("local _")
    try test.host.run("table.insert(list, 'c') map.k = 2")
    #expect(told == ["2", "[\"k true\"]", "1", "[\"k false\"]"])
  }

  // P9
  @Test func `a wrong path leaves no watcher`() throws {
    let error = #expect(throws: PathError.self) {
      try test.host.observe(table, "x", "__index") { _ in }
    }
    #expect(error?.code == .unsupported)
    #expect(test.loop.statistics.watchers == 0)
  }
}
