import LibC
internal import LuaObservables
internal import Observables

/// Answers the requests of pages, on the loop's thread and outside of turns (V1–V4).
final class InspectorServer: LoopServer, RunSink {
  let roots: InspectorRoots
  let allowsWrites: Bool
  /// The host; nil while it is being closed.
  weak var host: LuaHost?
  // The host owns the loop, and stops the inspector when it closes.
  private unowned let loop: Loop
  private let listener: Listener
  let recorder: RunRecorder
  private let header: [UInt8]
  private let token = randomWord()
  private var connections: [Connection] = []
  /// Whether lines are received: while a page reads them.
  private var isRecording = false
  /// Whether a request has run code of the program.
  private var hasRun = false
  private var hadRecord = false

  /// The connections that may have requests at the same time (V4).
  private static let limit = 50

  init(
    _ host: LuaHost, _ listener: Listener, _ roots: InspectorRoots, allowsWrites: Bool,
    origin: [(name: String, json: String)]
  ) {
    (self.host, loop, self.listener) = (host, host.loop, listener)
    (self.roots, self.allowsWrites) = (roots, allowsWrites)
    var options = RunRecordingOptions()
    options.origin = origin
    recorder = loop.makeRunRecorder(options)
    header = Array(options.header.dropLast())
    hadRecord = host.isRecording
    host.record(true)
    loop.add(self)
  }

  var url: String { "http://127.0.0.1:\(listener.port)/#\(token)" }
  var descriptor: Int32 { listener.descriptor }

  /// Sends the last lines, and closes everything.
  func stop() {
    loop.remove(self)
    if isRecording { loop.endRecording(to: self) }
    isRecording = false
    for connection in connections { connection.close() }
    connections = []
    listener.close()
    if let host, !host.isClosed, !hadRecord { host.record(false) }
  }

  // MARK: LoopServer

  var polled: [pollfd] { [listener.polled] + connections.map(\.polled) }

  var due: UInt64? {
    if connections.contains(where: \.hasFailed) { return 0 }
    return (connections.map(\.deadline) + [listener.pausedUntil]).compactMap { $0 }.min()
  }

  func serve(_ polled: ArraySlice<pollfd>) -> Bool {
    hasRun = false
    for (connection, entry) in zip(connections, polled.dropFirst()) where entry.revents != 0 {
      do throws(HTTPRefusal) {
        if let request = try connection.serve() { answer(request, on: connection) }
      } catch {
        connection.answer(HTTPResponse(error))
      }
    }
    acceptConnections()
    for connection in connections { connection.endIfDone() }
    connections.removeAll { $0.isClosed }
    updateRecording()
    return hasRun
  }

  private func acceptConnections() {
    for descriptor in listener.acceptWaiting() {
      let connection = Connection(descriptor)
      // Beyond twice the limit, connections are closed without an answer.
      if connections.count >= 2 * Self.limit { continue }
      if connections.count(where: \.isInUse) >= Self.limit {
        connection.answer(HTTPResponse(HTTPRefusal(503, "there are too many connections")))
      }
      connections.append(connection)
    }
  }

  // MARK: Events

  /// Begins or ends the recording, and writes a checkpoint if a page waits for one.
  private func updateRecording() {
    let streams = connections.compactMap(\.stream)
    if isRecording, streams.isEmpty {
      isRecording = false
      loop.endRecording(to: self)
    }
    guard streams.contains(where: \.wantsCheckpoint) else { return }
    if isRecording {
      loop.recordCheckpoint()
    } else {
      isRecording = true
      loop.record(to: self, by: recorder)
    }
    save()
  }

  func take(_ bytes: UnsafeRawBufferPointer, lines: Int, isCheckpoint: Bool) {
    let patience = Patience()
    for connection in connections {
      connection.stream?.take(bytes, lines: lines, isCheckpoint: isCheckpoint, patience)
    }
  }

  func save() { for connection in connections { connection.stream?.flush() } }

  func turnEnded(_ turn: Int) -> Bool { false }

  // MARK: Requests

  private func answer(_ request: HTTPRequest, on connection: Connection) {
    do throws(HTTPRefusal) {
      try check(request)
      switch (request.method, request.path) {
      case (.get, "/"):
        let page = ReportPage(isLive: true)
        connection.answer(HTTPResponse(page: page.bytes, policy: page.policy))
      case (.get, "/events"):
        let last = request.fields["last-event-id"].flatMap { Int($0) } ?? 0
        connection.beginStream(header: header, after: min(max(last, 0), 1 << 52))
      default:
        connection.answer(try response(to: request))
      }
    } catch {
      connection.answer(HTTPResponse(error))
    }
  }

  /// Checks that the request comes from the page, and not from a page of another server (V1).
  ///
  /// - Throws: a refusal.
  private func check(_ request: HTTPRequest) throws(HTTPRefusal) {
    let hosts = ["127.0.0.1", "[::1]", "localhost"].map { "\($0):\(listener.port)" }
    guard hosts.contains(request.host) else { throw HTTPRefusal(403, "wrong host") }
    if let origin = request.fields["origin"], origin != "http://\(request.host)" {
      throw HTTPRefusal(403, "the request comes from another page")
    }
    if request.method == .get, request.path == "/" { return }
    let sent = Array((request.fields["authorization"] ?? "").utf8)
    guard isSame(sent, Array("Bearer \(token)".utf8)) else {
      throw HTTPRefusal(401, "the token is missing or wrong")
    }
  }

  /// Compares in constant time: the time does not show where two texts differ.
  private func isSame(_ text: [UInt8], _ other: [UInt8]) -> Bool {
    guard text.count == other.count else { return false }
    return zip(text, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Notes that a request runs code of the program, which only a page that may write can do (V2).
  ///
  /// - Throws: a refusal.
  func beginWrite() throws(HTTPRefusal) {
    guard allowsWrites else { throw HTTPRefusal(403, "the inspector is read-only") }
    guard !loop.isUnderWay else { throw HTTPRefusal(503, "a turn is under way") }
    hasRun = true
  }
}
