import Foundation
import Lua
import LuaObservables
import Observables

/// The app: the model, its view, and the user's script, all on the main actor.
@MainActor
final class App {
  let list = TodoList()
  private let view: ListView
  private let host: LuaHost
  /// The commands that the script defines.
  private let commands: LuaTable

  init(script: String) throws {
    host = try LuaHost(loop: .main)
    commands = try host.state.makeTable()
    host.onError = { report in print("  script: \(report.error.message)") }
    host["list"] = list
    try host.set("commands", to: commands)
    let text = try String(contentsOfFile: script, encoding: .utf8)
    try host.run(text, name: "=" + URL(filePath: script).lastPathComponent)
    // Watchers are called in order of registration: the view draws after the script has handled a
    // change.
    view = try ListView(list)
  }

  /// Performs a command line.
  ///
  /// It only changes the model. When it returns control to the main queue, the turn ends, and the
  /// watchers of the view and the script are called.
  func perform(_ line: String) async {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = words.count > 1 ? words[1] : ""
    switch words.first {
    case "add": list.add(rest)
    case "done":
      guard let index = Int(rest), list.todos.indices.contains(index - 1) else {
        list.status = "there is no number \(rest)"
        return
      }
      list.todos[index - 1].isDone = true
    case "count":
      // Work on another thread, and the result back on the main actor.
      let titles = list.todos.elements.map(\.title)
      let letters = await Task.detached { titles.joined().count }.value
      list.status = "\(letters) letters"
    case let name?: performScripted(name, rest)
    case nil: break
    }
  }

  private func performScripted(_ name: String, _ argument: String) {
    do {
      guard case .function(let command) = try commands.get(name, as: LuaValue.self) else {
        list.status = "there is no command \(name)"
        return
      }
      try command.call(argument)
    } catch {
      list.status = "\(name) failed: \(error.message)"
    }
  }
}
