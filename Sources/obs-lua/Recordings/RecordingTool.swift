internal import CCommandLine
internal import Lua
internal import LuaInspector
internal import LuaObservables
internal import Observables

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
      let page = String(decoding: ReportPage(isLive: false).bytes, as: UTF8.self)
      _ = try Self.run([kind.rawValue, recording, output, page])
      return 0
    } catch {
      ccl_writeerror(name, error.message.printable)
      return 1
    }
  }

  /// Calls a tool of `recordings.lua`, and returns its results.
  ///
  /// - Throws: its error.
  static func run(_ arguments: [String]) throws(LuaError) -> [LuaValue] {
    let state = try LuaState(libraries: .all)
    let tools = try state.loadProgramFile("recordings")
    return try tools.call(arguments: arguments.map { .string(LuaString($0)) })
  }

  /// Calls a tool, and returns its first result if it is a text.
  ///
  /// - Throws: its error.
  static func text(_ arguments: [String]) throws(LuaError) -> LuaString? {
    if case .string(let text)? = try run(arguments).first { text } else { nil }
  }
}
