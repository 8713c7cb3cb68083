import Foundation
import Lua
import LuaObservables
import Observables

/// A script in a host of its own.
///
/// Its globals, watchers, timers and tasks end with the host; those of the other plugins go on.
final class Plugin {
  let name: String
  private let file: URL
  private let loop: Loop
  private let greenhouse: Greenhouse
  private var host: LuaHost?
  /// What tells the file that runs, or that was refused, from one that was written later.
  private var version: Version?
  private var errors = 0
  private static let mostErrors = 3

  init(_ file: URL, loop: Loop, greenhouse: Greenhouse) {
    name = file.deletingPathExtension().lastPathComponent
    (self.file, self.loop, self.greenhouse) = (file, loop, greenhouse)
  }

  var isRunning: Bool { host != nil }

  var hasChanged: Bool { fileVersion != version }

  private struct Version: Equatable {
    let date: Date?
    // Dates of files are coarse.
    let size: Int?
  }

  private var fileVersion: Version {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    return Version(
      date: attributes?[.modificationDate] as? Date, size: attributes?[.size] as? Int)
  }

  /// Runs the script as the file has it now; if that fails, what ran before goes on.
  func load() {
    version = fileVersion
    var next: LuaHost?
    do {
      let host = try LuaHost(loop: loop)
      next = host
      try prepare(host)
      let text = try String(contentsOf: file, encoding: .utf8)
      try host.run(text, name: "=" + file.lastPathComponent)
      stop()
      self.host = host
      errors = 0
      say("runs")
    } catch {
      next?.close()
      say("was refused: \((error as? LuaError)?.message ?? "\(error)")")
    }
  }

  func stop() {
    host?.close()
    host = nil
  }

  /// What scripts find, and what they don't.
  private func prepare(_ host: LuaHost) throws {
    host.onError = { [unowned self, unowned host] report in
      say(report.error.message + ", in \(report.kind) of \(report.site)")
      countError(of: host)
    }
    host.state.memoryLimit = 64 << 20
    try host.set("say") { [unowned self] (text: String) in say(text) }
    // A number that is another one in each turn of the loop.
    try host.set("turn") { [unowned host] in host.loop.statistics.turns }
    try host.run(guardScript, name: "=guard")
    host["greenhouse"] = greenhouse
  }

  /// A plugin that fails again and again is switched off, when nothing of it is running any more.
  private func countError(of host: LuaHost) {
    errors += 1
    guard errors == Plugin.mostErrors, host === self.host else { return }
    loop.nextTurn { [weak self, weak host] in
      guard let self, let host, host === self.host else { return }
      stop()
      say("is switched off after \(Plugin.mostErrors) errors")
    }
  }

  private func say(_ text: String) { print("[\(name)] \(text)") }
}
