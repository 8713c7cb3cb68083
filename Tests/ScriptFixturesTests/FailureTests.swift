import Foundation
import ScriptFixtures
import Synchronization
import Testing

/// Each kind of failure is reported, and where it happened.
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

  @Test func `an error that ends the script is reported where it was raised, with a traceback`() {
    let text = """
      raised.lua:1: out of tea
      stack traceback:
      \t[C]: in function 'error'
      \tFailing/raised.lua:1: in local 'inner'
      \tFailing/raised.lua:4: in main chunk
      """
    #expect(failures(of: "raised.lua") == [text])
  }

  @Test func `an error in a file that the fixture loaded is reported at the line that led there`() {
    #expect(places("raised-elsewhere.lua") == ["raised-elsewhere.lua:3"])
    #expect(failures(of: "raised-elsewhere.lua")[0].contains("Support/raising.lua:2: raised"))
  }

  @Test func `a check in such a file is reported at the line that led there`() {
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

  @Test func `an error in a timer is reported at its line, and the script goes on`() {
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
      stop those that repeat
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
    withKnownIssue {
      for fixture in ScriptFixture.all(in: folder.path()) { fixture.run() }
    } matching: { issue in
      issue.sourceLocation?.line == 2
        && issue.comments.map(\.rawValue).joined().hasPrefix("\(file.path()):2: ")
    }
  }

  @Test func `an error of prepare is reported where run was called`() {
    let here = #_sourceLocation
    withKnownIssue {
      ScriptFixture.all()[0].run { _ in throw Refusal() }
    } matching: { issue in
      issue.error is Refusal && issue.sourceLocation?.line == here.line + 2
        && issue.sourceLocation?.fileID == here.fileID
    }
  }

  @Test(arguments: ["Nowhere", "."]) func `a folder without fixtures fails`(name: String) {
    withKnownIssue {
      for fixture in ScriptFixture.all(in: name) { fixture.run() }
    } matching: { issue in
      issue.comments.map(\.rawValue).joined().contains("there is no ")
    }
  }

  private struct Refusal: Error {}

  private let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "Failing")

  /// What is recorded of a fixture in the folder: "file:line: text", paths from the folder on.
  private func failures(of name: String) -> [String] {
    let found = Mutex<[String]>([])
    withKnownIssue {
      for fixture in ScriptFixture.all(in: "Failing") where fixture.name == name { fixture.run() }
    } matching: { issue in
      let place = issue.sourceLocation.map { "\($0.fileName):\($0.line)" } ?? "?"
      var text = issue.comments.map(\.rawValue).joined()
      for prefix in [folder.path() + "/", "Tests/ScriptFixturesTests/Failing/"] {
        text = text.replacing(prefix, with: "Failing/")
      }
      // Lua shortens long paths.
      text = text.replacing(/\.\.\.[^ :]*\/Failing\//, with: "Failing/")
      found.withLock {
        $0.append(text.replacing("Failing/\(place):", with: "\(place):", maxReplacements: 1))
      }
      return true
    }
    return found.withLock { $0 }
  }

  private func places(_ name: String) -> [String] {
    failures(of: name).map {
      $0.split(separator: ":", maxSplits: 2).prefix(2).joined(separator: ":")
    }
  }
}
