import Foundation
import Lua
import LuaObservables
import Observables

/// A script in a sandbox of its own.
///
/// Its globals, watchers, timers and tasks end with the sandbox; those of the other plugins go on.
final class Plugin {
  let name: String
  private let file: URL
  private let host: LuaHost
  private var sandbox: LuaSandbox?
  /// What tells the file that runs, or that was refused, from one that was written later.
  private var version: Version?
  private var errors = 0
  private static let mostErrors = 3

  init(_ file: URL, host: LuaHost) {
    name = file.deletingPathExtension().lastPathComponent
    (self.file, self.host) = (file, host)
  }

  var isRunning: Bool { sandbox != nil }

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
    var next: LuaSandbox?
    do {
      let sandbox = try host.sandbox(named: name)
      next = sandbox
      try prepare(sandbox)
      let text = try String(contentsOf: file, encoding: .utf8)
      try sandbox.run(text, name: "=" + file.lastPathComponent)
      stop()
      self.sandbox = sandbox
      errors = 0
      say("runs")
    } catch {
      next?.close()
      say("was refused: \((error as? LuaError)?.message ?? "\(error)")")
    }
  }

  func stop() {
    sandbox?.close()
    sandbox = nil
  }

  /// What this plugin alone has.
  private func prepare(_ sandbox: LuaSandbox) throws {
    sandbox.onError = { [unowned self, unowned sandbox] report in
      say(report.error.message + ", in \(report.kind) of \(report.site)")
      countError(of: sandbox)
    }
    let print = try host.state.variadicFunction("print") { [unowned self] values in
      say(values.map { "\($0)" }.joined(separator: " "))
      return []
    }
    try sandbox.set("print", to: print)
  }

  /// A plugin that fails again and again is switched off, when nothing of it is running any more.
  private func countError(of sandbox: LuaSandbox) {
    errors += 1
    guard errors == Plugin.mostErrors, sandbox === self.sandbox else { return }
    host.loop.nextTurn { [weak self, weak sandbox] in
      guard let self, let sandbox, sandbox === self.sandbox else { return }
      stop()
      say("is switched off after \(Plugin.mostErrors) errors")
    }
  }

  private func say(_ text: String) { print("[\(name)] \(text)") }
}
