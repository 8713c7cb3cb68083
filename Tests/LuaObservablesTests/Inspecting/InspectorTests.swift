import LibC
import Lua
import LuaObservables
import Observables
import Testing
@testable import LuaInspector

/// V1–V4: the inspector of a host in a Swift program; the tests of the command line send requests.
struct InspectorTests {
  // V3
  @Test func `an inspector does not keep the loop running, and is in no count`() throws {
    let loop = Loop()
    let host = try LuaHost(loop: loop)
    let inspector = try Inspector(of: host)
    let before = loop.statistics
    loop.run()
    #expect(!loop.isAlive)
    #expect(loop.step() == false)
    #expect(loop.statistics.turns == before.turns)
    #expect(loop.statistics.watchers == 0)
    #expect(inspector.isActive)
    #expect(inspector.url.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\/#[0-9a-f]{32}/) != nil)
  }

  @Test func `a stopped inspector, and that of a closed host, leave nothing behind`() throws {
    let loop = Loop()
    for end in ["stop", "close", "close later"] {
      weak var former: Inspector?
      weak var dropped: LuaHost?
      var port = 0
      do {
        let host = try LuaHost(loop: loop)
        dropped = host
        let inspector = try Inspector(of: host)
        former = inspector
        port = try #require(Self.port(of: inspector))
        #expect(throws: InspectorError.self) { try Inspector(of: host, port: port) }
        switch end {
        case "stop": inspector.stop()
        case "close": host.close()
        default: break
        }
        #expect(inspector.isActive == (end == "close later"))
        inspector.stop()
      }
      #expect(former == nil, "\(end)")
      #expect(dropped == nil, "\(end)")
      // The port is free again.
      let host = try LuaHost(loop: loop)
      let inspector = try Inspector(of: host, port: port)
      #expect(Self.port(of: inspector) == port)
      inspector.stop()
    }
  }

  @Test func `dropping an inspector does not end it, and the host ends it`() throws {
    weak var inspector: Inspector?
    do {
      let host = try LuaHost(loop: Loop())
      do {
        let made = try Inspector(of: host, roots: ["globals": .table(host.state.globals)])
        inspector = made
      }
      #expect(inspector?.isActive == true)
    }
    #expect(inspector == nil)
  }

  // V2
  @Test func `scripts start inspectors of hosts in which they are installed`() throws {
    let host = try LuaHost(loop: Loop())
    Inspector.install(in: host)
    let results = try host.run(
      """
      local inspector = assert(require "obs".inspect())
      local url = inspector.url
      inspector:stop()
      inspector:stop()
      return url, pcall(function() inspector.port = 1 end)
      """)
    #expect(results.count == 3)
    #expect(results[1] == .boolean(false))
    let safe = try LuaHost(loop: Loop(), libraries: [.safe])
    Inspector.install(in: safe)
    let error = try #require(throws: LuaError.self) {
      try safe.run("require 'obs'.inspect()")
    }
    #expect(error.message.contains("a host with safe libraries is inspected only by the program"))
    let inspector = try Inspector(of: safe)
    #expect(inspector.isActive)
  }

  @Test func `a port that no socket can have is an error`() throws {
    let host = try LuaHost(loop: Loop())
    for port in [-1, 65_536, Int.max] {
      let error = try #require(throws: InspectorError.self) { try Inspector(of: host, port: port) }
      #expect(error.port == port)
    }
  }

  // V4
  @Test func `pages that read nothing are waited for less and less`() {
    let text = [UInt8](repeating: 0, count: 8 << 20)
    let patience = Patience(nanoseconds: 64_000_000)
    for page in 1...4 {
      var sockets: [Int32] = [-1, -1]
      #expect(socketpair(AF_UNIX, streamSocket, 0, &sockets) == 0)
      defer { for socket in sockets { close(socket) } }
      let outbox = Outbox(sockets[0])
      text.withUnsafeBytes { outbox.append($0, waitingWith: patience) }
      #expect(outbox.hasFailed)
      // Each has half of the time that the others have left.
      #expect(patience.left == 64_000_000 >> page)
    }
  }

  private static func port(of inspector: Inspector) -> Int? {
    inspector.url.firstMatch(of: /:(\d+)\//).flatMap { Int($0.1) }
  }
}
