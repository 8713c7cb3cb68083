internal import Observables

/// The mirror that uses a server.
protocol MirrorServerClient: AnyObject {
  /// Called after both connections were made, when the server has all scripts.
  func serverIsReady()
  /// Called after the connections were lost; they are made again later.
  func serverWasLost()
  /// Asks for fewer batches at once, after an answer that was too large; false if it was one batch.
  func readLess() -> Bool
  func warn(_ text: String)
  /// Ends the mirror.
  func fail(_ reason: String)
}

/// The server of a mirror, and the two connections to it, which are made again when one is lost.
///
/// Used on the loop's thread.
final class MirrorServer {
  let name: String
  let address: RedisAddress
  private let limit: Int
  let network: any MirrorNetwork
  private let loop: Loop
  private weak var client: (any MirrorServerClient)?
  private var phase = Phase.offline
  private var reconnecting: Reconnecting
  private var retry: LoopTimer?
  /// The names of the scripts, which a server keeps while it runs.
  private var scripts: [ServerScript: [UInt8]] = [:]
  /// Whether an earlier connection has loaded the scripts: the server may have none of them.
  private var hasOldScripts = false
  private var hasWarned = false
  /// The keys that scripts get.
  private let keys: [[UInt8]]

  /// The connection for commands that are answered at once, and the one for reading.
  private typealias Link = (commands: RedisConnection, follower: RedisConnection)

  private enum Phase {
    case offline
    /// The server does not have all scripts yet.
    case preparing(Link)
    case ready(Link)
    case closed
  }

  /// Reasons for losing the connection.
  static let notRedis = "it does not answer as Redis does"
  static let forgotten = "it has forgotten a part of what was sent"

  /// - Throws: `MirrorError` if a library is missing.
  init(
    of client: any MirrorServerClient, named name: String, at address: RedisAddress,
    _ options: MirrorOptions, on loop: Loop
  ) throws {
    (self.client, self.name, self.address, self.loop) = (client, name, address, loop)
    (limit, network, reconnecting) = (options.limit, options.network, Reconnecting(options.delays))
    keys = ["s", "m", "w", "d", "p"].map { "obs:{\(name)}:\($0)".bytes }
    try network.check(address)
  }

  var isReady: Bool { if case .ready = phase { true } else { false } }
  /// Whether a part of an answer to `read` has come, and more of it is on its way.
  var isReceiving: Bool { link?.follower.isReceiving == true }

  private var isClosed: Bool { if case .closed = phase { true } else { false } }
  private var link: Link? {
    switch phase {
    case .preparing(let link), .ready(let link): link
    case .offline, .closed: nil
    }
  }

  // MARK: Connecting

  func connect() {
    if isClosed { return }
    do {
      let link = (commands: try connection(), follower: try connection(forReading: true))
      phase = .preparing(link)
      logIn(link.commands)
      logIn(link.follower)
      hasOldScripts = becomeReady()
      if !hasOldScripts { prepare(link.commands) }
    } catch let failure as ConnectionFailure {
      ended(failure)
    } catch {
      client?.fail("\(error)")
    }
  }

  private func connection(forReading: Bool = false) throws -> RedisConnection {
    let connection = try RedisConnection(
      to: address, limit: limit, on: loop, through: network)
    connection.ended = { [weak self] failure in self?.ended(failure, whileReading: forReading) }
    return connection
  }

  private func logIn(_ connection: RedisConnection) {
    if let password = address.password {
      let login = address.user.map { [$0.bytes] } ?? []
      connection.send(["AUTH".bytes] + login + [password.bytes]) { [weak self] in self?.check($0) }
    }
    if address.database != 0 {
      connection.send(["SELECT".bytes, "\(address.database)".bytes]) { [weak self] in
        self?.check($0)
      }
    }
  }

  /// Checks the server's settings, and loads the scripts.
  private func prepare(_ connection: RedisConnection) {
    connection.send(["INFO".bytes]) { [weak self] reply in
      guard let self, check(reply) else { return }
      guard let text = reply.text else { return lost(Self.notRedis) }
      check(ServerSettings(text, of: address))
    }
    for script in ServerScript.allCases {
      connection.send(["SCRIPT".bytes, "LOAD".bytes, script.text.bytes]) { [weak self] reply in
        guard let self, check(reply) else { return }
        guard let name = reply.bytes else { return lost(Self.notRedis) }
        scripts[script] = name
        becomeReady()
      }
    }
  }

  @discardableResult
  private func becomeReady() -> Bool {
    guard scripts.count == ServerScript.allCases.count, case .preparing(let link) = phase else {
      return false
    }
    phase = .ready(link)
    client?.serverIsReady()
    return true
  }

  private func check(_ settings: ServerSettings) {
    if let obstacle = settings.obstacle { client?.fail("the server \(address.name) \(obstacle)") }
    if hasWarned || settings.risks.isEmpty { return }
    hasWarned = true
    client?.warn(
      "the mirror '\(name)' is not safe on the server \(address.name): "
        + settings.risks.joined(separator: "; "))
  }

  /// Calls `body` in a while, unless the connection is lost first.
  func afterPause(_ body: @escaping () -> Void) {
    retry = loop.after(reconnecting.pause, body)
  }

  // MARK: The end of connections

  /// Resets the delay and the reported reasons after a success.
  func noteSuccess() { reconnecting.noteSuccess() }

  /// Gives the connections up, and connects again later.
  func lost(_ reason: String, isShort: Bool = true) {
    disconnect(.offline)
    if isClosed { return }
    if reconnecting.noteFailure(reason, isShort: isShort) { warn(reason) }
    client?.serverWasLost()
    retry = loop.after(reconnecting.nextDelay(network.random())) { [weak self] in self?.connect() }
  }

  /// Ends the connections for good.
  func close() { disconnect(.closed) }

  private func disconnect(_ next: Phase) {
    if isClosed { return }
    retry?.stop()
    retry = nil
    let ended = link
    phase = next
    // The replies that were lost may end the mirror.
    ended?.commands.close()
    ended?.follower.close()
  }

  private func ended(_ failure: ConnectionFailure, whileReading: Bool = false) {
    switch failure.kind {
    case .tooLarge where whileReading && client?.readLess() == true: lost(failure.reason)
    case .tooLarge: client?.fail("server \(address.name): \(failure.reason)")
    case .malformed:
      // Nothing that it has said is used on the next connection.
      scripts = [:]
      lost(failure.reason)
    case .broken: lost(failure.reason)
    case .silent: lost(failure.reason, isShort: false)
    }
  }

  // MARK: Commands

  /// Runs a script; `replied` is called once, with a lost reply if there is no connection.
  func run(
    _ script: ServerScript, _ arguments: [[UInt8]], text key: String? = nil,
    forReading: Bool = false, _ replied: @escaping (Reply) -> Void
  ) {
    guard case .ready(let link) = phase, let script = scripts[script] else {
      return replied(.lost(nil))
    }
    let keys = keys + (key.map { ["obs:{\(name)}:u:\($0)".bytes] } ?? [])
    (forReading ? link.follower : link.commands).send(
      ["EVALSHA".bytes, script, "\(keys.count)".bytes] + keys + arguments, replied)
  }

  /// Reads the stream behind a version; if it has nothing there, waits for a while if `waits`.
  func read(
    after version: Int, count: Int, waits: Bool, _ replied: @escaping (Reply) -> Void
  ) {
    guard case .ready(let link) = phase else { return replied(.lost(nil)) }
    let options = ["COUNT", "\(count)"] + (waits ? ["BLOCK", "5000"] : []) + ["STREAMS"]
    link.follower.send(
      ["XREAD".bytes] + options.map(\.bytes) + [keys[0], "\(version)-1".bytes], replied)
  }

  /// Writes at the end of the turn what was sent.
  func writeAfterTurn() { loop.whenTurnEnds { [weak self] in self?.link?.commands.write() } }

  func strange(_ reason: String) -> MirrorError {
    MirrorError("the server \(address.name) has no valid mirror '\(name)': \(reason)")
  }

  /// Ends the mirror.
  func fail(_ error: any Error) { client?.fail("\(error)") }

  /// Checks a reply to a command of this mirror's own; false if the mirror cannot go on with it.
  @discardableResult
  func check(_ reply: Reply) -> Bool {
    switch reply {
    case .error(let text):
      refuse(text)
      return false
    case .lost: return false
    default: return true
    }
  }

  func warn(_ reason: String) {
    client?.warn("mirror '\(name)', server \(address.name): \(reason)")
  }

  /// Handles an error of the server.
  private func refuse(_ error: [UInt8]) {
    let (text, shown) = (String(decoding: error, as: UTF8.self), address.quoted(error))
    if text.hasPrefix("NOSCRIPT") {
      scripts = [:]
      // The server was started again: another connection loads them, at once.
      if hasOldScripts {
        disconnect(.offline)
        client?.serverWasLost()
        return connect()
      }
    }
    let fatal = [
      "WRONGPASS", "NOAUTH", "NOPERM", "ERR AUTH", "ERR invalid", "ERR unknown command", "ERR DB",
    ]
    if fatal.contains(where: { text.hasPrefix($0) }) || text.contains("WRONGTYPE")
      || text.contains("executing the script can't")
    {
      client?.fail("the server \(address.name) refuses it: \(shown)")
    } else {
      // Tried again: a full disk may get room, and a server that loads its data comes to an end.
      lost("it refuses for now: \(shown)")
    }
  }
}
