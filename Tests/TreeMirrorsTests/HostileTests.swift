import Foundation
import Observables
import TestSupport
import Testing
@testable import TreeMirrors
@testable import mirror_simulation

/// A10: nothing that a server or another process sends ends the process, fills it, or controls the
/// terminal.
@Suite(.serialized) struct `Mirrors of hostile servers` {
  /// A mirror of a new document, and all that it says.
  private final class Listener {
    let mirror: TreeMirror
    let document = Document()
    private(set) var said: [String] = []

    init(
      _ loop: Loop, through network: SimulatedNetwork, at url: String? = nil,
      named name: String = "tree", limit: Int? = nil
    ) throws {
      var (options, inner) = (TreeMirror.Options(), MirrorOptions())
      if let limit { options.limit = limit }
      inner.network = network
      mirror = try TreeMirror(
        of: document, named: name, at: url ?? network.url, options, inner, in: loop)
      mirror.onError = { [unowned self] in said.append("\($0)") }
      mirror.onWarning = { [unowned self] in
        if !$0.contains("is not safe") { said.append($0) }
      }
    }
  }

  private static let password = "a-secret-password"
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// What a server sends first, or instead of its answers, and a part of the mirror's message.
  private static let lies: [(greeting: String, answer: String?, said: String)] = [
    ("+hello\r\n", nil, "it sends an answer that no command asked for"),
    ("-ERR \u{1B}]0;x\u{7} \(password)\r\n", nil, "it refuses for now: ERR ␛]0;x␇ …"),
    (">3\r\n$10\r\ninvalidate\r\n*0\r\n*-1\r\n", nil, "no command asked for"),
    ("", String(repeating: "+OK\r\n", count: 100), "it sends an answer that no command asked for"),
    ("", "-ERR \u{1B}[2J\u{9B}31m \(password)\r\n", "it refuses for now: ERR ␛[2J\u{FFFD}31m …"),
    ("", "$67108865\r\n", "a text of 67108865 bytes, and the option 'limit' allows 67108864"),
    ("", "*1000000000\r\n", "more than four times as long as the option 'limit' allows"),
    ("", "$-5\r\n", "a text of -5 bytes"), ("", "*-7\r\n", "a list of -7 elements"),
    ("", ":9223372036854775808\r\n", "an invalid number"),
    ("", String(repeating: "*1\r\n", count: 100), "lists that are nested too deeply"),
    ("", "+" + String(repeating: "x", count: 1 << 17), "a line that is too long"),
    ("", "HTTP/1.1 400 Bad Request\r\n\r\n", "a kind of answer that no command asked for"),
    ("", ",1.5\r\n", "a kind of answer that no command asked for"),
    ("", "+OK\n", "a line with a wrong end"), ("", "$2\r\nabcd", "a text of a wrong length"),
  ]

  @Test func `a server that lies is an error of the connection`() throws {
    for lie in Self.lies {
      let loop = Loop(clock: .virtual)
      let network = try SimulatedNetwork(on: loop)
      network.lies.greeting = Self.bytes(lie.greeting)
      if let answer = lie.answer.map(Self.bytes) { network.lies.rewrite = { _ in answer } }
      let listener = try Listener(
        loop, through: network, at: "redis://:\(Self.password)@127.0.0.1")
      try network.run { !listener.said.isEmpty }
      let said = listener.said.joined(separator: "\n")
      #expect(said.contains(lie.said), "\(lie): \(said)")
      #expect(!said.contains(Self.password) && !said.contains("\u{1B}"))
      // It gets on with an honest server.
      network.lies = ([], { $0 })
      try network.run { listener.mirror.state == .live || listener.mirror.state == .failed }
      #expect((listener.mirror.state == .failed) == said.contains("'limit'"))
      listener.mirror.stop()
    }
  }

  // A6
  @Test func `a server is given up after ten seconds without a byte`() throws {
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let listener = try Listener(loop, through: network)
    loop.advance(by: 9.9)
    #expect(listener.said == [])
    loop.advance(by: 0.2)
    #expect(
      listener.said == [
        "mirror 'tree', server 127.0.0.1:6379: it has not answered for 10 seconds"
      ])
    listener.mirror.stop()
  }

  // A6
  @Test func `large batches are read one by one, and a larger one is an error`() throws {
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let writer = try Listener(loop, through: network)
    let reader = try Listener(loop, through: network, limit: 10_000)
    try network.run { writer.mirror.state == .live && reader.mirror.state == .live }
    // They come with one answer, which is too large for the reader.
    for number in 1...40 {
      loop.turn { writer.document.title = "\(number)" + String(repeating: "x", count: 5000) }
    }
    try network.run { reader.mirror.version == 40 }
    #expect(reader.document.title == writer.document.title)
    #expect(reader.said == [])
    loop.turn { writer.document.title = String(repeating: "x", count: 10_000) }
    try network.run { reader.mirror.state == .failed }
    #expect(
      reader.said.last?.contains("bytes, and the option 'limit' allows 10000") == true)
    for listener in [writer, reader] { listener.mirror.stop() }
  }

  @Test(arguments: [
    "\u{1}", "\u{3}\u{0}\u{0}\u{0}\u{0}", String(repeating: "x", count: 100), "",
    "\u{2}" + String(repeating: "\u{0}", count: 16) + String(repeating: "\u{7f}", count: 4),
  ])
  func `a malformed batch is an error that names it`(bytes: String) throws {
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let replica = try countingReplicas(1, on: loop, at: network.url, through: network)[0]
    try network.server.add(Array(bytes.utf8), as: 2, to: "tree")
    try network.run { try replica.state.state == "failed" || replica.state.version == 2 }
    if bytes.isEmpty {
      #expect(try replica.state.state == "live")
    } else {
      #expect(replica.errors.first?.contains("batch 2 of writer someone is malformed") == true)
    }
  }

  // A7
  @Test func `a server that loads its data is not warned of`() throws {
    let address = try RedisAddress("redis://127.0.0.1")
    #expect(ServerSettings("aof_enabled:0\r\n", of: address).risks.count == 1)
    #expect(ServerSettings("loading:1\r\naof_enabled:0\r\n", of: address).risks == [])
  }

  // A6
  @Test func `a server that was started again gets the scripts without a warning`() throws {
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let listener = try Listener(loop, through: network)
    try network.run { listener.mirror.state == .live }
    try network.restartServer(missing: 0)
    // From the third attempt on, reasons are reported.
    network.limits = { $0 < 10 ? (0, 0) : nil }
    try network.run { listener.mirror.state == .live }
    #expect(
      listener.said == ["mirror 'tree', server 127.0.0.1:6379: the connection was cut"])
    listener.mirror.stop()
  }

  // A10
  @Test func `changes that are too large for others are not sent`() throws {
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let writer = try Listener(loop, through: network, limit: 10_000)
    let reader = try Listener(loop, through: network)
    try network.run { writer.mirror.state == .live && reader.mirror.state == .live }
    loop.turn { writer.document.title = String(repeating: "x", count: 10_000) }
    #expect(writer.mirror.state == .failed)
    #expect(writer.said.last?.contains("the changes of a turn take 100") == true)
    try network.pass(10)
    #expect(reader.mirror.version == 0)
    for listener in [writer, reader] { listener.mirror.stop() }
  }

  @Test func `a change that an object cannot have is reported with its batch and its place`() throws
  {
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    let listener = try Listener(loop, through: network)
    let script = try Replica(on: loop, at: network.url, through: network, "{ root = {} }")
    try network.run { try script.state.state == "live" }
    try script.run("root.count = 'two'")
    try network.run { listener.mirror.state == .failed }
    let said = try #require(listener.said.last)
    #expect(said.contains("a change of another process could not be made: batch "))
    #expect(said.contains(" of writer ") && said.contains(", 'count': "))
    listener.mirror.stop()
  }

  // MARK: Random

  /// The seeds, and the number of attempts for each.
  private static let (seeds, attempts) = {
    let environment = ProcessInfo.processInfo.environment
    let first = Int(environment["OBS_SEED"] ?? "") ?? 1
    return (first..<first + 4, Int(environment["OBS_COUNT"] ?? "") ?? 10)
  }()

  /// A reply, whose depth is at most `depth`, and its bytes.
  private static func reply(_ depth: Int, _ random: inout SeededGenerator) -> [UInt8] {
    switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
    case 0: return bytes("+OK\r\n")
    case 1: return bytes("-ERR no\r\n")
    case 2: return bytes(":\(Int.random(in: -9...1 << 40, using: &random))\r\n")
    case 3: return bytes("$-1\r\n")
    case 4:
      let length = Int.random(in: 0...40, using: &random)
      return bytes("$\(length)\r\n")
        + (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) } + bytes("\r\n")
    default:
      let elements = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        reply(depth - 1, &random)
      }
      return bytes("*\(elements.count)\r\n") + elements.joined()
    }
  }

  /// Some of the bytes replaced, doubled or left out.
  private static func changed(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
      let index = bytes.indices.randomElement(using: &random)!
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[index] = .random(in: 0...255, using: &random)
      case 1: bytes[index] = Array("0123456789$*+-:\r\n".utf8).randomElement(using: &random)!
      case 2: bytes.insert(bytes[index], at: index)
      default: bytes.removeSubrange(index..<min(index + 5, bytes.count))
      }
    }
    return bytes
  }

  /// What a reader makes of bytes that come in pieces.
  private static func read(_ bytes: [UInt8], _ size: () -> Int) -> [String] {
    var reader = ReplyReader(limit: 1000)
    var read: [String] = []
    var place = 0
    while place < bytes.count {
      let piece = Array(bytes[place..<min(place + size(), bytes.count)])
      place += piece.count
      let failure = piece.withUnsafeBytes { piece -> String? in
        var rest = piece[...]
        do {
          while let reply = try reader.next(&rest) { read.append("\(reply)") }
          return nil
        } catch { return "\(error)" }
      }
      if let failure { return read + [failure] }
    }
    return read
  }

  @Test(arguments: seeds) func `random bytes are the same replies in all pieces`(seed: Int) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<Self.attempts * 50 {
      let replies = (0..<5).map { _ in Self.reply(4, &random) }
      #expect(Self.read(Array(replies.joined())) { 1 << 20 }.count == 5)
      let bytes = Self.changed(Array(replies.joined()), &random)
      let whole = Self.read(bytes) { 1 << 20 }
      #expect(Self.read(bytes) { 1 } == whole)
      #expect(Self.read(bytes) { Int.random(in: 1...20, using: &random) } == whole)
    }
  }

  @Test(arguments: seeds) func `a server whose bytes are changed ends nothing`(seed: Int) throws {
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    var random = SeededGenerator(seed: seed)
    let writer = try countingReplicas(1, on: loop, at: network.url, through: network)[0]
    for _ in 0..<Self.attempts {
      let follower = try Replica(on: loop, at: network.url, through: network, "{ root = {} }")
      // Some answers have to be right, or no batch is ever reached.
      network.lies.rewrite = { bytes in
        Int.random(in: 1...12, using: &random) == 1 ? Self.changed(bytes, &random) : bytes
      }
      for _ in 0..<30 {
        try count(in: [writer])
        for _ in 0..<4 { try network.deliver(way: 0, bytes: .max) }
        try network.pass(0.1)
      }
      network.lies.rewrite = { $0 }
      try network.run { try ["live", "failed"].contains(follower.state.state) }
      try follower.run("mirror:stop()")
    }
  }

  @Test(arguments: seeds) func `random batches of others end nothing, and are named`(
    seed: Int
  ) throws {
    let loop = Loop(clock: .virtual)
    let network = try SimulatedNetwork(on: loop)
    var random = SeededGenerator(seed: seed)
    for attempt in 0..<Self.attempts {
      let name = "tree\(attempt)"
      let source = MirrorDocument()
      defer { source.end() }
      let replica = try Replica(on: loop, name: name, at: network.url, through: network)
      try network.run { try replica.state.state == "live" }
      let start = try replica.state.version
      // Batches that this tree could have made, with some bytes changed.
      let objects = (1...3).map { number in
        source.makeNode(
          .init(rawValue: .random(in: 0...3, using: &random))!, model: [], handle: number)
      }
      func value() -> MirrorValue {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: .integer(.random(in: -3...3, using: &random))
        case 1: .number(.nan)
        case 2: .text(Array("\u{1B}x".utf8))
        case 3: .boolean(true)
        default: .node(objects.randomElement(using: &random)!)
        }
      }
      func key() -> MirrorKey { MirrorKey(value()) ?? .text(Array("k".utf8)) }
      var failed = false
      for number in 1...10 where !failed {
        var writer = MirrorWriter(.ids)
        if number == 1 { for object in objects { writer.add(.make(object)) } }
        let root = MirrorNode(.root, .plain)
        writer.add(.set(root, key(), value()))
        for _ in 0..<Int.random(in: 1...5, using: &random) {
          let target = (objects + [root]).randomElement(using: &random)!
          let index = Int.random(in: 0...4, using: &random)
          switch Int.random(in: 0..<8, using: &random) {
          case 0: writer.add(.set(target, key(), Bool.random(using: &random) ? nil : value()))
          case 1: writer.add(.insert(target, at: index, value()))
          case 2: writer.add(.remove(target, at: index, old: value()))
          case 3: writer.add(.replace(target, at: index, old: value(), with: value()))
          case 4: writer.add(.move(target, at: index, value(), to: 9 - index))
          case 5:
            let edits: [MirrorOperation] = [
              .remove(target, at: index, old: value()), .insert(target, at: 0, value()),
            ]
            writer.add(.reorder(target, edits))
          case 6: writer.add(.add(target, key(), value()))
          default: writer.add(.contents(target, [value(), value()], [key(): value()]))
          }
        }
        let bytes =
          Int.random(in: 0..<10, using: &random) == 0
          ? Self.changed(writer.bytes, &random) : writer.bytes
        let version = start + number
        try network.server.add(bytes, as: version, to: name)
        try network.run {
          failed = try replica.state.state == "failed"
          return try failed || replica.state.version >= version
        }
        if failed {
          #expect(replica.errors.last?.contains("batch \(version) of writer someone") == true)
          #expect(replica.errors.last?.contains("\u{1B}") == false)
        }
      }
      try replica.run("mirror:stop()")
    }
  }
}
