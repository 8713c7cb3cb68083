import Lua
import Synchronization
import Testing

@Suite struct `Handles` {
  let state: LuaState
  init() throws { state = try LuaState() }

  /// Whether the object that the global `weak` refers to still exists.
  private func isAlive() throws -> Bool {
    try state.collectGarbage()
    try state.collectGarbage()
    return try state.run("return weak[1] ~= nil", as: Bool.self)
  }

  private func makeTable() throws -> LuaTable {
    let chunk = "local t = {} weak = setmetatable({t}, {__mode = 'v'}) return t"
    return try state.run(chunk, as: LuaTable.self)
  }

  @Test func `keep their object alive, and no longer`() throws {
    var table: LuaTable? = try makeTable()
    #expect(try isAlive())
    let copy = table
    table = nil
    #expect(try isAlive())
    _ = consume copy
    #expect(try !isAlive())
  }

  // B4
  @Test func `may be released on any thread`() async throws {
    let tables = try (0..<1000).map { _ in try makeTable() }
    await withTaskGroup { group in
      for table in tables { group.addTask { _ = table } }
    }
    #expect(try state.run("return 1 + 1", as: Int.self) == 2)
    let release = Mutex<LuaTable?>(try makeTable())
    await Task.detached { release.withLock { $0 = nil } }.value
    #expect(try !isAlive())
  }

  @Test func `take no more room than the number alive at a time`() throws {
    let function = try state.load("return {}")
    for _ in 0..<10_000 { _ = try function.call() }
    try state.collectGarbage()
    let before = state.memoryInUse
    for _ in 0..<10_000 { _ = try function.call() }
    try state.collectGarbage()
    #expect(state.memoryInUse <= before)
  }

  @Test func `are equal if they refer to the same object`() throws {
    let tables = try state.run("local t = {} return t, t, {}")
    #expect(tables[0] == tables[1])
    #expect(tables[0] != tables[2])
    #expect(Set(tables).count == 2)
  }

  @Test func `of one state are refused by another`() throws {
    let other = try LuaState()
    let table = try other.makeTable()
    let use: [() throws -> Void] = [
      { try state.globals.set("t", to: table) },
      { try state.globals.setMetatable(table) },
      { _ = try state.load("return ...").call(table) },
      { _ = try state.globals[table] },
      { try state.function("f") { table }.call() },
    ]
    for use in use {
      let error = #expect(throws: LuaError.self) { try use() }
      #expect(error?.code == .foreign)
    }
  }

  @Test func `outlive their state and report it`() throws {
    let (table, function) = (try makeTable(), try state.load("return 1"))
    let userdata = try state.run("return io.stdout", as: LuaUserdata.self)
    state.close()
    let use: [() throws -> Void] = [
      { _ = try table["x"] },
      { try table.set("x", to: 1) },
      { _ = try table.length },
      { try table.forEach { _, _ in } },
      { _ = try table.metatable },
      { try table.setMetatable(nil) },
      { try function.call() },
      { _ = try function.call(as: Int.self) },
      { try function.call(arguments: []) },
      { _ = try userdata.metatable },
      { try state.run("return 1") },
      { _ = try state.load("return 1") },
      { _ = try state.loadFile("x.lua") },
      { _ = try state.globals },
      { _ = try state.makeTable() },
      { _ = try state.function("f") {} },
      { try state.collectGarbage() },
      {
        _ = try LuaState().run("return ...").first; _ = try LuaState().globals.set("t", to: table)
      },
    ]
    for use in use {
      let error = #expect(throws: LuaError.self) { try use() }
      #expect(error?.code == .closed)
    }
    #expect(state.memoryInUse == 0)
  }
}
