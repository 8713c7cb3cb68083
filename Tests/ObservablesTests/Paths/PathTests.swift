import Testing

@testable import Observables

struct PathTests {
  private func components(_ text: String) throws -> [String] {
    try Path(text).components.map { "\($0.kind):\($0.name)" }
  }

  private func failure(_ text: String) -> PathError? {
    do {
      _ = try Path(text)
      return nil
    } catch {
      return error
    }
  }

  // P1
  @Test func `text is split at dots`() throws {
    #expect(try components("address.zip") == ["name:address", "name:zip"])
  }

  // P1
  @Test func `an escaped dot belongs to the name, and an escaped backslash is one`() throws {
    #expect(try components(#"a\.b.c\\d"#) == ["name:a.b", #"name:c\d"#])
  }

  // P1, P2
  @Test func `an escaped mark is an ordinary name`() throws {
    #expect(
      try components(##"\*.\#1.\12.\@sum.\&x"##) == [
        "name:*", "name:#1", "name:12", "name:@sum", "name:&x",
      ])
  }

  // P2
  @Test func `all kinds of components differ`() throws {
    #expect(
      try components("a.*.#3.12.&id.@sum.count") == [
        "name:a", "every:*", "slot:3", "element:12", "member:id", "operation:sum", "name:count",
      ])
  }

  // P2
  @Test func `marks in the middle of a name mean nothing`() throws {
    #expect(
      try components("a*.b#1.c@d.1x.&.@") == [
        "name:a*", "name:b#1", "name:c@d", "name:1x", "name:&", "name:@",
      ])
  }

  // P1
  @Test func `malformed paths name their error, the component and its place`() {
    let failures = ["", ".", "a.", ".a", "a..b", "#", "a.#x", "a.#", #"a\"#, "a.#-1"].map { text in
      failure(text).map { "\(text) \($0.code) \($0.component)@\($0.offset)" } ?? text
    }
    #expect(
      failures == [
        " emptyPath 1@0", ". emptyComponent 1@0", "a. emptyComponent 2@2", ".a emptyComponent 1@0",
        "a..b emptyComponent 2@2", "# missingNumber 1@0", "a.#x missingNumber 2@2",
        "a.# missingNumber 2@2", #"a\ danglingEscape 1@0"#, "a.#-1 missingNumber 2@2",
      ])
  }

  // P1
  @Test func `the sentence of an error shows the path and points at the component`() {
    #expect(failure("a..b")?.description == "empty component 2 in key path 'a.⟨here⟩.b'")
    #expect(
      failure("user.#x")?.description
        == "component 2 of key path 'user.⟨here⟩#x' needs a number after '#'")
  }

  // P1
  @Test func `zero bytes and bytes that are not UTF-8 are part of names`() throws {
    let path = try Path(parsing: [0x61, 0x00, 0x2E, 0xFF, 0xFE])
    #expect(path.components.map(\.bytes) == [[0x61, 0x00], [0xFF, 0xFE]])
  }

  // P2
  @Test func `a number too large for an integer is a name`() throws {
    #expect(try components("99999999999999999999") == ["name:99999999999999999999"])
    #expect(failure("#99999999999999999999")?.code == .missingNumber)
  }

  // P1
  @Test func `ten thousand components are no problem`() throws {
    let path = try Path(Array(repeating: "next", count: 10_000).joined(separator: "."))
    #expect(path.components.count == 10_000)
  }

  // P1
  @Test func `a path's description parses to the same path`() throws {
    for text in ["a.b", #"a\.b.c\\"#, "*.#3.12.&x.@sum", ##"\*.\#1.\12.\@sum.\&x"##] {
      let path = try Path(text)
      #expect(try Path(path.description) == path, "\(text) → \(path)")
    }
  }

  // P2
  @Test func `a list of names is not parsed`() {
    let path = Path(names: ["a.b", "*"])
    #expect(path.components.map { "\($0.kind):\($0.name)" } == ["name:a.b", "name:*"])
  }

  // P2
  @Test func `components are not parsed, text is`() {
    let path = Path("a.b", 3, .key(true), "*")
    #expect(
      path.components.map { "\($0.kind):\($0.name)" } == [
        "name:a.b", "key:3", "key:true", "name:*",
      ])
    #expect(Path("a.b") == Path("a", "b") && Path(.key("a.b")) != "a.b")
    #expect(Path(components: path.components) == path)
  }

  // P2
  @Test func `paths are equal when their components are`() {
    #expect(("a.b" as Path) == Path(names: ["a", "b"]))
    #expect((#"\*"# as Path) != "*")
  }

  // P9
  @Test func `a suggestion compares few and short names`() {
    let name = String(repeating: "a", count: 100)
    #expect(nearestName(to: name, among: [name + "b"]) == nil)
    #expect(nearestName(to: name, among: [name.dropLast() + "b"]) == name.dropLast() + "b")
    #expect(nearestName(to: name + "b", among: [name]) == nil)
    var count = 0
    let candidates = sequence(state: ()) { _ in
      count += 1
      return String?("name\(count)")
    }
    #expect(nearestName(to: "nmae1", among: candidates) == "name1")
    #expect(count == 1000)
  }

  // P9
  @Test func `of equally near names, the first in alphabetical order is suggested`() {
    #expect(nearestName(to: "name", among: ["names", "named"]) == "named")
    #expect(nearestName(to: "name", among: ["named", "names"]) == "named")
  }

  // P9
  @Test func `the nearest name is near`() {
    let names = ["name", "address", "friend"]
    #expect(nearestName(to: "adress", among: names) == "address")
    #expect(nearestName(to: "Nmae", among: names) == "name")
    #expect(nearestName(to: "xyzzy", among: names) == nil)
  }
}
