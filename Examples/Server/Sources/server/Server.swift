import Foundation
import LuaObservables
import Observables

/// The greenhouse and its plugins, on the thread of the loop.
final class Server {
  private let greenhouse = Greenhouse()
  /// The host of the plugins' sandboxes.
  private let host: LuaHost
  private let folder: URL
  private var plugins: [String: Plugin] = [:]

  struct NoFolder: Error, CustomStringConvertible {
    let description: String
  }

  init(folder: URL, loop: Loop) throws {
    self.folder = folder
    var limits = ScriptLimits.untrusted
    limits.turnTime = .milliseconds(50)
    host = try LuaHost(loop: loop, libraries: .safe, limits: limits)
    host["greenhouse"] = greenhouse
    // Later, an unreadable folder counts as an empty one.
    guard (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) != nil else {
      throw NoFolder(description: "there is no folder \(folder.path)")
    }
    // Swift observes the same model, in the same turns.
    try greenhouse.window.observe("isOpen") { window in
      print("[server] the window is \(window.isOpen ? "open" : "shut")")
    }
    loadChanged()
    loop.every(1) { [unowned self] in loadChanged() }
  }

  /// Loads new and changed scripts, and stops scripts whose files are gone.
  func loadChanged() {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let names = files.filter { $0.hasSuffix(".lua") }.sorted()
    for name in names {
      let file = folder.appending(path: name)
      let plugin = Plugin(file, host: host)
      let known = plugins[plugin.name] ?? plugin
      plugins[known.name] = known
      if known.hasChanged { known.load() }
    }
    for (name, plugin) in plugins where !names.contains(name + ".lua") {
      plugin.stop()
      plugins[name] = nil
      print("[server] \(name) is gone")
    }
  }

  /// Performs a command line.
  func perform(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    switch (words.first, words.dropFirst().first) {
    case ("temperature", let text?): greenhouse.temperature = Double(text) ?? greenhouse.temperature
    case ("humidity", let text?): greenhouse.humidity = Double(text) ?? greenhouse.humidity
    case ("reload", let name?):
      if let plugin = plugins[name] { plugin.load() } else { print("there is no plugin \(name)") }
    case ("install", let name?):
      // Saves the script as an editor would; the server notices it within a second.
      let text = words.count > 2 ? words[2] : ""
      try? text.write(
        to: folder.appending(path: name + ".lua"), atomically: true, encoding: .utf8)
      loadChanged()
    case ("list", nil):
      for (name, plugin) in plugins.sorted(by: { $0.key < $1.key }) {
        print("\(name) \(plugin.isRunning ? "runs" : "is stopped")")
      }
    default:
      print("temperature N, humidity N, reload NAME, install NAME TEXT, list; not: \(line)")
    }
  }

  func stop() {
    for plugin in plugins.values { plugin.stop() }
    host.close()
  }
}
