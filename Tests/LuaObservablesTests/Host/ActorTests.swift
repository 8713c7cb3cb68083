import Lua
import LuaObservables
import Observables
import TestSupport
import Testing

/// T8, B4: an actor whose scripts live on the thread of a loop.
@Suite(.timeLimit(.minutes(30))) struct ActorTests {
  @Test func `a call of the actor is a call of the script, on the thread of its loop`() async throws
  {
    let rules = try await Rules("return function(x) last = x return 2 * x end")
    async let (one, two) = (rules.call(1), rules.call(2))
    #expect(try await (one, two) == (2, 4))
    try await rules.follow("last")
    _ = try await rules.call(5)
    try await rules.thread.run { _ in }
    let log = await rules.log
    #expect(log == ["5"])
  }

  @Test func `an error of the script is thrown to the caller`() async throws {
    let rules = try await Rules("return function() error('no', 0) end")
    let error = await #expect(throws: LuaError.self) { try await rules.call(1) }
    #expect(error?.message == "no")
    await #expect(throws: LuaError.self) { try await Rules("return +") }
  }

  @Test func `calls after the end of the thread throw that the host is closed`() async throws {
    let rules = try await Rules("return function(x) return x end")
    rules.thread.stop()
    let error = await #expect(throws: LuaError.self) { try await rules.call(1) }
    #expect(error?.code == .closed)
    #expect(await rules.isClosed)
  }

  @Test func `every call gets an answer when an actor ends while tasks call it`() async throws {
    for _ in 1...20 {
      let rules = try await Rules("return function(x) return x end")
      await withTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            // Optimized code stays on the thread of the actor from call to call.
            while (try? await rules.call(1)) != nil { await Task.yield() }
          }
        }
        group.addTask { await rules.stop() }
      }
    }
  }

  // L3
  @Test func `an actor that nobody holds ends with its host, on the thread`() async throws {
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    do {
      let rules = try await Rules("return function(x) return x end")
      try await rules.keep(LastWords { end.finish() })
    }
    for await _ in ends {}
  }

  // L3
  @Test func `a stopped thread drops its error handler, and with it a closed host`() async {
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let thread = LoopThread { loop in
      let host = try! LuaHost(loop: loop)
      let words = LastWords { end.finish() }
      try! host.run("on_end = setmetatable({}, { __gc = function() end })")
      loop.onError = { _ in _ = (host, words) }
    }
    thread.stop()
    await withCheckedContinuation { done in thread.inbox.post { done.resume() } }
    for await _ in ends {}
  }
}

private actor Rules {
  let thread = LoopThread()
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
  private var host: LuaHost?
  private var function: LuaFunction?
  private(set) var log: [String] = []

  init(_ script: String) async throws {
    let host = try LuaHost()
    function = try host.run(script, as: LuaFunction.self)
    self.host = host
  }

  func call(_ x: Int) throws -> Int { try function!.call(x, as: Int.self) }

  func follow(_ name: Path) throws {
    guard let host else { return }
    try host.observe(host.state.globals, name) { globals in
      self.log.append("\(try globals.get("last", as: Int.self))")
    }
  }

  func keep(_ ending: LastWords) throws { try host?.set("keep") { () in _ = ending } }

  var isClosed: Bool { host?.isClosed ?? true }
  func stop() { thread.stop() }

  #if os(Linux)  // macOS has it since 15.4.
    isolated deinit {}
  #endif
}
