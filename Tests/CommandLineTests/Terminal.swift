import Foundation
import LibC

/// A pseudoterminal that runs an interpreter.
final class Terminal {
  private let controller: Int32
  private let process: ChildProcess
  /// Milliseconds without output after which the interpreter counts as hung, and is killed.
  private static let patience: Int32 = 20_000
  private var received: [UInt8] = []
  /// The length of `received` when the test last typed.
  private var answered = 0

  /// Starts an interpreter on a terminal with a number of rows of 80 columns; 0 for unknown ones.
  init(
    _ interpreter: String, _ arguments: [String] = [], environment: [String: String] = [:],
    rows: UInt16 = 0
  ) throws {
    var controller: Int32 = -1
    var end: Int32 = -1
    var name = [CChar](repeating: 0, count: 128)
    var size = winsize(ws_row: rows, ws_col: rows > 0 ? 80 : 0, ws_xpixel: 0, ws_ypixel: 0)
    guard openpty(&controller, &end, &name, nil, &size) == 0 else { throw POSIXError(.ENOTTY) }
    self.controller = controller
    for descriptor in [controller, end] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    process = try ChildProcess(
      [interpreter] + arguments,
      terminal: name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) },
      environment: environment)
    close(end)
  }

  deinit { close(controller) }

  /// The complete output of the interpreter, with the terminal's echo.
  var transcript: String { String(decoding: received, as: UTF8.self) }

  /// Types a text once `prompt` has appeared since the last text.
  func type(_ text: String, after prompt: String) {
    guard wait(for: prompt) else { return }
    let bytes = Array(text.utf8)
    _ = write(controller, bytes, bytes.count)
  }

  /// Sends a signal to the interpreter once `prompt` has appeared since the last text.
  func send(_ signal: Int32, after prompt: String) {
    if wait(for: prompt) { kill(process.id, signal) }
  }

  private func wait(for prompt: String) -> Bool {
    while !received[answered...].contains(Array(prompt.utf8)) {
      guard read() else { return false }
    }
    answered = received.count
    return true
  }

  /// Reads the rest of the output, and returns the exit status.
  func finish() -> Int32 {
    while read() {}
    return process.wait()
  }

  private func read() -> Bool {
    var controllerIsReady = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
    guard poll(&controllerIsReady, 1, Self.patience) != 0 else {
      kill(process.id, SIGKILL)
      return false
    }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = LibC.read(controller, &bytes, bytes.count)
    guard count > 0 else { return count < 0 && errno == EINTR }
    received += bytes[..<count].filter { $0 != UInt8(ascii: "\r") }
    return true
  }
}
