import Foundation
import LibC
import Testing

/// C modules see observed tables as scripts do (M1), and stay loaded (M3).
///
/// `Modules` contains the scripts. They need Debian's packages of the modules, which `Scripts/test`
/// installs.
struct ModuleTests {
  private static let folder =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Modules"

  /// The scripts in a folder below `Modules`.
  private static func scripts(in subfolder: String) -> [String] {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder + subfolder)
    return (files ?? []).filter { $0.hasSuffix(".lua") }.sorted()
  }

  /// Builds the C module of the tests unless it exists, and returns its folder.
  private static let library = Result {
    let library = Command.obsLua + "-modules"
    // The compiler that comes with Swift.
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let compilers = path.split(separator: ":").map { String($0) + "/clang" }
    let compiler = compilers.first { access($0, X_OK) == 0 } ?? "clang"
    let made = try Command(
      """
      mkdir -p \(library) && \(compiler) -shared -fPIC -O1 -fuse-ld=lld -o module.so \
        \(folder)/Support/rawaccess.c && mv module.so \(library)/rawaccess.so
      """
    ).run()
    guard made.status == 0 else { throw Failure(description: "not compiled: \(made)") }
    return library
  }

  private struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// Runs a script in a new directory, where it may use the folder `work`.
  private func run(
    _ arguments: String, with interpreter: String = Command.obsLua
  ) throws -> Command.Outcome {
    let library = try Self.library.get()
    return try Command(
      """
      mkdir work; cd work; LUA_PATH='\(Self.folder)/Support/?.lua;;' \
        LUA_CPATH='\(library)/?.so;;' ../lua \(arguments)
      """
    ).run(interpreter)
  }

  @Test(arguments: scripts(in: ""), ["plain", "whole", "keys"])
  func `a module gives the same results as with lua5.4, whatever is observed`(
    script: String, how: String
  ) throws {
    let lua = try #require(Command.lua, "lua5.4 is not installed")
    let (runner, path) = (Self.folder + "/Support/run.lua", Self.folder + "/" + script)
    let expected = try run("\(runner) plain \(path) .", with: lua)
    #expect(expected.status == 0 && expected.errors.isEmpty, "\(expected)")
    #expect(try run("\(runner) \(how) \(path) .") == expected)
  }

  @Test(arguments: scripts(in: "/Heard"))
  func `writes of C modules are reported`(script: String) throws {
    let outcome = try run("\(Self.folder)/Heard/\(script)")
    #expect(outcome.errors == "")
    #expect(outcome.output.hasPrefix("ok ") && outcome.status == 0, "\(outcome)")
  }

  // M3
  @Test(arguments: ["", "-l obs"])
  func `a thread of a module goes on when the state is closed`(option: String) throws {
    let outcome = try run("\(option) -e \"require('rawaccess').start() print 'end'\"")
    #expect(outcome == .init(output: "end\n", errors: "", status: 0))
  }

  @Test func `the folder contains scripts`() {
    #expect(Self.scripts(in: "").count >= 10 && Self.scripts(in: "/Heard").count >= 4)
  }
}
