import Lua
import LuaObservables
import Observables
import TestSupport
import Testing

/// X2: a tree of Swift objects and tables has one list of changes, for Swift and for scripts.
@Suite struct `Changes of one tree on both sides` {
  private let loop = Loop(clock: .virtual)
  private let root = Crate("root")

  @Test(arguments: Size.seeds(150, light: 150))
  func `are the same list`(seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    let host = try LuaHost(loop: loop)
    host.onError = { Issue.record("\($0)") }
    try host.set("root", to: root)
    try host.run(Self.script)
    var list: [DeepChange] = []
    try root.changes(in: loop) { list = $1 }
    var crates = [root]
    // Crates hold each other in cycles.
    defer { for crate in crates { crate.clear() } }
    func write() {
      let (one, other) = (
        crates.randomElement(using: &random)!, crates.randomElement(using: &random)!
      )
      let count = one.crates.count
      switch Int.random(in: 0..<24, using: &random) {
      case 0: one.name = ["a", "b", "c"].randomElement(using: &random)!
      case 1: one.first = Bool.random(using: &random) ? other : nil
      case 2: one.second = Bool.random(using: &random) ? other : nil
      case 3: (one.first, one.second) = (one.second, one.first)
      case 4:
        crates.append(Crate("new"))
        one.crates.insert(crates.last!, at: Int.random(in: 0...count, using: &random))
      case 5: one.crates.insert(other, at: Int.random(in: 0...count, using: &random))
      case 6 where count > 0: one.crates.remove(at: Int.random(in: 0..<count, using: &random))
      case 7 where count > 0: one.crates[Int.random(in: 0..<count, using: &random)] = other
      case 8 where count > 1:
        one.crates.move(from: 0, to: Int.random(in: 0..<count, using: &random))
      case 9: one.byName[["x", "y"].randomElement(using: &random)!] = other
      case 10: one.byName[["x", "y"].randomElement(using: &random)!] = nil
      case 11: if one.tags.contains("t") { one.tags.remove("t") } else { one.tags.insert("t") }
      default:
        let numbers = (0..<4).map { _ in Int.random(in: 0..<60, using: &random) }
        do {
          let step: LuaFunction = try host.state.globals.get("step")
          try step.call(numbers[0], numbers[1], numbers[2], numbers[3], one)
        } catch { Issue.record("\(error)") }
      }
    }
    for turn in 1...12 {
      list = []
      try host.run("list = {}")
      for _ in 0..<Int.random(in: 1..<5, using: &random) { write() }
      loop.flush()
      let scripts: [DeepChange] = try host["list"].decode()
      #expect(scripts == list, "seed \(seed), turn \(turn)")
      if scripts != list { return }
    }
  }
}

// Lists that random programs rarely make.
extension `Changes of one tree on both sides` {
  @Test func `many removals at once are the same list`() throws {
    let host = try LuaHost(loop: loop)
    try host.set("root", to: root)
    for _ in 0..<300 { root.crates.append(Crate("a")) }
    let last = root.crates[299]
    try host.run(Self.script)
    var list: [DeepChange] = []
    try root.changes(in: loop) { list = $1 }
    root.crates.set([last])
    loop.flush()
    let scripts: [DeepChange] = try host["list"].decode()
    #expect(list.count == 299 && scripts == list)
  }

  @Test func `a change with two misfits is skipped once`() throws {
    let first = Crate("first")
    root.first = first
    let change = DeepChange(
      path: ["first"], reference: .before(["crates", 9]), oldReference: .after(["second"]))
    #expect(try root.apply([change], force: true) == 1)
    #expect(root.first === first)
  }

  @Test func `an object leaves through a list that it leads back to`() throws {
    let copy = Crate("root")
    for tree in [root, copy] {
      let inner = Crate("inner")
      inner.crates.append(tree)
      tree.crates.append(inner)
    }
    var list: [DeepChange] = []
    try root.changes(in: loop) { list = $1 }
    root.crates.remove(at: 0)
    loop.flush()
    try copy.apply(list)
    #expect(copy.crates.isEmpty)
  }
}

// Tables that Swift objects hold.
extension `Changes of one tree on both sides` {
  @Test func `tables that leave are not kept alive`() throws {
    let host = try LuaHost(loop: loop)
    try host.set("root", to: root)
    let watcher = try root.changes(in: loop) { _, _ in }
    try host.run(
      """
      kept = setmetatable({}, { __mode = "k" })
      local t = { child = {} }
      t.child.parent, kept[t], kept[t.child] = t, true, true
      root.table = t
      """)
    loop.flush()
    root.table = nil
    loop.flush()
    try host.run("collectgarbage() collectgarbage() left = next(kept) ~= nil")
    #expect(host["left"] == false)
    watcher.stop()
  }

  @Test func `an ended watcher releases the tables`() throws {
    let host = try LuaHost(loop: loop)
    try host.set("root", to: root)
    try host.run(
      "kept = setmetatable({}, { __mode = 'k' }) root.table = {} kept[root.table] = true")
    try root.changes(in: loop) { _, _ in }.stop()
    root.table = nil
    loop.flush()
    try host.run("collectgarbage() collectgarbage() left = next(kept) ~= nil")
    #expect(host["left"] == false)
  }

  @Test func `tables nested very deeply come and leave`() throws {
    let host = try LuaHost(loop: loop)
    try host.set("root", to: root)
    var counts: [Int] = []
    let watcher = try root.changes(in: loop) { counts.append($1.count) }
    try host.run(
      """
      local t = {}
      for i = 1, 5000 do t = { t = t } end
      root.table = t
      """)
    loop.flush()
    root.table = nil
    loop.flush()
    #expect(counts == [26, 26])
    watcher.stop()
  }

  @Test func `an opaque table is a value`() throws {
    let host = try LuaHost(loop: loop)
    try host.set("root", to: root)
    var paths: [[DeepChange.Key]] = []
    try root.changes(in: loop) { paths += $1.map(\.path) }
    try host.run(
      "local t = require 'obs'.opaque { n = 1 } root.table = t function set() t.n = 2 end")
    loop.flush()
    try host.run("set()")
    loop.flush()
    #expect(paths == [["table"]])
  }

  @Test func `undo and apply take a table as a value`() throws {
    let host = try LuaHost(loop: loop)
    try host.set("root", to: root)
    let history = try ChangeHistory(of: root, in: loop)
    try host.run("root.table = { n = 1 } t = root.table")
    try host.run("t.n = 2")
    #expect(history.undo() && root.table == nil && !history.undo())
    #expect(history.redo())
    let table = try #require(root.table)
    #expect(try table.get("n") == 2)
    let error = #expect(throws: ChangeError.self) {
      try root.apply([DeepChange(path: ["table", "n"], old: 2, new: 3)])
    }
    #expect(error?.reason == "there is no object at 'table'")
  }
}

extension `Changes of one tree on both sides` {
  /// Watches the changes, and makes steps in tables that `root` leads to.
  fileprivate static let script = """
    local obs = require "obs"
    obs.changes(root, function(_, changes) list = changes end)
    local Thing = obs.model("Thing", {
      size = 1, part = obs.none,
      twice = obs.computed({ "size" }, function(self) return 2 * self.size end),
    })
    local derived = {}
    local tables = {}
    local function new(t) tables[#tables + 1] = t return t end
    new {}
    local function collection_step(kind, t, u, c)
      local array, map, set = t.array, t.map, t.set
      if kind == 13 then t.array = obs.array { u, c % 3 }
      elseif kind == 14 then t.map = obs.dictionary { a = u, k2 = c % 3 }
      elseif kind == 15 then t.set = obs.set_of { c % 3, "m" }
      elseif kind == 16 and array then array:insert(1 + c % (#array + 1), c % 2 == 0 and u or c)
      elseif kind == 17 and array and #array > 0 then array:remove(1 + c % #array)
      elseif kind == 18 and map then map["k" .. c % 3] = u
      elseif kind == 19 and map then map["k" .. c % 3] = nil
      elseif kind == 20 and set then set:add(c % 5)
      elseif kind == 21 and set then set:remove(c % 5)
      end
    end
    local function other_step(kind, t, u, c)
      if kind == 22 and not derived[t] then
        derived[t] = true
        obs.computed(t, "twice", { "n" }, function() return 2 * (t.n or 0) end)
      elseif kind == 23 then t.thing = Thing { size = c, part = u }
      elseif kind == 24 and t.thing then t.thing.size, t.thing.part = c, u
      elseif kind == 25 then t.history = obs.history(u)
      end
    end
    function step(kind, a, b, c, crate)
      local t, u = tables[a % #tables + 1], tables[b % #tables + 1]
      local list = t.list
      kind = kind % 26
      if kind == 0 then t.name = c % 3
      elseif kind == 1 then t.child = new { n = c }
      elseif kind == 2 then t.child = nil
      elseif kind == 3 then t.other = u
      elseif kind == 4 then t.list = { c % 3, new { n = c }, c % 3 }
      elseif kind == 5 and list then table.insert(list, 1 + c % (#list + 1), u)
      elseif kind == 6 and list and #list > 0 then table.remove(list, 1 + c % #list)
      elseif kind == 7 then t.crate = crate
      elseif kind == 8 then t.crate = nil
      elseif kind == 9 then crate.table = u
      elseif kind == 10 then crate.table = nil
      elseif kind == 11 then t.list = nil
      elseif kind == 12 and list and #list > 0 then list[1 + c % #list] = c % 2 == 0 and c % 3 or u
      elseif kind > 21 then other_step(kind, t, u, c)
      elseif kind > 12 then collection_step(kind, t, u, c)
      end
    end
    """
}

/// An object of a tree with sharing and cycles.
private final class Crate: ObservableModel {
  static let properties = ModelProperties(for: Crate.self) {
    Property("name", get: { $0.name }, set: { $0.name = $1 })
    Property("first", get: { $0.first }, set: { $0.first = $1 })
    Property("second", get: { $0.second }, set: { $0.second = $1 })
    Property("crates", get: { $0.crates })
    Property("byName", get: { $0.byName })
    Property("table", get: { $0.table }, set: { $0.table = $1 })
    Property("tags", get: { $0.tags })
  }
  let observation = ModelObservation()
  var name: String { didSet { observation.didSet(0, from: oldValue, to: name) } }
  var first: Crate? { didSet { observation.didSet(1, from: oldValue, to: first) } }
  var second: Crate? { didSet { observation.didSet(2, from: oldValue, to: second) } }
  var table: LuaTable? { didSet { observation.didSet(5, from: oldValue, to: table) } }
  let crates = ObservableArray<Crate>()
  let byName = ObservableDictionary<String, Crate>()
  let tags = ObservableSet<String>()

  init(_ name: String) { self.name = name }

  func clear() {
    (first, second, table) = (nil, nil, nil)
    crates.removeAll()
    byName.removeAll()
  }
}
