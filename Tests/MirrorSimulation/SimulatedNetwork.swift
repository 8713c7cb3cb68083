import Lua
import Observables
import TestSupport
import TreeMirrors

/// A server in memory, which `Scripts/server.lua` implements.
final class SimulatedServer {
  private let lua: LuaState
  private let functions: LuaTable
  private static let source = script(named: "server")

  init() throws {
    lua = try LuaState()
    try lua.run(Self.source, name: "=server.lua")
    functions = try lua.globals
  }

  @discardableResult
  func call(_ name: String, _ arguments: LuaValue...) throws -> [LuaValue] {
    guard case .function(let function) = try functions[name] else { return [] }
    return try function.callPlainly(arguments: arguments)
  }

  /// Adds a batch that another process has sent.
  func add(_ batch: [UInt8], as version: Int, to name: String) throws {
    try call(
      "add_batch", .string(LuaString("obs:{\(name)}:")), .integer(Int64(version)),
      .string(LuaString(bytes: batch)))
  }

  var version: Int {
    get throws { try Int(luaValue: call("version")[0]) }
  }
}

/// A network in which bytes arrive, and connections end, only when a test says so.
final class SimulatedNetwork: MirrorNetwork {
  let url = "redis://127.0.0.1"
  let server: SimulatedServer
  private let loop: Loop
  private var streams: [Stream] = []
  private var lastNumber: Int64 = 0
  private var numbers: SeededGenerator
  /// The bytes that clients get first, and a change of the bytes that the server sends.
  var lies: (greeting: [UInt8], rewrite: ([UInt8]) -> [UInt8]) = ([], { $0 })
  /// How many bytes a connection passes to the server and to the client before it is cut, by its
  /// number; nil to pass all.
  var limits: (_ connection: Int) -> (toServer: Int, toClient: Int)? = { _ in nil }
  /// A hash of all bytes that have arrived, and of their connections and directions (FNV-1a).
  private(set) var traffic: UInt64 = 0xCBF2_9CE4_8422_2325
  /// The number of connections that were made.
  var connections: Int { Int(lastNumber) }

  init(on loop: Loop, seed: Int = 1) throws {
    (self.loop, numbers) = (loop, SeededGenerator(seed: seed))
    server = try SimulatedServer()
  }

  func check(_ address: RedisAddress) {}
  func random() -> UInt64 { max(1, numbers.next()) }

  func connect(to address: RedisAddress, on loop: Loop) -> any ByteStream {
    lastNumber += 1
    let stream = Stream(number: lastNumber)
    stream.toClient = lies.greeting
    stream.limits = limits(connections)
    streams.append(stream)
    return stream
  }

  private final class Stream: ByteStream {
    let number: Int64
    weak var client: (any ByteStreamClient)?
    let isConnected = true
    var (toServer, toClient): ([UInt8], [UInt8]) = ([], [])
    var isClosed = false
    var limits: (toServer: Int, toClient: Int)?

    init(number: Int64) { self.number = number }

    func send(_ bytes: [UInt8]) -> Bool {
      if !isClosed { toServer += bytes }
      return !isClosed
    }
    func write() {}
    /// Bytes that were sent may still arrive.
    func close() { (isClosed, toClient) = (true, []) }
  }

  /// The connections with bytes under way, and their directions.
  private var ways: [(stream: Stream, isToServer: Bool)] {
    streams.flatMap { stream in
      [(stream, true), (stream, false)].filter { stream, isToServer in
        !(isToServer ? stream.toServer : stream.toClient).isEmpty
      }
    }
  }

  /// Lets some bytes of one connection arrive; false if no connection has any.
  @discardableResult
  func deliver(way: Int, bytes count: Int) throws -> Bool {
    let ways = ways
    if ways.isEmpty { return false }
    let (stream, isToServer) = ways[way % ways.count]
    let limit = isToServer ? stream.limits?.toServer : stream.limits?.toClient
    let count = min(count, limit ?? .max)
    if count == 0 {
      try cut(stream, arrives: false)
      return true
    }
    if isToServer {
      let bytes = Array(stream.toServer.prefix(count))
      stream.limits?.toServer -= bytes.count
      stream.toServer.removeFirst(bytes.count)
      note(bytes, of: stream, isToServer)
      try receive(
        server.call("feed", .integer(stream.number), .string(LuaString(bytes: bytes))))
      loop.turn { stream.client?.streamProceeded() }
    } else {
      let bytes = Array(stream.toClient.prefix(count))
      stream.toClient.removeFirst(bytes.count)
      stream.limits?.toClient -= bytes.count
      note(bytes, of: stream, isToServer)
      loop.turn { bytes.withUnsafeBytes { stream.client?.received($0) } }
    }
    try forget()
    return true
  }

  private func note(_ bytes: [UInt8], of stream: Stream, _ isToServer: Bool) {
    func add(_ value: UInt64) { traffic = (traffic ^ value) &* 0x100_0000_01B3 }
    add(UInt64(stream.number) << 1 | (isToServer ? 1 : 0))
    for byte in bytes { add(UInt64(byte)) }
  }

  /// Ends a connection; bytes that were sent to the server may arrive later.
  func cut(_ index: Int, arrives: Bool) throws {
    let open = streams.filter { !$0.isClosed }
    if !open.isEmpty { try cut(open[index % open.count], arrives: arrives) }
  }

  private func cut(_ stream: Stream, arrives: Bool) throws {
    if !arrives { stream.toServer = [] }
    let client = stream.client
    stream.close()
    loop.turn { client?.streamEnded("the connection was cut") }
    try forget()
  }

  /// Ends the server, and starts it or its replica without the last commands.
  func restartServer(missing: Int) throws {
    for stream in streams where !stream.isClosed { try cut(stream, arrives: false) }
    for stream in streams { stream.toServer = [] }
    try forget()
    try server.call("replace", .integer(Int64(missing)))
  }

  func pass(_ seconds: Double) throws {
    loop.advance(by: seconds)
    try receive(server.call("pass", .number(seconds)))
    try forget()
  }

  /// Delivers all bytes and lets time pass until a condition holds.
  func run(until condition: () throws -> Bool) throws {
    var way = 0
    for _ in 0..<500 {
      // Sends what was written outside of turns.
      try pass(0)
      while try deliver(way: way, bytes: .max) { way += 1 }
      if try condition() { return }
      try pass(0.25)
    }
    throw MirrorError("what the test waits for did not happen")
  }

  /// Takes what the server sends: numbers of connections, and bytes.
  private func receive(_ sent: [LuaValue]) {
    for index in stride(from: 0, to: sent.count, by: 2) {
      guard case .integer(let number) = sent[index], case .string(let text) = sent[index + 1],
        let stream = streams.first(where: { $0.number == number }), !stream.isClosed
      else { continue }
      stream.toClient += lies.rewrite(text.bytes)
    }
  }

  /// Forgets connections that have ended.
  private func forget() throws {
    for stream in streams where stream.isClosed && stream.toServer.isEmpty {
      try server.call("drop", .integer(stream.number))
    }
    streams.removeAll { $0.isClosed && $0.toServer.isEmpty }
  }
}
