internal import CCommandLine
internal import Glibc
internal import Lua
internal import LuaObservables
internal import Observables

/// Loads files again that have changed, as the watching process asks (`--watch=reload`).
final class ScriptReloads {
  private let descriptor: CInt
  private let name: String
  private var bytes: [UInt8] = []
  /// The number of received paths that were not handled yet.
  private var unanswered = 0
  private var handler: DescriptorHandler?

  init(_ descriptor: CInt, name: String) { (self.descriptor, self.name) = (descriptor, name) }

  /// Begins to listen; this does not keep the program running.
  func begin(in host: LuaHost) throws {
    handler = try host.loop.onReadable(descriptor) { [unowned self, unowned host] in
      for path in paths() { reload(path, in: host) }
      for _ in 0..<unanswered { send(ScriptRestarter.done) }
      unanswered = 0
    }
    handler?.keepsLoopRunning = false
  }

  /// The paths that have arrived, without links and each once.
  private func paths() -> [String] {
    var portion = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &portion, portion.count)
    guard count > 0 else {
      if count == 0 { handler?.stop() }
      return []
    }
    bytes += portion[..<count]
    guard let end = bytes.lastIndex(of: 0) else { return [] }
    defer { bytes.removeSubrange(...end) }
    let received = bytes[..<end].split(separator: 0)
    unanswered = received.count
    let paths = received.map { bytes in
      let path = String(decoding: bytes, as: UTF8.self)
      guard let resolved = realpath(path, nil) else { return path }
      defer { free(resolved) }
      return String(cString: resolved)
    }
    return Set(paths).sorted()
  }

  private func send(_ answer: String) {
    _ = Glibc.send(descriptor, answer, strlen(answer) + 1, CInt(MSG_NOSIGNAL))
  }

  private func reload(_ path: String, in host: LuaHost) {
    switch host.reload(file: path) {
    case .unknown:
      send(ScriptRestarter.restart)
    case .failed(let module, let error):
      ccl_writeerror(
        name, "'\(module)' was not loaded again, its former code goes on: \(error.message)")
    case .reloaded(let modules, let copies):
      if isatty(STDERR_FILENO) != 0 {
        for module in modules { ccl_writeerror(name, "loaded '\(module)' again") }
      }
      for copy in copies { ccl_writeerror(name, "warning: \(copy)") }
    }
  }
}
