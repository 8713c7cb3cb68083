import Foundation
import Observables
import Testing

/// D1–D4: recordings of Swift objects.
struct RunRecordingTests {
  private let loop = Loop(clock: .virtual)
  private let path = NSTemporaryDirectory() + "obs-recording-" + UUID().uuidString

  /// The lines that `body` leaves in a recording, without the first one.
  private func lines(
    _ options: RunRecordingOptions = RunRecordingOptions(), _ body: () throws -> Void
  ) throws -> [[Any]] {
    defer { try? FileManager.default.removeItem(atPath: path) }
    let recording = try loop.startRecording(to: path, options)
    try body()
    recording.stop()
    #expect(!recording.isActive)
    return try read()
  }

  private func read() throws -> [[Any]] {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    return try text.split(separator: "\n").dropFirst().map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [Any])
    }
  }

  private func all(_ kind: String, of lines: [[Any]]) -> [[Any]] {
    lines.filter { $0[0] as? String == kind }
  }

  /// The elements of a line as text, without its kind and the last `count`.
  private func text(_ line: [Any]?, without count: Int = 0) throws -> String {
    let elements = try #require(line).dropFirst().dropLast(count)
    let data = try JSONSerialization.data(withJSONObject: Array(elements), options: .sortedKeys)
    return String(decoding: data, as: UTF8.self)
  }

  // D2, D3
  @Test func `a call names the writes that led to it`() throws {
    let person = Person("Ann")
    try person.observe("name", in: loop) { person in person.score = 1 }
    try person.observe("score", in: loop) { _ in }
    let lines = try lines {
      loop.turn {
        person.name = "Bob"
        person.name = "Eve"
        person.age = 3
      }
    }
    let writes = all("write", of: lines)
    let texts = try writes.map { try text($0, without: 1) }
    #expect(
      texts == [
        #"[1,1,"name","Ann","Bob"]"#, #"[2,1,"name","Bob","Eve"]"#, #"[3,1,"score",0,1]"#,
      ])
    #expect(all("call", of: lines).map { $0[2] as? [Int] } == [[1, 2], [3]])
    #expect(all("return", of: lines).count == 2)
    #expect(all("turn", of: lines).map { $0[2] as? String } == ["host"])
    #expect(try text(all("object", of: lines).last).contains(#"["name","Ann"]"#))
  }

  // D1
  @Test func `recording changes no turns and no calls`() throws {
    func counts(of loop: Loop, _ person: Person) throws -> [Int] {
      let list = ObservableArray([1, 2, 3])
      try person.observe("**", in: loop) { person in person.score += 1 }
      try list.observe("@sum", in: loop) { _ in }
      for age in 1...5 {
        loop.after(Double(age)) {
          person.age = age
          list.append(age)
        }
      }
      loop.run()
      return [loop.statistics.turns, loop.statistics.calls, loop.statistics.watchers]
    }
    let plain = try counts(of: Loop(clock: .virtual), Person("Ann"))
    var recorded: [Int] = []
    _ = try lines { recorded = try counts(of: loop, Person("Ann")) }
    #expect(recorded == plain)
  }

  // D3
  @Test func `edits of arrays are steps, and the contents can be rebuilt`() throws {
    var random = SystemRandomNumberGenerator()
    let list = ObservableArray((0..<5).map { $0 })
    try list.observe("*", in: loop) { _ in }
    let lines = try lines {
      for _ in 0..<300 {
        loop.turn {
          let place = Int.random(in: 0...list.count, using: &random)
          switch Int.random(in: 0..<8, using: &random) {
          case 0, 1: list.insert(Int.random(in: 0..<9, using: &random), at: place)
          case 2 where place < list.count: list.remove(at: place)
          case 3 where place < list.count: list[place] = Int.random(in: 0..<9, using: &random)
          case 4 where place < list.count: list.swapAt(place, list.count - 1)
          case 5: list.sort()
          case 6: list.append(contentsOf: [7, 8])
          default: list.reverse()
          }
        }
      }
    }
    var rebuilt: [Int]?
    for line in lines where line.count > 4 {
      switch line[0] as? String {
      case "object": rebuilt = (line[4] as? [[Any]])?.map { $0[1] as! Int } ?? rebuilt
      case "write": rebuilt?[(line[3] as! Int) - 1] = line[5] as! Int
      case "edit":
        let place = (line[4] as! Int) - 1
        switch line[3] as? String {
        case "insert": rebuilt?.insert(line[5] as! Int, at: place)
        case "remove": rebuilt?.remove(at: place)
        case "replace": rebuilt?[place] = line[5] as! Int
        default: rebuilt = (line[5] as! [[Any]]).map { $0[1] as! Int }
        }
      default: break
      }
    }
    #expect(rebuilt == Array(list))
  }

  // D3
  @Test func `dictionaries, sets and lazy properties are recorded`() throws {
    let dictionary: ObservableDictionary<String, Int> = ["a": 1]
    let set: ObservableSet<Int> = [1]
    let cell = Cell(1)
    try dictionary.observe("*", in: loop) { _ in }
    try set.observe("*", in: loop) { _ in }
    try cell.observe("value", in: loop) { _ in }
    let lines = try lines {
      loop.turn {
        dictionary["b"] = 2
        set.insert(5)
        cell.source = 4
      }
    }
    let writes = try all("write", of: lines).map { try text($0, without: 1) }
    #expect(writes.contains { $0.hasSuffix(#""b",null,2]"#) })
    #expect(writes.contains { $0.contains(",5,") })
    let compute = try #require(all("compute", of: lines).last)
    #expect(try text(compute, without: 2).hasSuffix(",1,4]"))
  }

  // D4
  @Test func `values can be hidden or left out`() throws {
    let person = Person("Ann")
    try person.observe("*", in: loop) { _ in }
    var options = RunRecordingOptions()
    options.hiddenKeys = ["name"]
    let hidden = try lines(options) {
      loop.turn {
        person.name = "secret"
        person.age = 1
      }
    }
    #expect(
      try text(hidden.first { $0[0] as? String == "write" }, without: 1)
        == #"[1,1,"name",{"hidden":true},{"hidden":true}]"#)
    let texts = try hidden.map { try text($0) }
    #expect(!texts.contains { $0.contains("secret") })
    options = RunRecordingOptions()
    options.values = .none
    let none = try lines(options) { loop.turn { person.name = "other" } }
    #expect(
      try text(none.first { $0[0] as? String == "write" }, without: 1).hasSuffix(
        #""name",{"u":1},{"u":1}]"#))
  }

  // D3
  @Test func `the end of the loop ends a recording`() throws {
    defer { try? FileManager.default.removeItem(atPath: path) }
    var loop: Loop? = Loop(clock: .virtual)
    let recording = try loop!.startRecording(to: path)
    let person = Person("Ann")
    try person.observe("name", in: loop!) { _ in }
    loop!.turn { person.name = "Bob" }
    loop = nil
    #expect(!recording.isActive)
    recording.stop()
    #expect(try read().last?[0] as? String == "stopped")
  }

  @Test func `a file that cannot be opened is an error that names it`() throws {
    let error = #expect(throws: RunRecordingError.self) {
      try loop.startRecording(to: "/nonexistent/file")
    }
    #expect(error?.description == "cannot record to '/nonexistent/file': No such file or directory")
    try "precious".write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(throws: RunRecordingError.self) { try loop.startRecording(to: path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
  }
}
