internal import CCommandLine
internal import Lua
internal import LuaInspector

/// Makes a page or a trace of a recording (`--report`, `--trace`).
struct RecordingTool {
  enum Kind: String {
    case report, trace
  }

  let kind: Kind
  /// The file to write.
  let output: String
  let recording: String

  /// Runs the tool, and returns the exit status of the program.
  func run(name: UnsafePointer<CChar>) -> CInt {
    do {
      let state = try LuaState(libraries: .all)
      let source = String(decoding: PackageResources.recordings_lua, as: UTF8.self)
      let tool = try state.load(source, name: "=recordings")
      let page = String(decoding: ReportPage(isLive: false).bytes, as: UTF8.self)
      let arguments = [kind.rawValue, recording, output, page]
      _ = try tool.call(arguments: arguments.map { .string(LuaString($0)) })
      return 0
    } catch {
      ccl_writeerror(name, error.message)
      return 1
    }
  }
}
