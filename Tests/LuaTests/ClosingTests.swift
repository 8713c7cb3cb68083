import Lua
import Testing

@Suite struct `Closing a state` {
  @Test func `runs finalizers and releases Swift functions`() throws {
    let count = Probe.Count()
    let state = try LuaState()
    var log: [String] = []
    do {
      let probe = Probe(count)
      let note = try state.function("note") { (text: String) in
        log.append(text)
        withExtendedLifetime(probe) {}
      }
      try state.globals.set("note", to: note)
    }
    try state.run("kept = setmetatable({}, {__gc = function() note('finalized') end})")
    #expect(count.livingNow == 1)
    state.close()
    state.close()
    #expect(count.livingNow == 0)
    #expect(log == ["finalized"])
  }

  @Test func `happens when the last reference is gone, even with handles outstanding`() throws {
    let count = Probe.Count()
    var state: LuaState? = try LuaState()
    var function: LuaFunction?
    do {
      let probe = Probe(count)
      function = try state?.function("f") { withExtendedLifetime(probe) {} }
    }
    try state?.globals.set("f", to: function)
    try state?.run("kept = setmetatable({}, {__gc = function() f() end})")
    state = nil
    #expect(count.livingNow == 0)
    let error = #expect(throws: LuaError.self) { try function?.call() }
    #expect(error?.code == .closed)
    function = nil
  }

  @Test func `inside a Swift function waits for the outermost call to return`() throws {
    let state = try LuaState()
    try state.globals.set("close", to: try state.function("close") { state.close() })
    let results = try state.run("close() local t = {} for i = 1, 1000 do t[i] = {i} end return #t")
    #expect(results == [1000])
    #expect(state.isClosed)
    #expect(state.memoryInUse == 0)
    let error = #expect(throws: LuaError.self) { try state.run("return 1") }
    #expect(error?.code == .closed)
  }

  @Test func `survives finalizers that make and call Swift functions`() throws {
    let count = Probe.Count()
    let state = try LuaState()
    let make = try state.variadicFunction("make") { values in
      let probe = Probe(count)
      _ = try? state.function("inner") { withExtendedLifetime(probe) {} }
      return values
    }
    try state.globals.set("make", to: make)
    try state.run(
      """
      local function again() setmetatable({}, {__gc = function() make({}, make) again() end}) end
      again()
      local co = coroutine.wrap(function() while true do make({}) coroutine.yield() end end)
      co()
      kept = setmetatable({}, {__gc = function() co() error("in a finalizer") end})
      """)
    state.close()
    #expect(count.livingNow == 0)
  }
}
