internal import CCommandLine
internal import CLua
internal import Lua
internal import Observables

/// The process from its arguments to its exit status.
enum Program {
  static let version = "0.1.0"
  /// The program and the library of Lua, with their versions.
  static let title = "obs-lua \(version) (Lua \(LuaRelease.loaded))"
  /// The same with a number that differs between builds.
  static let build = "\(title), build \(String(ccl_buildnumber(), radix: 16))"

  static func run(
    argumentCount: Int, arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  ) -> CInt {
    ccl_restoreenvironment()
    let fallback: StaticString = "obs-lua"
    var name = UnsafeRawPointer(fallback.utf8Start).assumingMemoryBound(to: CChar.self)
    if let first = arguments[0], first[0] != 0 { name = UnsafePointer(first) }
    do {
      return run(try Arguments(arguments, count: argumentCount), name: name)
    } catch {
      error.report(name: name)
      return error.status
    }
  }

  private static func run(_ arguments: Arguments, name: UnsafePointer<CChar>) -> CInt {
    if arguments.options.asksForHelp {
      ccl_writeoutput(Usage.help(name: String(cString: name)))
      return ccl_checkoutput(name) ? 0 : 1
    }
    if arguments.options.asksForVersion {
      ccl_writeoutput(title + "\n")
      return ccl_checkoutput(name) ? 0 : 1
    }
    if let tool = arguments.options.recordingTool, let recording = arguments.operands.first {
      let kind: RecordingTool.Kind = tool.name == .report ? .report : .trace
      return RecordingTool(kind: kind, output: tool.file, recording: recording).run(name: name)
    }
    if arguments.options.testing.isOn {
      return TestRunner(arguments, name: String(cString: name)).run()
    }
    if arguments.options.watches, let script = arguments.scriptName {
      let restarter = ScriptRestarter(
        String(cString: script), name: String(cString: name), reloads: arguments.options.reloads)
      switch restarter.run() {
      case .end(let status): return status
      case .run(let descriptor):
        let reloads = descriptor.map { ScriptReloads($0, name: String(cString: name)) }
        return interpret(arguments, name: name, seed: nil, nil, reloads)
      }
    }
    if arguments.options.replayFile != nil || arguments.recordsInputs { ccl_startagain() }
    if arguments.options.replayFile != nil { return replay(arguments, name: name) }
    let seed = arguments.recordsInputs ? record(arguments, name: name) : nil
    return interpret(arguments, name: name, seed: seed, nil)
  }

  /// Makes the run repeatable and notes its inputs, and returns its seed.
  private static func record(_ arguments: Arguments, name: UnsafePointer<CChar>) -> UInt64 {
    // Computed first: it makes a state, for which a replay takes no memory of the arena.
    _ = build
    let seed = UInt64.random(in: .min ... .max)
    repeatRun(seed)
    let inputs = RecordedInputs()
    inputs.onRefusal = { what in
      ccl_writeerror(name, "warning: this run cannot be replayed beyond this point: \(what)")
    }
    Outside.use(inputs, readsInput: !arguments.hasPrompt)
    return seed
  }

  /// Gives Lua and the engine the same addresses and random numbers as in each run with this seed.
  ///
  /// `ccl_startagain` has given dictionaries of Swift the same order.
  static func repeatRun(_ seed: UInt64) {
    ccl_repeat(seed)
    RecordMemory.source = ({ clua_arena_make($0) }, { clua_arena_free($0, $1) })
  }

  private static func replay(_ arguments: Arguments, name: UnsafePointer<CChar>) -> CInt {
    do {
      let replay = try Replay(arguments, name: name)
      let recorded = try replay.begin()
      let recordedName = recorded.values[0].map { UnsafePointer($0) } ?? name
      return interpret(recorded, name: recordedName, seed: nil, replay)
    } catch {
      // A recording of a stranger must not control the terminal.
      ccl_writeerror(name, ((error as? LuaError)?.message ?? "\(error)").printable)
      return 1
    }
  }

  private static func interpret(
    _ arguments: Arguments, name: UnsafePointer<CChar>, seed: UInt64?, _ replay: Replay?,
    _ reloads: ScriptReloads? = nil
  ) -> CInt {
    do {
      return try Interpreter(arguments, name: name, seed: seed, replay, reloads).run()
    } catch {
      ccl_writeerror(name, "cannot create state: \(error.message)")
      return 1
    }
  }
}
