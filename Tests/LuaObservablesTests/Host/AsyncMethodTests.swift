import Lua
import LuaObservables
import Observables
import Testing

private struct Missing: Error, Equatable { let id: Int }

/// A gate that any number of tasks can wait for.
private final class Gate: Sendable {
  private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
  func wait() async { for await _ in stream {} }
  func open() { continuation.finish() }
}

private final class Library: ScriptModel {
  static let properties = ModelProperties(for: Library.self) {
    Property("last", get: { $0.last }, set: { $0.last = $1 })
  }
  static let methods = ModelMethods(for: Library.self) {
    Method("load") { (library, id: Int) in
      let prefix = library.prefix
      return AsyncResult { () async throws -> String in
        await Task.yield()
        if id < 0 { throw Missing(id: id) }
        return "\(prefix)\(id)"
      }
    }
    Method("fetch") { (library, id: Int) in
      AsyncResult {
        "text \(id)"
      } then: { text in
        library.last = text
        return (text, id)
      }
    }
    Method("wait") { (library) in
      let (gate, cancelled) = (library.gate, library.cancelled)
      return AsyncResult { () async -> Void in
        await withTaskCancellationHandler {
          await gate.wait()
        } onCancel: {
          cancelled.open()
        }
      }
    }
    Method("rename") { (library, name: String) async throws in
      library.last = "…"
      await Task.yield()
      if name.isEmpty { throw Missing(id: 0) }
      library.last = name
      return (name, name.count)
    }
    Method("pause") { (library) async in
      await withTaskCancellationHandler {
        await library.gate.wait()
      } onCancel: { [cancelled = library.cancelled] in
        cancelled.open()
      }
    }
    Method("break") { (_) in
      AsyncResult {
        1
      } then: { _ -> Int in
        throw Missing(id: 0)
      }
    }
  }
  let observation = ModelObservation()
  let (prefix, gate, cancelled) = ("book ", Gate(), Gate())
  var last = "" { didSet { observation.didSet(0, from: oldValue, to: last) } }
}

/// B2: async methods, awaited by tasks.
@Suite(.timeLimit(.minutes(30))) struct AsyncMethodTests {
  private struct Outcome: Sendable {
    let log: [String]
    let errors: [String]
    let underlying: [Missing?]
    let cancelled: Gate
    let isAlive: Bool
  }

  /// Runs a script and its loop to the end.
  private func run(
    _ script: String, after: @escaping @Sendable (TestHost) throws -> Void = { _ in }
  ) async throws -> Outcome {
    try await onOwnThread {
      let (test, library) = (try TestHost(), Library())
      test.host["library"] = library
      try test.host.set("slow") { (number: Int) in AsyncResult { number * 2 } }
      try test.host.set("later") { (number: Int) async in
        await Task.yield()
        return number * 2
      }
      try test.host.set("open") { library.gate.open() }
      try test.host.run("obs, log = require 'obs', {}\n" + script)
      try after(test)
      test.loop.run()
      return Outcome(
        log: test.host.state.isClosed ? [] : try test.log(),
        errors: test.reports.map(\.error.message),
        underlying: test.reports.map { $0.error.underlying as? Missing },
        cancelled: library.cancelled, isAlive: test.loop.isAlive)
    }
  }

  @Test func `a task waits for the result`() async throws {
    let outcome = try await run(
      """
      obs.task(function()
        local text = library:load(3)
        log[#log + 1] = text
        local number = slow(21)
        log[#log + 1] = number
      end)
      log[#log + 1] = "before"
      """)
    #expect(outcome.log == ["before", "book 3", "42"])
    #expect(!outcome.isAlive && outcome.errors == [])
  }

  // T1
  @Test func `a change made with the result on the loop's thread is an ordinary change`()
    async throws
  {
    let outcome = try await run(
      """
      obs.observe(library, "last", function() log[#log + 1] = "last " .. library.last end)
      obs.task(function()
        local text, id = library:fetch(4)
        log[#log + 1] = text .. "/" .. id
      end)
      """)
    #expect(outcome.log == ["text 4/4", "last text 4"])
  }

  @Test func `an error reaches the task with the Swift error kept`() async throws {
    let outcome = try await run(
      """
      obs.task(function()
        local ok, err = pcall(library.load, library, -1)
        log[#log + 1] = tostring(ok) .. " " .. tostring(err)
        log[#log + 1] = tostring(pcall(library["break"], library))
        library:load(-2)
      end)
      """)
    #expect(outcome.log == ["false Missing(id: -1)", "false"])
    #expect(outcome.underlying == [Missing(id: -2)])
  }

  @Test func `an error has the place of the call that waited`() async throws {
    let outcome = try await run(
      """
      obs.task(function()
        local ok, err = pcall(function()
          library:load(-1) end)
        log[#log + 1] = tostring(err)
        slow("x")
      end)
      obs.task(function()
        local function load() library:load(-2) end
        load()
      end)
      """)
    #expect(outcome.log == ["script:4: Missing(id: -1)"])
    #expect(
      outcome.errors == [
        "script:6: bad argument #1 to 'slow' (number expected, got string)",
        "script:9: Missing(id: -2)",
      ])
    #expect(outcome.underlying == [nil, Missing(id: -2)])
  }

  @Test(arguments: [
    (
      "library:load(1)",
      "'load' was called outside a task: it waits, which works only inside obs.task"
    ),
    ("slow(1)", "'slow' was called outside a task"),
    ("coroutine.wrap(function() slow(1) end)()", "works only inside obs.task"),
    ("obs.task(function() obs.batch(function() slow(1) end) end)", "a batch or a scope"),
    (
      "obs.task(function() slow('x') end)",
      "bad argument #1 to 'slow' (number expected, got string)"
    ),
    ("obs.task(function() library.load(1) end)", "calling 'load' on bad self (Library expected"),
  ])
  func `outside of tasks, and with wrong arguments, it is an error`(
    script: String, text: String
  ) async throws {
    let outcome = try await run(
      "local ok, err = pcall(function() \(script) end) log[1] = tostring(err)")
    #expect((outcome.log + outcome.errors).joined().contains(text), "\(outcome)")
    #expect(!outcome.isAlive)
  }

  @Test func `tasks wait side by side`() async throws {
    let outcome = try await run(
      """
      obs.task(function() library:wait() log[#log + 1] = "waited" end)
      obs.task(function() log[#log + 1] = slow(1) open() end)
      """)
    #expect(outcome.log == ["2", "waited"])
  }

  @Test func `functions of a class wait, too, before any script has used the module`() throws {
    let test = try TestHost()
    let functions = ScriptFunctions {
      Function("slow") { (number: Int) in AsyncResult { number } }
      Function("slower") { (number: Int) async in number }
    }
    try test.host.set("Tools", to: functions)
    let types = "return type(Tools.slow) .. type(Tools.slower)"
    #expect(try test.host.run(types, as: String.self) == "functionfunction")
  }

  // T1
  @Test func `a task waits for an async closure, whose parts are turns of the loop`()
    async throws
  {
    let outcome = try await run(
      """
      obs.observe(library, "last", function() log[#log + 1] = "last " .. library.last end)
      obs.task(function()
        local name, size = library:rename("Emma")
        log[#log + 1] = name .. " " .. size
        local ok = pcall(library.rename, library, "")
        log[#log + 1] = tostring(ok)
        local number = later(2)
        log[#log + 1] = number
        library:rename("")
      end)
      """)
    #expect(
      outcome.log == ["last …", "last Emma", "Emma 4", "last …", "false", "4"])
    #expect(outcome.underlying == [Missing(id: 0)])
    #expect(!outcome.isAlive)
  }

  // T7
  @Test(arguments: ["wait", "pause"])
  func `a cancelled task cancels the operation, and receives nothing more`(
    method: String
  ) async throws {
    let outcome = try await run(
      """
      local task = obs.task(function() library:\(method)() log[#log + 1] = "waited" end)
      task:cancel()
      """)
    #expect(outcome.log == [] && outcome.errors == [])
    #expect(!outcome.isAlive)
    await outcome.cancelled.wait()
  }

  @Test(arguments: ["wait", "pause"])
  func `a host that closes cancels operations of its tasks`(method: String) async throws {
    let outcome = try await run(
      "obs.task(function() library:\(method)() end)", after: { $0.host.close() })
    #expect(!outcome.isAlive && outcome.errors == [])
    await outcome.cancelled.wait()
  }
}
