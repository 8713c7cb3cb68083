import Foundation
import LibC

/// A running program with an inspector, whose standard error stream the test reads.
final class InspectedProgram {
  let port: UInt16
  let token: String
  let process: ChildProcess
  private let folder: Folder
  private let errors: Int32
  private var isRunning = true

  /// The lines before the address of the inspector; a test fails with them if there is no address.
  struct NoAddress: Error { let text: String }

  /// Runs a script that stays alive, or ends by itself.
  init(
    _ script: String, _ options: String = "--inspect", environment: [String: String] = [:]
  ) throws {
    folder = try Folder(interpreter: Command.obsLua)
    try script.write(toFile: folder.path + "/a.lua", atomically: false, encoding: .utf8)
    let fifo = folder.path + "/errors"
    guard mkfifo(fifo, 0o600) == 0 else { throw POSIXError(.EIO) }
    errors = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    process = try ChildProcess(
      [
        "/bin/sh", "-c",
        "cd \(folder.path); exec <input >output 2>errors; exec ./lua \(options) a.lua",
      ], environment: environment)
    let text = Reading(errors).text { $0.contains("\n") }
    guard let address = text.firstMatch(of: /inspect: http:\/\/127.0.0.1:(\d+)\/#([0-9a-f]{32})\n/)
    else {
      kill(process.id, SIGKILL)
      _ = process.wait()
      throw NoAddress(text: text)
    }
    (port, token) = (UInt16(address.1)!, String(address.2))
  }

  deinit {
    end()
    close(errors)
    folder.remove()
  }

  /// Kills the program.
  func end() {
    guard isRunning else { return }
    kill(process.id, SIGKILL)
    _ = wait()
  }

  /// Waits for the end of the program, and returns its status.
  func wait() -> Int32 {
    isRunning = false
    return process.wait()
  }

  /// What the program has written to the standard output.
  var output: String { folder.contents(of: "output") }

  /// Makes an empty file in the folder of the program.
  func create(_ file: String) {
    _ = FileManager.default.createFile(atPath: folder.path + "/" + file, contents: nil)
  }

  /// The bytes of memory that the program uses.
  var residentMemory: Int {
    let statm = (try? String(contentsOfFile: "/proc/\(process.id)/statm", encoding: .utf8)) ?? ""
    return (statm.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
  }

  func connect() -> PageConnection { PageConnection(port) }

  /// The whole answer to a request that is sent as it is.
  func answer(to request: String) -> String {
    let connection = connect()
    connection.send(request)
    return connection.rest()
  }

  /// The header fields that the page of the program sends.
  var fields: String {
    "Host: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n"
  }

  /// The status and body of the answer to a request of the page.
  func get(_ path: String) -> (status: Int, body: String) {
    split(answer(to: "GET \(path) HTTP/1.1\r\n\(fields)\r\n"))
  }

  func post(_ path: String, _ body: String) -> (status: Int, body: String) {
    split(
      answer(
        to: "POST \(path) HTTP/1.1\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"))
  }

  private func split(_ answer: String) -> (status: Int, body: String) {
    let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    return (status(of: answer), parts.count < 2 ? "" : String(parts[1]))
  }

  /// Begins to read events, and returns the connection after the head of the answer.
  func events(after number: Int? = nil) -> PageConnection {
    let connection = connect()
    let last = number.map { "Last-Event-ID: \($0)\r\n" } ?? ""
    connection.send("GET /events HTTP/1.1\r\n\(fields)\(last)\r\n")
    return connection
  }
}

/// The status of an answer; 0 without an answer.
func status(of answer: String) -> Int {
  guard answer.hasPrefix("HTTP/1.1 ") else { return 0 }
  return Int(answer.dropFirst(9).prefix(3)) ?? 0
}

/// A connection to an inspector.
final class PageConnection {
  private let socket: Int32

  init(_ port: UInt16) {
    socket = LibC.socket(AF_INET, streamSocket, 0)
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        LibC.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  deinit { close(socket) }

  /// Sends a text, or as much of it as the other side takes.
  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        LibC.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Reads until the text satisfies a condition, or the other side ends.
  func text(until isEnough: (String) -> Bool) -> String { Reading(socket).text(until: isEnough) }

  /// Reads until the other side ends.
  func rest() -> String { text { _ in false } }
}

/// Reads from a descriptor, with a deadline.
struct Reading {
  private let descriptor: Int32
  /// Milliseconds without input after which the other side counts as hung.
  private static let patience: Int32 = 20_000

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Reads until the last part of the text satisfies a condition, or until the end or the deadline.
  func text(until isEnough: (String) -> Bool) -> String {
    var bytes: [UInt8] = []
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let count = poll(&entry, 1, Self.patience)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let length = read(descriptor, &buffer, buffer.count)
      if length < 0, errno == EINTR || errno == EAGAIN { continue }
      guard length > 0 else { break }
      bytes += buffer[..<length]
      // A condition is about a line, which may have arrived in two parts.
      if isEnough(String(decoding: bytes.suffix(length + 1000), as: UTF8.self)) { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
