import Foundation
import LibC
import Testing

/// A line for the shell in which `$L` runs an interpreter under the name `lua`.
struct Command: CustomTestStringConvertible {
  /// The output, errors and status of a process.
  struct Outcome: Equatable, CustomStringConvertible {
    var output: String
    var errors: String
    var status: Int32

    var description: String { "\(status) \(output.debugDescription) \(errors.debugDescription)" }
  }

  var line: String

  init(_ line: String) { self.line = line }

  var testDescription: String { line }

  /// Runs the line in a new directory, in which the interpreter is `./lua`, and waits for its end.
  func run(_ interpreter: String = Command.obsLua) throws -> Outcome {
    let folder = try Folder(interpreter: interpreter)
    defer { folder.remove() }
    let process = try ChildProcess(
      ["/bin/sh", "-c", "cd \(folder.path); L=./lua; exec <input >output 2>errors; \(line)"])
    let status = process.wait()
    return Outcome(
      output: folder.contents(of: "output"), errors: folder.contents(of: "errors"), status: status)
  }

  /// The program under test: the one that `OBS_LUA_PROGRAM` names, such as one with a sanitizer, or
  /// the release program, which `Scripts/test` builds before it runs these tests.
  static let obsLua: String = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let chosen = ProcessInfo.processInfo.environment["OBS_LUA_PROGRAM"]
    let program =
      chosen.map { URL(fileURLWithPath: $0) }
      ?? root.appending(path: ".build-static/release/obs-lua")
    precondition(access(program.path, X_OK) == 0, "Scripts/run builds \(program.path)")
    return program.standardized.path
  }()

  /// Whether signals reach a busy program only at its next system call: under the thread sanitizer.
  static let delaysSignals = dlsym(nil, "__tsan_init") != nil

  /// Whether freed memory is reused soon: not under the sanitizers.
  static let reusesMemory = dlsym(nil, "__asan_init") == nil && !delaysSignals
}

/// A new directory with an empty `input`, and the interpreter as `lua`.
struct Folder {
  let path: String

  init(interpreter: String) throws {
    path = NSTemporaryDirectory() + "obs-lua-tests-" + UUID().uuidString
    let files = FileManager.default
    try files.createDirectory(atPath: path, withIntermediateDirectories: true)
    try files.createSymbolicLink(atPath: path + "/lua", withDestinationPath: interpreter)
    try Data().write(to: URL(fileURLWithPath: path + "/input"))
  }

  func contents(of file: String) -> String {
    let data = FileManager.default.contents(atPath: path + "/" + file) ?? Data()
    return String(decoding: data, as: UTF8.self)
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
