import Foundation
import Lua
import LuaObservables
import Observables
import Testing

/// S5: modules in a folder, found when required or read in advance.
final class ModuleFolderTests {
  private let host: LuaHost
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "modules-\(UUID().uuidString)")

  init() throws {
    host = try LuaHost(loop: Loop(), libraries: .safe, limits: .untrusted)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func write(_ text: String, to name: String) throws {
    try write(Data(text.utf8), to: name)
  }

  private func write(_ bytes: Data, to name: String) throws {
    let file = folder.appending(path: name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try bytes.write(to: file)
  }

  private func link(_ name: String, to path: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.appending(path: name).path, withDestinationPath: path)
  }

  private func message(_ name: String) throws -> String {
    let text: String? = try host.state.run(
      "return (select(2, pcall(require, '\(name)')))", as: String.self)
    return text ?? ""
  }

  @Test func `modules that were read are found after the folder is gone`() throws {
    try write("return ...", to: "name.lua")
    try write("\u{FEFF}#!x\r\nreturn require 'name' .. ...", to: "a/b-c/d_1.lua")
    let paths = try host.readModules(inFolder: folder.path)
    try FileManager.default.removeItem(at: folder)
    #expect(paths.map { URL(filePath: $0).lastPathComponent }.sorted() == ["d_1.lua", "name.lua"])
    #expect(try host.run("return require 'a.b-c.d_1'") == ["namea.b-c.d_1"])
    try write("return 1", to: "late.lua")
    #expect(try message("late").hasPrefix("module 'late' not found"))
  }

  @Test func `bytes stay as they are in the file`() throws {
    try write(Data("return '".utf8) + [0xE4, 0, 0xFF] + Data("'".utf8), to: "bytes.lua")
    try host.readModules(inFolder: folder.path)
    #expect(try host.run("return require 'bytes' == '\\xE4\\0\\xFF'") == [true])
  }

  @Test func `errors name the file, as for files on disk`() throws {
    try write("\n\nerror 'no'", to: "fails.lua")
    try write("x = = 1", to: "wrong.lua")
    try write("\u{1B}LuaT", to: "code.lua")
    try write(String(repeating: " ", count: 70_000), to: "large.lua")
    for name in ["fails", "wrong", "code", "large"] {
      host.modules(inFolder: folder.path)
      let lazily = try message(name)
      try host.readModules(inFolder: folder.path)
      #expect(try message(name) == lazily)
      #expect(!lazily.contains("not found"))
    }
  }

  @Test func `links may not lead out of the folder, nor in circles`() throws {
    let name = "outside-\(UUID().uuidString)"
    let outside = FileManager.default.temporaryDirectory.appending(path: name)
    try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: outside) }
    try Data("return 1".utf8).write(to: outside.appending(path: "secret.lua"))
    try write("return 7", to: "sub/inner.lua")
    try link("out", to: outside.path)
    try link("secret.lua", to: outside.appending(path: "secret.lua").path)
    try link("sub/round", to: "..")
    try link("same", to: "sub")
    try link("same.lua", to: "sub/inner.lua")
    let paths = try host.readModules(inFolder: folder.path)
    #expect(paths.allSatisfy { $0.hasSuffix("/sub/inner.lua") })
    for name in ["sub.inner", "same.inner", "same"] {
      #expect(try host.run("return require '\(name)'") == [7])
    }
    for name in ["out.secret", "secret", "sub.round.secret"] {
      #expect(try message(name).hasPrefix("module '\(name)' not found"))
    }
  }

  @Test func `a missing folder, and a folder with too many modules, are errors`() throws {
    let missing = #expect(throws: LuaError.self) {
      try host.readModules(inFolder: folder.appending(path: "none").path)
    }
    #expect(missing?.code == .file)
    for number in 0...10_000 { try write("", to: "m\(number).lua") }
    let many = #expect(throws: LuaError.self) { try host.readModules(inFolder: folder.path) }
    #expect(many?.code == .file)
    #expect(many?.message.contains("more than 10000 modules") == true)
  }
}
