internal import CCommandLine
internal import CReport
internal import Lua

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
      let parts = [CREPORT_HTML, CREPORT_STYLE, CREPORT_GRAPHS, CREPORT_SCRIPT].map(Self.part)
      let arguments = [kind.rawValue, recording, output] + parts
      _ = try tool.call(arguments: arguments.map { .string(LuaString($0)) })
      return 0
    } catch {
      ccl_writeerror(name, error.message)
      return 1
    }
  }

  /// A part of the page.
  private static func part(_ part: creport_part) -> String {
    var count = 0
    let bytes = creport_bytes(part, &count)
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}
