import Foundation
import Observables
import TreeMirrors

/// Writes the state of robots, as lines of the standard input tell it: "r1 battery 80", "r1 task
/// dig".
///
/// It answers each line when the server has the change, or at once while the server is away.
final class Writer {
  private let loop = Loop()
  private let fleet = Fleet()
  private let mirror: TreeMirror
  private var input: DescriptorHandler?
  private var text = ""

  init(at url: String, journal: String) throws {
    var options = TreeMirror.Options()
    options.journal = journal
    mirror = try TreeMirror(of: fleet, named: "fleet", at: url, options, in: loop)
    mirror.onWarning = { _ in }
  }

  func run() {
    whenever({ $0.state == .live }) { [self] in
      say("live with \(fleet.robots.count) robots")
      input = try? loop.onReadable(STDIN_FILENO) { [self] in read() }
    }
    loop.run()
  }

  private func read() {
    let data = FileHandle.standardInput.availableData
    if data.isEmpty {
      input?.stop()
      return whenSettled { $0.mirror.stop() }
    }
    text += String(decoding: data, as: UTF8.self)
    while let end = text.firstIndex(of: "\n") {
      handle(String(text[..<end]))
      text.removeSubrange(...end)
    }
  }

  private func handle(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    guard words.count == 3, words[1] == "task" || words[1] == "battery" && Int(words[2]) != nil
    else { return say("'\(line)' is neither NAME battery PERCENT nor NAME task WORD") }
    let robot = fleet.robots[words[0]] ?? Robot(battery: 100)
    if fleet.robots[words[0]] == nil { fleet.robots[words[0]] = robot }
    if let percent = Int(words[2]), words[1] == "battery" {
      robot.battery = percent
    } else {
      robot.task = words[2]
    }
    whenSettled { writer in
      writer.say(writer.mirror.pending == 0 ? line : "\(line) (kept until the server is back)")
    }
  }

  /// Calls `body` after this turn, when the server has all changes or is away.
  private func whenSettled(_ body: @escaping (Writer) -> Void) {
    loop.nextTurn { [self] in
      whenever({ $0.pending == 0 || $0.state == .offline }) { [self] in body(self) }
    }
  }

  /// Calls `body` once, when the mirror stands as it should.
  private func whenever(_ condition: @escaping (TreeMirror) -> Bool, _ body: @escaping () -> Void) {
    if condition(mirror) { return body() }
    var watcher: Watcher?
    watcher = try? mirror.changes(in: loop) { mirror, _ in
      guard condition(mirror) else { return }
      watcher?.stop()
      body()
    }
  }

  private func say(_ text: String) {
    FileHandle.standardOutput.write(Data("writer: \(text)\n".utf8))
  }
}
