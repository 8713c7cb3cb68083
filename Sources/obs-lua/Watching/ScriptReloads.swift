internal import CCommandLine
internal import LibC
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
  /// The messages of files that could not be loaded again, by path.
  private var failed: [String: String] = [:]

  init(_ descriptor: CInt, name: String) { (self.descriptor, self.name) = (descriptor, name) }

  /// Begins to listen; this does not keep the program running.
  func begin(in host: LuaHost) throws {
    handler = try host.loop.onReadable(descriptor) { [unowned self, unowned host] in
      let paths = paths()
      let isDone = paths.map { reload($0, in: host) }.contains(true)
      // A change of one module can mend another one.
      if isDone { for path in failed.keys.sorted() { reload(path, in: host) } }
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
    _ = LibC.send(descriptor, answer, strlen(answer) + 1, CInt(MSG_NOSIGNAL))
  }

  /// Loads the modules of a file again, and writes the result; returns whether this needs no other
  /// try.
  @discardableResult
  private func reload(_ path: String, in host: LuaHost) -> Bool {
    let former = failed.removeValue(forKey: path)
    switch host.reload(file: path) {
    case .unknown: send(ScriptRestarter.restart)
    case .failed(let module, let error):
      failed[path] = error.message
      if error.message == former { return false }
      ccl_writeerror(
        name, "'\(module)' was not loaded again, its former code goes on: \(error.message)")
      return false
    case .reloaded(let modules, let copies):
      for module in modules { ccl_writeerror(name, "'\(module)' was loaded again") }
      for copy in copies { ccl_writeerror(name, "warning: \(copy)") }
    }
    return true
  }
}
