import Foundation

/// An untrusted script in a separate, locked process.
///
/// It receives lines of Lua, and prints its answers; each line is a turn.
final class Plugin {
  private let name: String
  private let script: String
  private var process = Process()
  private var (input, output) = (Pipe(), Pipe())
  private var unread: [UInt8] = []

  init(_ name: String, _ script: String) throws {
    (self.name, self.script) = (name, script)
    try start()
  }

  private func start() throws {
    (process, input, output, unread) = (Process(), Pipe(), Pipe(), [])
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "obs-lua", "--sandbox=strict", "--turn-time=50ms", "-e", "_PROMPT = '' \(script)", "-i",
    ]
    (process.standardInput, process.standardOutput) = (input, output)
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  /// Calls the function `on_event` of the script, and returns its result.
  ///
  /// Nil if it fails or is stopped. A process that ends or is silent for ten seconds is restarted.
  func answer(to event: String) throws -> String? {
    // Each byte is escaped, so that no event can become code.
    let text = event.utf8.map { String(format: "\\x%02x", $0) }.joined()
    let lines = "print('answer ' .. on_event('\(text)'))\nprint('end')\n"
    try? input.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
    var answer: String?
    while let line = nextLine() {
      if line == "end" { return answer }
      if line.hasPrefix("answer ") { answer = String(line.dropFirst(7)) }
    }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    print("\(name) has ended, and is started again")
    try start()
    return nil
  }

  /// The next line that the script prints; nil if the process has ended or is silent.
  private func nextLine() -> String? {
    let descriptor = output.fileHandleForReading.fileDescriptor
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeSubrange(...end) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      var bytes = [UInt8](repeating: 0, count: 4096)
      guard poll(&polled, 1, 10_000) > 0, case let count = read(descriptor, &bytes, bytes.count),
        count > 0
      else { return nil }
      unread += bytes[..<count]
    }
  }

  /// Ends the process, as a script that exploits a fault of Lua could.
  func crash() { kill(process.processIdentifier, SIGKILL) }
}

// A process may have ended before a write to it.
signal(SIGPIPE, SIG_IGN)

let greeter = try Plugin("greeter", "function on_event(name) return 'Hello ' .. name end")
let counter = try Plugin("counter", "local n = 0 function on_event() n = n + 1 return n end")
let looper = try Plugin("looper", "function on_event() while true do end end")
let spy = try Plugin("spy", "function on_event() return tostring(io) end")

print(try greeter.answer(to: "Ada") ?? "no answer")
print(try counter.answer(to: "x") ?? "no answer", try counter.answer(to: "x") ?? "no answer")
print(try looper.answer(to: "x") ?? "no answer", try spy.answer(to: "x") ?? "no answer")
counter.crash()
print(try counter.answer(to: "x") ?? "no answer", try counter.answer(to: "x") ?? "no answer")
print(try greeter.answer(to: "Grace") ?? "no answer")
