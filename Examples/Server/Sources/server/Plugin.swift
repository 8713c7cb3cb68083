import Foundation
import Lua
import LuaObservables
import Observables

/// A script in a separate sandbox.
///
/// Its globals, watchers, timers and tasks end with the sandbox; other plugins are not affected.
final class Plugin {
  let name: String
  private let file: URL
  private let host: LuaHost
  private var sandbox: LuaSandbox?
  /// The version of the file that was loaded or rejected last, to recognize a newer one.
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
    // File dates are coarse.
    let size: Int?
  }

  private var fileVersion: Version {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    return Version(
      date: attributes?[.modificationDate] as? Date, size: attributes?[.size] as? Int)
  }

  /// Runs the current script of the file; if it fails, the previous script continues to run.
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

  /// Sets up the globals and the error handler of this plugin.
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

  /// Switches off a plugin that fails repeatedly, once none of its code is running.
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
