internal import CCommandLine
internal import Lua

/// The process from its arguments to its exit status.
enum Program {
  static let version = "0.1.0"

  static func run(
    argumentCount: Int, arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  ) -> CInt {
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
      ccl_writeoutput("obs-lua \(version) (Lua \(LuaRelease.loaded))\n")
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
      let restarter = ScriptRestarter(String(cString: script), name: String(cString: name))
      if let status = restarter.run() { return status }
    }
    if let seed = arguments.seed { ccl_repeat(seed) }
    do {
      return try Interpreter(arguments, name: name).run()
    } catch {
      ccl_writeerror(name, "cannot create state: not enough memory")
      return 1
    }
  }
}
