import Foundation
import ObservableModels
import Synchronization
import Testing

@ObservableModel private final class Note {
  var text = ""
  var next: Note?
  @LazyProperty var other: Note?
  private static func makeOther() -> Note { Note() }
}

@ObservableModel(.threadSafe) private final class Meter {
  var count = 0
}

/// Everything that accepts a path as text accepts a checked path, too.
struct TypedPathTests {
  private let loop = Loop(clock: .virtual)

  /// The declarations in a file of the library that accept a path: name, labels of the arguments,
  /// and the kind of the callback.
  private func takers(_ type: String, in text: String) throws -> Set<String> {
    let declaration = try Regex(
      #"public (?:final |convenience )*(func \w+|init)(?:<[^(]*>)?\(([^{=]*(?:=[^{=]*)*)\{"#)
    let parameter = try Regex(
      #"(?:_|\w+) ?\w*: (\[?)"# + type + #"(?:<[^>]*(?:<[^>]*>)?[^>]*>)?\??[\],) ]"#)
    let label = try Regex(#"(?:^|, |\(\s*|,\s+)(\w+)(?: \w+)?: "#)
    var found: Set<String> = []
    for match in text.matches(of: declaration) {
      let parameters = String(match.output[2].substring!)
      guard let path = parameters.firstMatch(of: parameter) else { continue }
      let labels = parameters.matches(of: label).map { String($0.output[1].substring!) }
        .filter { !["as", "file", "line", "old", "new"].contains($0) }
      let several = path.output[1].substring!.isEmpty ? "" : "[]"
      let kind = parameters.contains(" async ") ? " async" : ""
      found.insert(
        "\(match.output[1].substring!)(\(labels.joined(separator: ":")))\(several)\(kind)")
    }
    return found
  }

  @Test func `each declaration that accepts text also accepts a checked path`() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/Observables")
    var (texts, checked): (Set<String>, Set<String>) = ([], [])
    for case let file as URL in FileManager.default.enumerator(
      at: sources, includingPropertiesForKeys: nil)!
    where file.pathExtension == "swift" && !file.path.contains("/Engine/")
      && !file.path.contains("+Refusals")
    {
      let text = try String(contentsOf: file, encoding: .utf8)
      texts.formUnion(try takers("Path", in: text))
      checked.formUnion(try takers("(?:Partial)?KeyPathTo", in: text))
    }
    // The first makes a checked path. The others belong to the declaration of a model, which must
    // be complete before the compiler can check a path by it.
    texts.subtract(["init(unchecked)", "init(_)", "init(_:_)"])
    // A watcher does not know the type of its root, and a loop of another thread reports an error
    // in a path: both accept the text of a checked path.
    texts = texts.filter { !$0.contains(":on:") && $0 != "func observe(_:_)" }
    #expect(texts.count > 8)
    #expect(texts.subtracting(checked) == [])
  }

  @Test func `a watcher and a task accept a checked path`() async throws {
    let note = Note()
    var events: [String] = []
    let watcher = note.observe(#path(\.text), in: loop) { events.append("watcher \($0.text)") }
    try watcher.observe(#path(\Note.next?.text).path, #path(\Note.other?.text).path)
    note.observe(#path(\.text), in: loop) { note in
      await Task.yield()
      events.append("task \(note.text)")
    }
    loop.turn { note.text = "a" }
    loop.run()
    #expect(events == ["watcher a", "task a"])
    loop.turn { note.next = Note() }
    #expect(events.count == 3)
    #expect(throws: PathError.self) { try watcher.observe(#path(\Meter.count).path) }
  }

  @Test func `values for a task of any thread accept it, and so does a throwing callback`()
    async throws
  {
    struct Failure: Error {}
    let meter = Meter()
    var errors: [String] = []
    loop.onError = { errors.append("\(type(of: ($0 as? WatcherError)?.underlying))") }
    let counts = meter.values(#path(\.count), on: loop.inbox)
    meter.observe(#path(\Meter.count).path, on: loop.inbox) { _ in throw Failure() }
    meter.observe(#path(\.count), in: loop) { _ in throw Failure() }
    loop.run()
    var iterator = counts.makeAsyncIterator()
    #expect(await iterator.next() == 0)
    loop.turn { meter.count = 3 }
    #expect(await iterator.next() == 3)
    #expect(errors == ["Optional<Error>", "Optional<Error>"])
  }
}
