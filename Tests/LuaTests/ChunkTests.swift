import LibC
import Lua
import Testing

@Suite struct `Chunks` {
  let state: LuaState
  init() throws { state = try LuaState() }

  private func withFile(_ contents: String, _ body: (String) throws -> Void) throws {
    var template = Array("/tmp/obs-lua-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    try #require(descriptor >= 0)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    try #require(write(descriptor, contents, contents.utf8.count) == contents.utf8.count)
    close(descriptor)
    try body(path)
  }

  @Test func `run from text and from files`() throws {
    #expect(try state.run("return 1, 'two'") == [1, "two"])
    try withFile("#!/usr/bin/env obs-lua\nreturn select('#', ...), ...") { path in
      let results = try state.runFile(path, arguments: ["a", 2])
      #expect(results == [2, "a", 2])
    }
  }

  @Test func `that do not compile report the place`() throws {
    let error = #expect(throws: LuaError.self) { try state.load("x = = 1", name: "@s.lua") }
    #expect(error?.code == .syntax)
    #expect(error?.message == "s.lua:1: unexpected symbol near '='")
    try withFile("return 1 +") { path in
      let error = #expect(throws: LuaError.self) { try state.loadFile(path) }
      #expect(error?.code == .syntax)
      #expect(error?.message == "\(path):1: unexpected symbol near <eof>")
    }
  }

  @Test func `in files that cannot be read report the reason`() throws {
    let missing = #expect(throws: LuaError.self) { try state.loadFile("/no/such.lua") }
    #expect(missing?.code == .file)
    #expect(missing?.message == "cannot open /no/such.lua: No such file or directory")
    let directory = #expect(throws: LuaError.self) { try state.runFile("/tmp") }
    #expect(directory?.code == .file)
    #expect(directory?.message == "cannot read /tmp: Is a directory")
    let zero = #expect(throws: LuaError.self) { try state.loadFile("/tmp\0.lua") }
    #expect(zero?.code == .file)
  }

  @Test func `are text unless bytecode is asked for`() throws {
    let bytecode = try state.run("return string.dump(function() return 7 end)", as: [UInt8].self)
    let error = #expect(throws: LuaError.self) { try state.load(bytecode, name: "=b") }
    #expect(error?.code == .syntax)
    #expect(error?.message == "attempt to load a binary chunk (mode is 't')")
    #expect(try state.load(bytecode, name: "=b", kind: .bytecode).call() == [7])
    #expect(try state.load(bytecode, name: "=b", kind: .any).call() == [7])
  }

  @Test func `find the requested libraries`() throws {
    let bare = try LuaState(libraries: [.base, .string])
    #expect(
      try bare.run("return type(string), type(io), type(require)") == ["table", "nil", "nil"])
    #expect(try LuaState(libraries: []).run("return print") == [nil])
  }
}
