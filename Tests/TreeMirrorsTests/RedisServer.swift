import Foundation
import LibC
import Testing

/// A server of its own for a test, on the loopback device; it ends with the test.
final class RedisServer {
  let folder: URL
  let port: Int
  private let options: [String]
  private let hasDisk: Bool
  private var process: Process?

  var url: String { "redis://127.0.0.1:\(port)" }

  /// Starts a server that keeps its data, and waits until it answers.
  ///
  /// - Parameter hasDisk: Whether its data is on a disk of its own, of one megabyte, which no other
  ///   process sees.
  init(_ options: [String] = [], hasDisk: Bool = false) throws {
    self.hasDisk = hasDisk
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    port = try freePort()
    self.options = options
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  func start() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: hasDisk ? "/usr/bin/unshare" : "/usr/bin/env")
    let mount = "mount -t tmpfs -o size=1m tmpfs \(folder.path) && exec \"$@\""
    process.arguments =
      (hasDisk ? ["--map-root-user", "--mount", "sh", "-c", mount, "sh"] : [])
      + [
        "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly",
        "yes", "--dir",
        folder.path, "--logfile", folder.appendingPathComponent("log").path,
      ] + options
    process.standardInput = FileHandle.nullDevice
    try process.run()
    self.process = process
    // It refuses connections until it listens, and answers with an error until its data is loaded.
    while !["PONG", "NOAUTH Authentication required."].contains(try? command("PING")) {
      try #require(process.isRunning, "redis-server did not start; its log is in \(folder.path)")
      usleep(2000)
    }
  }

  /// The folder of a disk of the server's own, as other processes reach it.
  var disk: URL {
    URL(fileURLWithPath: "/proc/\(process?.processIdentifier ?? 0)/root\(folder.path)")
  }

  /// Whether this process may make a disk that only one process sees.
  static let mayHaveDisk: Bool = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
    process.arguments = ["--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  /// Ends the server as a failure of its machine's power would, except that the system writes what
  /// it has.
  func kill() {
    guard let process else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    self.process = nil
  }

  /// Runs a command, and returns what redis-cli prints.
  @discardableResult
  func command(_ arguments: String...) throws -> String {
    let cli = Process()
    let output = Pipe()
    cli.executableURL = URL(fileURLWithPath: "/usr/bin/redis-cli")
    cli.arguments = ["-p", "\(port)"] + arguments
    cli.standardOutput = output
    cli.standardError = FileHandle.nullDevice
    cli.standardInput = FileHandle.nullDevice
    try cli.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    cli.waitUntilExit()
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
  }
}

/// Whether the server has no newer version: an acknowledged batch may still be on its way back.
func isNewest(_ version: Int, of name: String, at url: String) -> Bool {
  let parts = url.split(separator: ":").last?.split(separator: "/").first ?? ""
  guard let port = Int(parts) else { return true }
  let descriptor = socket(AF_INET, streamSocket, 0)
  defer { close(descriptor) }
  guard withLoopbackAddress(port, { connect(descriptor, $0, $1) }) == 0 else { return false }
  let login = url.contains("@") ? "AUTH secret\r\n" : ""
  let command = Array("\(login)HGET obs:{\(name)}:m v\r\nQUIT\r\n".utf8)
  guard send(descriptor, command, command.count, Int32(MSG_NOSIGNAL)) == command.count else {
    return false
  }
  var (text, buffer) = ("", [UInt8](repeating: 0, count: 256))
  while true {
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count <= 0 { break }
    text += String(decoding: buffer[..<count], as: UTF8.self)
  }
  return text.contains("\r\n\(version)\r\n")
}

/// Calls `body` with the address of a port on the loopback device.
func withLoopbackAddress(
  _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = UInt16(port).bigEndian
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
}

/// A port that was free a moment ago.
func freePort() throws -> Int {
  let descriptor = socket(AF_INET, streamSocket, 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isBound = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
    }
  }
  try #require(isBound)
  return Int(UInt16(bigEndian: address.sin_port))
}
