import Foundation
import Testing

extension Terminal {
  /// Returns the transcript of a session at the prompt.
  ///
  /// Each line is typed after a prompt has answered the line before it; the end of the input
  /// follows the last one.
  static func session(
    _ lines: [String], in arguments: [String] = [], environment: [String: String] = [:]
  ) throws -> String {
    let terminal = try Terminal(Command.obsLua, arguments, environment: environment)
    for line in lines { terminal.type(line + "\n", after: "> ") }
    terminal.type("\u{4}", after: "> ")
    #expect(terminal.finish() == 0)
    return terminal.transcript.replacing(Command.obsLua, with: "lua")
  }

  /// An environment with a terminal whose only code clears lines.
  static func screen(in folder: Folder) throws -> [String: String] {
    let settings = folder.path + "/inputrc"
    let text = "set enable-bracketed-paste off\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: settings))
    return ["TERM": "xterm", "NO_COLOR": "1", "INPUTRC": settings]
  }
}
