import Foundation
import ScriptFixtures
import Testing

/// Each kind of failure is reported with its place.
struct FailureTests {
  @Test func `every check that fails is reported at its line`() throws {
    let script = try String(contentsOf: folder.appending(path: "checks.lua"), encoding: .utf8)
    let expected = script.split(separator: "\n").enumerated().compactMap { line, text in
      text.firstRange(of: "--> ").map { "checks.lua:\(line + 1): \(text[$0.upperBound...])" }
    }
    #expect(failures(of: "checks.lua").map { $0.prefix { $0 != "\n" } } == expected.map { $0[...] })
  }

  @Test func `differences are listed by their paths`() {
    let text = """
      differences.lua:1: 3 differences
        b[1]: "x", expected nil
        c: nil, expected 3
        a: 1, expected nil
      """
    #expect(failures(of: "differences.lua") == [text])
  }

  @Test func `an error that ends the script is reported at its line, with a traceback`() {
    let text = """
      raised.lua:1: out of tea
      stack traceback:
      \t[C]: in function 'error'
      \tFailing/raised.lua:1: in local 'inner'
      \tFailing/raised.lua:4: in main chunk
      """
    #expect(failures(of: "raised.lua") == [text])
  }

  @Test func `an error in a loaded file is reported at the line of the fixture that led there`() {
    #expect(places("raised-elsewhere.lua") == ["raised-elsewhere.lua:3"])
    #expect(failures(of: "raised-elsewhere.lua")[0].contains("Support/raising.lua:2: raised"))
  }

  @Test func `a check in a loaded file is reported at the line of the fixture that led there`() {
    let text = """
      checked-elsewhere.lua:3: checked elsewhere: false
        at Failing/Support/raising.lua:3
        at Failing/checked-elsewhere.lua:3
      """
    #expect(failures(of: "checked-elsewhere.lua") == [text])
  }

  @Test func `an error value without a position is reported at the line of the traceback`() {
    #expect(places("table.lua") == ["table.lua:3"])
  }

  @Test func `a syntax error is reported at its line`() {
    #expect(failures(of: "syntax.lua") == ["syntax.lua:2: <name> expected near '='"])
  }

  // T10
  @Test func `an error in a watcher is reported at its line, and names watcher and write`() {
    #expect(places("watcher.lua") == ["watcher.lua:4", "watcher.lua:5"])
    let text = failures(of: "watcher.lua")[1]
    #expect(text.contains("in watcher Failing/watcher.lua:3"))
    #expect(text.contains("caused by the write at Failing/watcher.lua:7"))
  }

  @Test func `an error in a timer is reported at its line, and the script continues`() {
    #expect(places("timer.lua") == ["timer.lua:3", "timer.lua:4"])
  }

  @Test func `failures in a task are reported at their lines`() {
    #expect(places("task.lua") == ["task.lua:4", "task.lua:5"])
  }

  // T4
  @Test func `watchers that trigger each other without end are reported`() {
    #expect(places("loop.lua") == ["loop.lua:5"])
  }

  @Test func `timers that repeat for ever are reported`() {
    let text = """
      endless.lua:1: 3600.0 s of virtual time after the script's end there are still timers; \
      stop repeating timers
      """
    #expect(failures(of: "endless.lua") == [text])
  }

  @Test func `a script that checks nothing fails`() {
    #expect(places("nothing.lua") == ["nothing.lua:1"])
  }

  @Test func `a script that fails in a loop is cut short`() {
    let failures = failures(of: "many.lua")
    #expect(failures.count == 101)
    #expect(failures.last == "many.lua:1: further failures are not shown")
  }

  @Test func `a path that Lua shortens is shown whole, with the line`() throws {
    let name = "of-a-package-that-is-not-below-the-current-directory-\(UUID())"
    let folder = FileManager.default.temporaryDirectory.appending(path: name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "long.lua")
    try "expect(true)\nerror('no tea')".write(to: file, atomically: true, encoding: .utf8)
    let issues = ScriptFixture.all(in: folder.path(), matching: "").flatMap { $0.issues() }
    #expect(issues.map(\.sourceLocation.line) == [2])
    #expect(issues.allSatisfy { $0.text.hasPrefix("\(file.path()):2: ") })
  }

  @Test func `an error of prepare is reported at the call of run`() throws {
    let fixture = ScriptFixture.all(in: "Fixtures", matching: "")[0]
    let here = #_sourceLocation
    let issues = fixture.issues { _ in throw Refusal() }
    let issue = try #require(issues.first)
    #expect(issues.count == 1 && issue.error is Refusal)
    #expect(issue.sourceLocation.line == here.line + 1)
    #expect(issue.sourceLocation.fileID == here.fileID)
  }

  @Test(arguments: ["Nowhere", "."]) func `a folder without fixtures fails`(name: String) {
    let issues = ScriptFixture.all(in: name, matching: "").flatMap { $0.issues() }
    #expect(issues.map { $0.text.prefix(12) } == ["there is no "])
  }

  @Test func `failures are recorded as issues of the test that runs the fixture`() throws {
    let (output, child) = (Pipe(), Process())
    child.executableURL = URL(filePath: CommandLine.arguments[0])
    child.arguments = [
      "--testing-library", "swift-testing", "--quiet", "--filter",
      "ScriptFixturesTests.Fixtures/pass",
    ]
    child.environment = ProcessInfo.processInfo.environment.merging(
      ["FIXTURE_FOLDER": "Failing", "FIXTURE": "differences", "NO_COLOR": "1"]
    ) { $1 }
    (child.standardOutput, child.standardError) = (output, output)
    try child.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    child.waitUntilExit()
    #expect(child.terminationStatus == 1)
    let issue = """
      recorded an issue with 1 argument fixture → differences.lua at differences.lua:1:1: \
      Issue recorded
      ↳ Tests/ScriptFixturesTests/Failing/differences.lua:1: 3 differences
          b[1]: "x", expected nil
      """
    #expect(String(decoding: text, as: UTF8.self).contains(issue))
  }

  private struct Refusal: Error {}

  private let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Failing")

  /// The issues of a fixture in the folder: "file:line: text", with paths relative to the folder.
  private func failures(of name: String) -> [String] {
    let fixtures = ScriptFixture.all(in: "Failing", matching: "").filter { $0.name == name }
    return fixtures.flatMap { $0.issues() }.map { issue in
      let place = "\(issue.sourceLocation.fileName):\(issue.sourceLocation.line)"
      var text = issue.text
      for prefix in [folder.path() + "/", "Tests/ScriptFixturesTests/Failing/"] {
        text = text.replacing(prefix, with: "Failing/")
      }
      // Lua shortens long paths.
      text = text.replacing(/\.\.\.[^ :]*\/Failing\//, with: "Failing/")
      return text.replacing("Failing/\(place):", with: "\(place):", maxReplacements: 1)
    }
  }

  private func places(_ name: String) -> [String] {
    failures(of: name).map {
      $0.split(separator: ":", maxSplits: 2).prefix(2).joined(separator: ":")
    }
  }
}
