import Foundation
import ObservableRecords
import Testing

/// R2: a process that is killed at any point leaves the database in the state after a whole turn.
struct KillTests {
  /// The program that is killed, beside the tests.
  private var program: URL {
    let arguments = CommandLine.arguments
    let option = arguments.firstIndex(of: "--test-bundle-path")
    let bundle = option.map { arguments[$0 + 1] } ?? arguments[0]
    return URL(filePath: bundle).deletingLastPathComponent().appending(path: "victim")
  }

  /// Starts the program, waits until it has made some turns, and kills it.
  private func killAfter(_ turns: Int, _ arguments: [String]) throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = program
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    var count = 0
    while count < turns {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { break }
      #expect(!data.contains(UInt8(ascii: "e")), "\(String(decoding: data, as: UTF8.self))")
      count += data.count
    }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(count >= turns)
  }

  @Test(arguments: [["queue"], ["pool"]])
  func `whenever a process is killed, the database has the state after a whole turn`(
    _ kind: [String]
  ) throws {
    let folder = Folder()
    var last = 0
    var random = Generator(state: UInt64(kind[0].utf8.count))
    for round in 0..<100 {
      try killAfter(
        Int.random(in: 1...40, using: &random),
        [folder.file] + (kind == ["pool"] ? kind : []))
      let database = try DatabaseQueue(path: folder.file)
      try database.read { db in
        #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        #expect(try Int.fetchOne(db, sql: "SELECT sum(weight) FROM thing") == 300, "\(round)")
        let wrong = try Int.fetchOne(
          db,
          sql: """
            SELECT COUNT(*) FROM box WHERE weight <>
              (SELECT COALESCE(sum(weight), 0) FROM thing WHERE boxID = box.id)
            """)
        #expect(wrong == 0, "\(round)")
        let turns = try #require(try Int.fetchOne(db, sql: "SELECT turns FROM counter"))
        let newest = try #require(try Int.fetchOne(db, sql: "SELECT max(turn) FROM thing"))
        #expect(turns >= last && newest <= turns)
        last = turns
      }
    }
    #expect(last > 0)
  }
}
