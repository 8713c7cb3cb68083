package import Observables

/// The connections to a server, and what is under way on them.
private struct Link {
  let commands: RedisConnection
  let follower: RedisConnection
  /// Whether the server has taken a piece of a text.
  var hasTaken = false
  /// How much the server has of what it gets in pieces, by the names, as far as it was asked.
  var uploaded: [String: Int] = [:]
  /// Whether it is being asked how much it has of a batch.
  var isAsking = false
  /// Whether something is on its way to the server.
  var isSending: Bool { underWay > 0 || isJoining || isSnapshotUnderWay || isAsking }
  /// Whether the server has all scripts.
  var isReady = false
  /// Whether the scripts were loaded by an earlier connection: the server may have none of them.
  var hasOldScripts = false
  var isJoining = false
  var isFollowing = false
  var isSnapshotUnderWay = false
  /// The number of batches whose replies have not come.
  var underWay = 0
  /// Whether the server is full, or its disk is: it takes no writes until there is room.
  var isFull = false
  /// Whether the answer to a look has not come: on a slow link, others may be in front of it.
  var isLooking = false
  /// Whether a batch was missing in the stream.
  var hasGap = false
  /// The version that the server had when this process joined.
  var newest = 0
  /// The version of the tree at the last look, and the number of looks since then that found
  /// another one at the server.
  var looks = (version: -1, count: 0)
}

/// Why a mirror has failed.
private enum Failure {
  /// Too much waits for the server; this ends when the server has half of it.
  case full(String)
  case final(String)

  var reason: String {
    switch self {
    case .full(let reason), .final(let reason): reason
    }
  }
}

/// Keeps a tree equal in several processes.
///
/// The server puts their batches into one order.
///
/// Used on the loop's thread.
package final class MirrorSession {
  private let name: String
  private let address: RedisAddress
  private let options: MirrorOptions
  private let loop: Loop
  private weak var tree: (any MirroredTree)?
  let document = MirrorDocument()

  package private(set) var state = MirrorState.connecting
  /// The number of own batches that the server has not acknowledged.
  package var pending: Int { lastNumber - acknowledged }
  /// The number of own batches that the stream has not brought back yet: others may come before.
  package var unconfirmed: Int { document.pending.count }
  /// The number of batches of the stream that the tree has.
  package private(set) var version = 0
  /// The number of other processes.
  package private(set) var peers = 0

  /// The id of this process as a writer, which its batches have.
  private var writer: String
  private var epoch = ""
  /// The writer and the number of the last batch of `version`.
  private var lastEntry = (writer: "", number: 0)
  /// The number of the newest own batch, of the newest acknowledged one, and of the newest that was
  /// sent on this connection.
  private var (lastNumber, acknowledged, sent) = (0, 0, 0)
  private var pendingBytes = 0
  /// The number of batches that may be under way at once.
  private static let mostSent = 256

  /// The names of the scripts, which a server keeps while it runs.
  private var scripts: [ServerScript: [UInt8]] = [:]
  /// A snapshot that is under way: what has come of it stays when the connection is lost.
  private var download: Download?
  /// The state to publish and the snapshot to write, until the server has taken it.
  private var firstState: Upload?
  private var snapshot: (version: Int, upload: Upload)?
  /// Longer texts are sent in pieces of this size: smaller ones if none passed before a connection
  /// was lost.
  private var piece = MirrorSession.largestPiece
  private static let (smallestPiece, largestPiece) = (256, 64 << 10)

  /// A text for the server.
  private struct Upload {
    var name = MirrorSession.newName()
    let bytes: [UInt8]
  }

  /// The version of a snapshot behind which batches were missing.
  private var gapBehind: Int?
  /// The beginning of the next batch, from a connection that was lost.
  private var begun: StreamEntry?

  private struct Download {
    let epoch: String
    /// The version and the size of the snapshot.
    let at: Int, size: Int
    /// The version of the server, and the number of this writer's last batch there.
    var newest = 0, last = 0
    /// The writer and the number of the last batch that the snapshot has.
    let lastEntry: (writer: String, number: Int)
    var bytes: [UInt8] = []
    /// The batches behind the snapshot, and the beginning of the next one.
    var entries: [StreamEntry] = []
    var begun: StreamEntry?
  }

  private var link: Link?
  private var delay: Double
  private var retry: LoopTimer?
  private var looking: LoopTimer?
  /// The number of batches that are read at once: fewer if they are large.
  private var readAtOnce = MirrorSession.mostReadAtOnce
  private static let mostReadAtOnce = 500
  /// How many bytes of batches one answer should have.
  private static let readBytes = 4 << 20
  /// Where the changes come from that are being made in the tree, for messages.
  private var source = ""
  private var hasWarned = false
  private var reported: Set<String> = []
  /// The number of lost connections since the last success.
  private var failures = 0
  private var journal: MirrorJournal?

  /// - Throws: `MirrorError` for an invalid address, a missing library, or a bad journal.
  package init(
    of tree: any MirroredTree, named name: String, at url: String, _ options: MirrorOptions,
    on loop: Loop
  ) throws {
    address = try RedisAddress(url)
    (self.tree, self.name, self.options, self.loop) = (tree, name, options, loop)
    delay = options.delays.0
    writer = MirrorSession.newName()
    if let path = options.journal {
      let journal = try MirrorJournal(path)
      self.journal = journal
      if let known = journal.writer {
        writer = known
        lastNumber = journal.records.last?.number ?? 0
        acknowledged = (journal.records.first?.number ?? 1) - 1
      }
    }
    try RedisConnection.check(address)
  }

  /// Whether a mirror can have a name: keys of the server contain it.
  package static func isName(_ name: some Collection<UInt8>) -> Bool {
    !name.isEmpty && name.count <= 200
      && name.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  private static func newName() -> String {
    let text = String(UInt64.random(in: 1...UInt64.max), radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }

  /// Takes on the tree, whose bytes make the root first, and begins to connect.
  package func begin(with bytes: [UInt8]) throws {
    begin(with: try document.operations(fromTree: bytes))
  }

  func begin(with operations: [MirrorOperation]) {
    document.begin(with: operations[0].target, operations)
    connect()
  }

  /// Ends the mirror; the tree stays as it is.
  package func stop() {
    guard state != .stopped else { return }
    if pending > 0 {
      let batches = pending == 1 ? "1 batch" : "\(pending) batches"
      tree?.warn("the mirror '\(name)' was stopped with \(batches) not acknowledged")
    }
    state = .stopped
    disconnect()
    looking?.stop()
    retry?.stop()
    (looking, retry) = (nil, nil)
    journal?.close()
    document.end()
    tree?.statusDidChange()
  }

  // MARK: Own batches

  /// Whether the tree may be written, and why not.
  package var refusal: String? {
    if !options.writes { return "the mirror '\(name)' is read-only here" }
    return failure.map { "the mirror '\(name)' has failed: \($0)" }
  }

  /// Why the mirror has failed.
  package var failure: String? { cause?.reason }
  private var cause: Failure?
  private var isOver: Bool {
    if case .final? = cause { return true }
    return state == .stopped
  }

  /// Takes a turn's changes of the tree, by handles.
  package func wrote(_ bytes: [UInt8]) throws {
    if bytes.isEmpty || state == .stopped { return }
    wrote(try document.operations(fromTree: bytes), size: bytes.count)
  }

  /// Takes a turn's changes of the tree, which take about so many bytes.
  func wrote(_ operations: [MirrorOperation], size: Int) {
    if operations.isEmpty || state == .stopped { return }
    let base = version + document.pending.count
    let batch = document.add(operations)
    batch.base = base
    lastNumber += 1
    batch.number = lastNumber
    batch.size = size
    pendingBytes += size
    if !epoch.isEmpty { keep(batch) }
    if pending > options.mostBatches || pendingBytes > options.mostBytes {
      let size = "\(pending) batches of \(pendingBytes) bytes"
      fail(.full("\(size) wait for the server, more than a mirror keeps"))
    }
    send()
  }

  private func keep(_ batch: MirrorBatch) {
    guard let journal else { return }
    do { try journal.add(batch.number, encoded(batch), writer, epoch) } catch {
      tree?.report(MirrorError("the journal of the mirror '\(name)' cannot be written: \(error)"))
    }
  }

  /// Writes the journal anew, as the numbers of what waits have changed.
  private func keepAll() {
    guard let journal, !epoch.isEmpty else { return }
    do {
      let records = document.pending.filter { $0.number > acknowledged }
      try journal.replace(by: records.map { ($0.number, encoded($0)) }, writer, epoch)
    } catch {
      tree?.report(MirrorError("the journal of the mirror '\(name)' cannot be written: \(error)"))
    }
  }

  private func encoded(_ batch: MirrorBatch) -> [UInt8] {
    if let bytes = batch.bytes { return bytes }
    let bytes = document.bytes(of: batch)
    batch.bytes = bytes
    return bytes
  }

  private func send() {
    guard let link, link.isReady, !epoch.isEmpty, let first = document.pending.first?.number else {
      return
    }
    var isSent = false
    // At a full server, one batch at a time finds out whether there is room again.
    while sent < lastNumber, sent - acknowledged < (link.isFull ? 1 : MirrorSession.mostSent) {
      let index = sent + 1 - first
      guard document.pending.indices.contains(index) else {
        return lost("it has forgotten batches of this process")
      }
      let batch = document.pending[index]
      let bytes = encoded(batch)
      // With such a batch, no process that has this limit could read the tree any more.
      guard bytes.count <= options.limit else {
        return fail(
          "the changes of a turn take \(bytes.count) bytes, and the option 'limit' allows "
            + "\(options.limit)")
      }
      let upload = Upload(name: batch.upload ?? MirrorSession.newName(), bytes: bytes)
      batch.upload = upload.name
      if bytes.count > piece, link.uploaded[upload.name] == nil {
        // Later batches come behind it.
        askAbout(upload)
        break
      }
      sent = batch.number
      self.link?.underWay += 1
      let base = options.check && !batch.commutes ? "\(batch.base)" : ""
      run(
        .append, [epoch.bytes, writer.bytes, "\(batch.number)".bytes, base.bytes], with: upload
      ) { [weak self] reply in
        self?.appended(batch, reply)
      }
      isSent = true
    }
    if isSent { loop.whenTurnEnds { [weak commands = link.commands] in commands?.write() } }
  }

  private func askAbout(_ upload: Upload) {
    guard link?.isAsking == false else { return }
    link?.isAsking = true
    ask(about: upload) { [weak self] reply in
      guard let self, reply?.isLost != true else { return }
      link?.isAsking = false
      if let reply { check(reply) } else { send() }
    }
  }

  private func appended(_ batch: MirrorBatch, _ reply: Reply) {
    // What was on its way stays noted until the connection is forgotten.
    if reply.isLost { return }
    link?.underWay -= 1
    if batch.isWithdrawn { return }
    let list = reply.list
    switch (list.first?.text, reply) {
    case (_, .error(let text)) where isFull(text): break
    // The batch before was refused by a full server.
    case ("gap"?, _) where link?.isFull == true, ("again"?, _) where link?.isFull == true: break
    case ("ok"?, _), ("known"?, _):
      link?.isFull = false
      acknowledge(upTo: batch.number)
      if list.count == 3, let newest = list[1].integer, let at = list[2].integer {
        publish(newest, at)
      }
    case ("base"?, _): giveBack(from: batch.number)
    case ("gap"?, _), ("lost"?, _):
      lost("it has forgotten batches of this process")
    case ("again"?, _): lost(Self.forgotten)
    case (_, .error(let text)): refuse(text)
    default: lost(Self.notRedis)
    }
  }

  /// Whether the server takes no writes now, which a look tries again.
  ///
  /// It can still be read.
  private func isFull(_ error: [UInt8]) -> Bool {
    let text = String(decoding: error, as: UTF8.self)
    guard text.contains("OOM command not allowed") || text.contains("MISCONF") else { return false }
    if link?.isFull == false {
      tree?.warn(
        "mirror '\(name)', server \(address.name): it takes no writes until it has room again: "
          + address.quoted(error))
    }
    link?.isFull = true
    return true
  }

  private func acknowledge(upTo number: Int) {
    guard number > acknowledged else { return }
    acknowledged = number
    noteSuccess()
    if pending == 0 {
      try? journal?.clear()
    } else if journal?.isLarge == true {
      keepAll()
    }
    if case .full? = cause, pending < options.mostBatches / 2,
      pendingBytes < options.mostBytes / 2 || pending == 0
    {
      cause = nil
      state = .live
    }
    send()
    tree?.statusDidChange()
  }

  /// Resets the delay and the reported reasons after a success.
  private func noteSuccess() { (delay, reported, failures) = (options.delays.0, [], 0) }

  /// Gives back batches that others have preceded (`check`).
  private func giveBack(from number: Int) {
    tree?.collect()
    let refused = document.pending.filter { $0.number >= number }
    if refused.isEmpty { return }
    for batch in refused {
      batch.isWithdrawn = true
      pendingBytes -= batch.size
    }
    lastNumber = number - 1
    sent = min(sent, lastNumber)
    let rejections = document.rejections(
      of: refused.flatMap { $0.changes(at: $0.operations.indices) })
    let step = document.withdraw(from: number)
    keepAll()
    perform(step)
    tree?.rejected(rejections)
    tree?.statusDidChange()
  }

  // MARK: Connecting

  private func connect() {
    if isOver { return }
    do {
      let commands = try RedisConnection(to: address, limit: options.limit, on: loop)
      commands.ended = { [weak self] failure in self?.ended(failure) }
      let follower = try RedisConnection(to: address, limit: options.limit, on: loop)
      follower.ended = { [weak self] failure in self?.ended(failure, whileReading: true) }
      link = Link(commands: commands, follower: follower)
      logIn(commands)
      logIn(follower)
      if scripts.count == ServerScript.allCases.count {
        link?.isReady = true
        link?.hasOldScripts = true
        join()
      } else {
        prepare(commands)
      }
    } catch let failure as ConnectionFailure {
      ended(failure)
    } catch {
      fail("\(error)")
    }
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
      connection.send(["SCRIPT".bytes, "LOAD".bytes, script.rawValue.bytes]) { [weak self] reply in
        guard let self, check(reply) else { return }
        guard let name = reply.bytes else { return lost(Self.notRedis) }
        scripts[script] = name
        link?.isReady = scripts.count == ServerScript.allCases.count
        join()
      }
    }
  }

  private func check(_ settings: ServerSettings) {
    if let obstacle = settings.obstacle { fail("the server \(address.name) \(obstacle)") }
    if hasWarned || settings.risks.isEmpty { return }
    hasWarned = true
    tree?.warn(
      "the mirror '\(name)' is not safe on the server \(address.name): "
        + settings.risks.joined(separator: "; "))
  }

  /// Runs a script that the server has.
  private func run(
    _ script: ServerScript, _ arguments: [[UInt8]], key: [UInt8]? = nil,
    on connection: RedisConnection? = nil, _ replied: @escaping (Reply) -> Void
  ) {
    guard let link, let name = scripts[script] else { return }
    let keys = keys + (key.map { [$0] } ?? [])
    (connection ?? link.commands).send(
      ["EVALSHA".bytes, name, "\(keys.count)".bytes] + keys + arguments, replied)
  }

  /// Runs a script that takes a text, which goes before it in pieces if it is long.
  ///
  /// The server keeps pieces when a connection is lost.
  private func run(
    _ script: ServerScript, _ arguments: [[UInt8]], with upload: Upload,
    _ replied: @escaping (Reply) -> Void
  ) {
    let bytes = upload.bytes
    let count = "\(bytes.count)".bytes
    guard bytes.count > piece else { return run(script, arguments + [bytes, count], replied) }
    guard let held = link?.uploaded[upload.name] else {
      return ask(about: upload) { [weak self] reply in
        if let reply { replied(reply) } else { self?.run(script, arguments, with: upload, replied) }
      }
    }
    for place in stride(from: held, to: bytes.count, by: piece) {
      let part = Array(bytes[place..<min(place + piece, bytes.count)])
      run(.upload, ["\(place)".bytes, part], key: key(of: upload)) { [weak self] reply in
        switch reply {
        case .integer:
          self?.link?.hasTaken = true
          self?.noteSuccess()
        case .error(let text): _ = self?.isFull(text)
        default: break
        }
      }
    }
    run(script, arguments + [[], count], key: key(of: upload)) { [weak self] reply in
      // If a piece was refused, the next attempt asks again.
      self?.link?.uploaded[upload.name] = nil
      if let self, !reply.isLost { piece = min(2 * piece, MirrorSession.largestPiece) }
      replied(reply)
    }
  }

  private func key(of upload: Upload) -> [UInt8] { "obs:{\(name)}:u:\(upload.name)".bytes }

  /// Asks how much the server has of a text; `replied` gets a reply that is no answer to this.
  private func ask(about upload: Upload, _ replied: @escaping (Reply?) -> Void) {
    run(.upload, ["-1".bytes, []], key: key(of: upload)) { [weak self] reply in
      guard case .integer(let held) = reply else { return replied(reply) }
      self?.link?.uploaded[upload.name] = min(max(0, held), upload.bytes.count)
      replied(nil)
    }
  }

  private lazy var keys = ["s", "m", "w", "d", "p"].map { "obs:{\(name)}:\($0)".bytes }

  private func join() { join(publishing: Upload(bytes: []), as: "") }

  /// Goes on from the version of the server's tree, or takes it; publishes a state without one.
  private func join(publishing state: Upload, as newEpoch: String) {
    guard let link, link.isReady, !link.isJoining else { return }
    self.link?.isJoining = true
    run(
      .join,
      [
        writer.bytes, epoch.bytes, "\(version)".bytes, lastEntry.writer.bytes,
        "\(lastEntry.number)".bytes, newEpoch.bytes, "\(mirrorFormat)".bytes,
      ], with: state
    ) { [weak self] reply in
      guard let self, !reply.isLost else { return }
      self.link?.isJoining = false
      guard check(reply) else { return }
      do { try joined(reply.list) } catch let error as MirrorError {
        fail(error.description)
      } catch {
        fail("\(error)")
      }
    }
  }

  private func joined(_ reply: [Reply]) throws {
    switch reply.first?.text {
    case "published" where reply.count == 2:
      // The name that this process has given to the state.
      epoch = reply[1].text ?? ""
      keepAll()
      becomeLive()
    case "resume" where reply.count == 5:
      guard let newest = reply[2].integer, let last = reply[4].integer else {
        throw strange("its counters are no numbers")
      }
      if link?.hasGap == true { throw strange("its stream has a gap behind batch \(version)") }
      try goOn(after: last)
      becomeLive(newest: newest)
    case "state" where reply.count == 8: try beginDownload(reply)
    case "empty" where journal?.writer != nil:
      throw MirrorError(
        "the journal '\(options.journal ?? "")' belongs to a state that the server does not have")
    case "empty" where options.writes && epoch.isEmpty:
      let state = firstState ?? Upload(bytes: document.stateBytes())
      firstState = state
      join(publishing: state, as: MirrorSession.newName())
    case "again": lost(Self.forgotten)
    case "empty":
      retry = loop.after(options.delays.1 / 4) { [weak self] in self?.join() }
    case "format":
      let format = address.quoted(reply.last?.bytes ?? [])
      throw MirrorError(
        "the mirror '\(name)' was published in format \(format), and this process knows format "
          + "\(mirrorFormat)")
    case "lost":
      throw MirrorError(
        "the server \(address.name) has lost the mirror '\(name)'; nothing is lost here")
    default: throw strange("its answer is incomplete")
    }
  }

  private func strange(_ reason: String) -> MirrorError {
    MirrorError("the server \(address.name) has no valid mirror '\(name)': \(reason)")
  }

  /// Goes on behind the last number of this writer that the server knows.
  private func goOn(after last: Int) throws {
    guard last <= lastNumber else {
      throw strange("it has batches that this process did not send")
    }
    if last < confirmed {
      // The stream has these batches, but the server has forgotten their numbers.
      renameWriter()
      renumber(after: 0)
    } else {
      sent = last
      acknowledge(upTo: last)
    }
  }

  /// The number of the newest own batch that the stream has brought back.
  private var confirmed: Int { lastNumber - document.pending.count }

  /// Goes on as another writer: others may have batches whose numbers would be given twice.
  private func renameWriter() { writer = MirrorSession.newName() }

  private func renumber(after last: Int) {
    (acknowledged, lastNumber, sent) = (last, last, last)
    pendingBytes = 0
    for (place, batch) in document.pending.enumerated() {
      lastNumber += 1
      (batch.number, batch.base) = (lastNumber, version + place)
      pendingBytes += batch.size
    }
    keepAll()
  }

  private func becomeLive(newest: Int = 0) {
    // A callback may have ended the mirror.
    if state == .stopped || link == nil { return }
    link?.hasGap = false
    link?.newest = newest
    firstState = nil
    set(newest > version ? .behind : .live)
    send()
    follow()
    if looking == nil {
      looking = loop.every(2) { [weak self] in self?.look() }
    }
    look()
  }

  private func set(_ state: MirrorState) {
    if self.state == .stopped || cause != nil { return }
    self.state = state
    tree?.statusDidChange()
  }

  private func look() {
    guard let link, link.isReady, !epoch.isEmpty, !link.isJoining, !link.isLooking else { return }
    if link.isFull, link.underWay == 0 {
      sent = acknowledged
      send()
    }
    self.link?.isLooking = true
    let version = version
    run(.look, [writer.bytes]) { [weak self] reply in
      self?.link?.isLooking = false
      guard let self, let link = self.link else { return }
      switch reply {
      case .lost, .error: return
      default: break
      }
      let list = reply.list
      guard list.count == 3 else { return lost(Self.notRedis) }
      let others = max(0, (list[2].integer ?? 1) - 1)
      if others != peers {
        peers = others
        tree?.statusDidChange()
      }
      // If the stream was deleted or replaced, XREAD waits without an error.
      let isStuck =
        list[1].integer != self.version && link.looks.version == self.version
        && !link.follower.isReceiving
      let count = isStuck ? link.looks.count + 1 : 0
      self.link?.looks = (self.version, count)
      if list[0].text != epoch || list[1].integer ?? 0 < version || count > 2 {
        lost("it has another state")
      }
    }
  }

  /// Checks a reply to a command of this mirror's own; false if the mirror cannot go on with it.
  @discardableResult
  private func check(_ reply: Reply) -> Bool {
    switch reply {
    case .error(let text):
      refuse(text)
      return false
    case .lost: return false
    default: return true
    }
  }

  private static let forgotten = "it has forgotten a part of what was sent"
  private static let notRedis = "it does not answer as Redis does"

  /// Handles an error of the server.
  private func refuse(_ error: [UInt8]) {
    let (text, shown) = (String(decoding: error, as: UTF8.self), address.quoted(error))
    if text.hasPrefix("NOSCRIPT") {
      scripts = [:]
      // The server was started again: another connection loads them, at once.
      if link?.hasOldScripts == true {
        disconnect()
        if state != .connecting { set(.offline) }
        return connect()
      }
    }
    let fatal = [
      "WRONGPASS", "NOAUTH", "NOPERM", "ERR AUTH", "ERR invalid", "ERR unknown command", "ERR DB",
    ]
    if fatal.contains(where: { text.hasPrefix($0) }) || text.contains("WRONGTYPE")
      || text.contains("executing the script can't")
    {
      return fail("the server \(address.name) refuses it: \(shown)")
    }
    // Tried again: a full disk may get room, and a server that loads its data comes to an end.
    lost("it refuses for now: \(shown)")
  }

  /// Handles the end of a connection.
  private func ended(_ failure: ConnectionFailure, whileReading: Bool = false) {
    switch failure.kind {
    case .tooLarge where (whileReading || link?.isJoining == true) && readAtOnce > 1:
      // Each batch alone may be small enough.
      readAtOnce = 1
      lost(failure.reason)
    case .tooLarge: fail("server \(address.name): \(failure.reason)")
    case .malformed:
      // Nothing that it has said is used on the next connection.
      scripts = [:]
      lost(failure.reason)
    case .broken: lost(failure.reason)
    case .silent: lost(failure.reason, isShort: false)
    }
  }

  /// The connection was lost.
  private func lost(_ reason: String, isShort: Bool = true) {
    if let link, !link.hasTaken, link.isSending {
      piece = max(MirrorSession.smallestPiece, piece / 4)
    }
    disconnect()
    if isOver { return }
    failures += 1
    // A short break is not reported.
    if failures > 2 || !isShort, reported.insert(reason).inserted {
      tree?.warn("mirror '\(name)', server \(address.name): \(reason)")
    }
    if state != .connecting { set(.offline) }
    let wait = delay * Double.random(in: 0.5...1)
    delay = min(2 * delay, options.delays.1)
    retry?.stop()
    retry = loop.after(wait) { [weak self] in self?.connect() }
  }

  private func disconnect() {
    guard let ended = link else { return }
    link = nil
    sent = acknowledged
    ended.commands.close()
    ended.follower.close()
  }

  /// Ends the mirror, because it cannot go on.
  package func fail(_ reason: String) { fail(.final(reason)) }

  private func fail(_ cause: Failure) {
    if isOver { return }
    self.cause = cause
    state = .failed
    if isOver {
      disconnect()
      looking?.stop()
      looking = nil
    }
    tree?.report(MirrorError("the mirror '\(name)' has failed: \(cause.reason)"))
    tree?.statusDidChange()
  }

  // MARK: Batches of all processes

  private func follow() {
    guard let follower = link?.follower, link?.isFollowing == false else { return }
    link?.isFollowing = true
    if let begun, begun.version == version + 1 { return finish(begun, on: follower) }
    begun = nil
    follower.send(
      ["XREAD", "COUNT", "\(readAtOnce)", "BLOCK", "5000", "STREAMS"].map(\.bytes)
        + [keys[0], "\(version)-1".bytes]
    ) { [weak self, weak follower] reply in
      guard let self else { return }
      if case .lost(let part?) = reply { return keep(part) }
      guard link?.follower === follower else { return }
      link?.isFollowing = false
      guard check(reply) else { return }
      switch reply {
      case .none, .list: break
      default: return lost(Self.notRedis)
      }
      if pending == 0 { noteSuccess() }
      do {
        let entries = try entries(in: reply.list.first?.list.last, after: version)
        chooseReading(after: entries)
        // After a gap, joining goes on.
        if try take(entries), link?.follower === follower { follow() }
      } catch {
        fail("\(error)")
      }
    }
  }

  /// Reads the rest of a batch that has begun to arrive on another connection.
  private func finish(_ begun: StreamEntry, on follower: RedisConnection) {
    readRest(of: begun, on: follower) { [weak self, weak follower] reply in
      guard let self else { return }
      if case .lost(.part(let more)?) = reply {
        self.begun?.bytes += more
        return noteSuccess()
      }
      guard link?.follower === follower else { return }
      link?.isFollowing = false
      guard check(reply) else { return }
      self.begun = nil
      do {
        // The stream may have been cut meanwhile.
        if let rest = reply.bytes, try !take([begun.adding(rest)]) { return }
        if link?.follower === follower { follow() }
      } catch {
        fail("\(error)")
      }
    }
  }

  private func readRest(
    of begun: StreamEntry, on connection: RedisConnection?, _ replied: @escaping (Reply) -> Void
  ) {
    let place = [begun.version, begun.number, begun.bytes.count].map { "\($0)".bytes }
    run(.batch, [place[0], begun.writer.bytes, place[1], place[2]], on: connection, replied)
  }

  /// Keeps the batches that have come when a connection is lost, and what has come of the next one.
  private func keep(_ part: Reply) {
    if isOver { return }
    let (whole, begun) = arrived(in: part.list.first?.list.last)
    if !whole.isEmpty || begun != nil { noteSuccess() }
    do {
      if try take(whole) { self.begun = begun }
    } catch {
      fail("\(error)")
    }
  }

  /// The batches that have come of a lost reply, and the beginning of the next one.
  private func arrived(in reply: Reply?) -> (whole: [StreamEntry], begun: StreamEntry?) {
    var whole: [StreamEntry] = []
    for reply in reply?.list ?? [] {
      guard let entry = try? StreamEntry(reply, after: version) else { break }
      if reply.isCut { return (whole, entry) }
      whole.append(entry)
    }
    return (whole, nil)
  }

  private func entries(in reply: Reply?, after last: Int) throws -> [StreamEntry] {
    var last = last
    return try (reply?.list ?? []).map { reply in
      let entry = try StreamEntry(reply, after: last)
      last = entry.version
      return entry
    }
  }

  /// Chooses how many batches are read at once, by the size of those that came.
  private func chooseReading(after entries: [StreamEntry]) {
    if entries.isEmpty { return }
    let size = entries.reduce(0) { $0 + $1.bytes.count } / entries.count
    let fitting = MirrorSession.readBytes / max(size, 1)
    readAtOnce = max(1, min(fitting, 2 * readAtOnce, MirrorSession.mostReadAtOnce))
  }

  /// Takes batches of the stream; false if some before them are missing.
  private func take(_ entries: [StreamEntry]) throws -> Bool {
    if entries.isEmpty { return true }
    // With many own batches, apply the others in one step: each step applies all own ones again.
    let isTogether = document.pending.count > 100
    var rest = entries.drop { $0.version <= version }
    while let entry = rest.first {
      guard entry.version == version + 1 else {
        link?.hasGap = true
        join()
        return false
      }
      // Local writes come first, so that the document is the tree.
      tree?.collect()
      if state == .stopped { return false }
      if entry.writer == writer {
        try confirm(entry)
        rest = rest.dropFirst()
        continue
      }
      var next = version
      let group =
        isTogether
        ? rest.prefix { entry in
          next += 1
          return entry.writer != writer && entry.version == next
        } : rest.prefix(1)
      var problem: (any Error)?
      let step = document.change { step in
        for entry in group {
          if problem != nil { break }
          do {
            document.apply(try document.batch(from: entry.bytes), in: step)
            version = entry.version
            lastEntry = (entry.writer, entry.number)
          } catch { problem = malformed(entry, error) }
        }
      }
      perform(step, of: Array(group))
      if let problem { throw problem }
      if state == .stopped { return false }
      rest = rest.dropFirst(group.count)
    }
    if state == .behind, let link, version >= link.newest { set(.live) }
    tree?.statusDidChange()
    return true
  }

  private func malformed(_ entry: StreamEntry, _ error: any Error) -> MirrorError {
    var reason = ""
    if let error = error as? MirrorFormatError {
      reason = " at byte \(error.place): \(error.expected) expected"
    }
    return MirrorError("\(entry) is malformed\(reason)")
  }

  private func confirm(_ entry: StreamEntry) throws {
    (version, lastEntry) = (entry.version, (entry.writer, entry.number))
    guard let first = document.pending.first, first.number == entry.number else {
      throw MirrorError("batch \(entry.version) has a number that this process did not give")
    }
    document.sweep()
    let batch = document.confirm()
    pendingBytes -= batch.size
    acknowledge(upTo: batch.number)
    if !batch.dropped.isEmpty {
      tree?.rejected(document.rejections(of: batch.changes(at: batch.dropped)))
    }
  }

  /// Makes the changes of a step in the tree, as one turn.
  ///
  /// - Parameter entries: The batches that the changes come from; none for a snapshot.
  private func perform(_ step: MirrorStep, of entries: [StreamEntry] = []) {
    document.sweep()
    if step.isEmpty { return }
    source =
      switch (entries.first, entries.last) {
      case (let first?, let last?) where first.version == last.version: "\(first)"
      case (let first?, let last?): "one of the batches from \(first) to \(last)"
      default: "the state of the server at batch \(version)"
      }
    loop.turn { tree?.perform(step, from: entries.last?.writer ?? "") }
  }

  /// Ends the mirror, because a change of another process does not fit into the tree (A10).
  func failToPerform(on node: MirrorNode?, under key: MirrorKey?, _ reason: String) {
    var path = node.flatMap { document.path(to: $0) } ?? []
    if let key { path.append(key) }
    let name = path.map { DeepChange.Key($0).description }.joined(separator: ".")
    let place = path.isEmpty ? "" : ", '\(name.prefix(200).printable)'"
    fail(
      "a change of another process could not be made: \(source)\(place): \(reason.printable)")
  }

  /// Does the same for the object with this handle.
  package func failToPerform(onHandle handle: Int, under key: String?, _ reason: String) {
    failToPerform(
      on: document.node(ofHandle: handle), under: key.map { .text(Array($0.utf8)) }, reason)
  }

  // MARK: Snapshots

  /// Reads the snapshot that the server has; goes on if a part of it has come before.
  private func beginDownload(_ reply: [Reply]) throws {
    let numbers = reply[2...5].compactMap(\.integer)
    guard let epoch = reply[1].text, numbers.count == 4, numbers[1] <= numbers[0],
      let writer = reply[6].text
    else { throw strange("its answer is incomplete") }
    let size = numbers[3]
    if gapBehind == numbers[1] { throw gap }
    gapBehind = nil
    guard size <= options.limit else {
      throw MirrorError(
        "the snapshot of the mirror '\(name)' has \(size) bytes, and the option 'limit' allows "
          + "\(options.limit)")
    }
    var download = Download(
      epoch: epoch, at: numbers[1], size: size, newest: numbers[0], last: numbers[2],
      lastEntry: (writer, reply[7].integer ?? 0))
    if let former = self.download, former.epoch == epoch, former.at == download.at,
      former.size == size
    {
      download.bytes = former.bytes
      download.entries = former.entries
      // If the server still has the last one, it has all before it.
      download.begun = former.begun ?? download.entries.popLast()
    }
    self.download = download
    link?.isJoining = true
    goOnDownloading()
  }

  private func goOnDownloading() {
    guard let download, let commands = link?.commands else { return }
    let next = download.at + download.entries.count + 1
    if download.bytes.count < download.size {
      run(
        .state,
        [download.epoch.bytes, "\(download.at)".bytes, "\(download.bytes.count)".bytes],
        received { [unowned self] part in
          if let bytes = part.beginning { self.download?.bytes += bytes }
        } whole: { [unowned self] reply in
          guard let rest = reply.bytes else { return false }
          self.download?.bytes += rest
          return download.bytes.count + rest.count == download.size
        })
    } else if let begun = download.begun, next <= download.newest {
      readRest(
        of: begun, on: commands,
        received { [unowned self] part in
          if let bytes = part.beginning { self.download?.begun?.bytes += bytes }
        } whole: { [unowned self] reply in
          guard let rest = reply.bytes else { return false }
          self.download?.entries.append(begun.adding(rest))
          self.download?.begun = nil
          return begun.version == next
        })
    } else if next <= download.newest {
      commands.send(
        ["XRANGE".bytes, keys[0]]
          + ["\(next)-1", "\(download.newest)-1", "COUNT", "\(readAtOnce)"].map(\.bytes),
        received { [unowned self] part in
          let (whole, begun) = arrived(in: part)
          self.download?.entries += whole
          self.download?.begun = begun
        } whole: { [unowned self] reply in
          let entries = try entries(in: reply, after: next - 1)
          chooseReading(after: entries)
          self.download?.entries += entries
          // With a newer snapshot, the stream may have been cut.
          if entries.first?.version != next { gapBehind = download.at }
          return gapBehind == nil
        })
    } else {
      self.download = nil
      link?.isJoining = false
      do { try take(download) } catch {
        fail("\(error)")
      }
    }
  }

  /// Returns a handler of the replies to a part of a download.
  ///
  /// `part` gets the beginning of a reply if the connection was lost, and `whole` the whole reply,
  /// after which the next part is read. If `whole` returns false, the server has another snapshot.
  private func received(
    part: @escaping (Reply) -> Void, whole: @escaping (Reply) throws -> Bool
  ) -> (Reply) -> Void {
    { [weak self, weak commands = link?.commands] reply in
      guard let self else { return }
      if case .lost(let arrived?) = reply {
        part(arrived)
        return noteSuccess()
      }
      guard let commands, link?.commands === commands, check(reply) else { return }
      do {
        if try whole(reply) { return goOnDownloading() }
        download = nil
        link?.isJoining = false
        join()
      } catch {
        fail("\(error)")
      }
    }
  }

  private var gap: MirrorError {
    MirrorError("the stream of the mirror '\(name)' has a gap behind its snapshot")
  }

  /// Takes on a snapshot, and the batches behind it.
  private func take(_ download: Download) throws {
    let (newEpoch, last, entries) = (download.epoch, download.last, download.entries)
    tree?.collect()
    let snapshot: MirrorSnapshot
    do { snapshot = try MirrorSnapshot(from: download.bytes) } catch let error as MirrorFormatError
    {
      throw MirrorError(
        "the snapshot of the mirror '\(name)' is malformed at byte \(error.place): "
          + "\(error.expected) expected")
    }
    guard snapshot.root.kind == document.root.kind else {
      throw MirrorError("the mirror '\(name)' was published by another kind of object")
    }
    let isSame = epoch == newEpoch
    // Acknowledged batches that did not come back yet are sent again.
    let hasLost = isSame && last < acknowledged
    if isSame, last < confirmed {
      tree?.report(
        MirrorError(
          "the server \(address.name) has lost \(confirmed - last) acknowledged batches of this "
            + "process in the mirror '\(name)'"))
    }
    if let journal, journal.writer != nil, let known = journal.epoch, known != newEpoch,
      !journal.records.isEmpty
    {
      throw MirrorError(
        "the journal '\(options.journal ?? "")' belongs to a state that the server no longer has")
    }
    if !epoch.isEmpty, !isSame {
      tree?.report(
        MirrorError(
          "the mirror '\(name)' was published anew on the server \(address.name): "
            + "what this process had is replaced"))
    }
    if state == .stopped { return }
    epoch = newEpoch
    let present = try folded(snapshot, entries, from: download.at)
    let step = document.change { step in
      // The server has these.
      document.dropPending(document.pending.prefix { $0.number <= last }.count)
      document.adopt(present, key: options.key.map { .text($0) }, byName: isSame, in: step)
      // Objects have other names now.
      if !isSame { for batch in document.pending { batch.bytes = nil } }
      if let journal { restore(journal, after: last) }
    }
    version = download.at + entries.count
    lastEntry = entries.last.map { ($0.writer, $0.number) } ?? download.lastEntry
    begun = nil
    // Numbers go on from what the server knows.
    if hasLost { renameWriter() }
    renumber(after: hasLost ? 0 : last)
    perform(step)
    if state == .stopped { return }
    becomeLive()
  }

  /// The state after the batches behind a snapshot.
  private func folded(
    _ snapshot: MirrorSnapshot, _ entries: [StreamEntry], from at: Int
  ) throws -> MirrorSnapshot {
    if entries.isEmpty { return snapshot }
    let scratch = MirrorDocument()
    defer { scratch.end() }
    scratch.begin(with: snapshot)
    for (place, entry) in entries.enumerated() {
      guard entry.version == at + place + 1 else { throw gap }
      do { scratch.apply(try scratch.batch(from: entry.bytes)) } catch {
        throw malformed(entry, error)
      }
    }
    return try MirrorSnapshot(from: scratch.stateBytes())
  }

  /// Takes the batches of an earlier process from the journal.
  private func restore(_ journal: MirrorJournal, after last: Int) {
    let records = journal.takeRecords().filter { $0.number > last }
    do {
      try document.prepend(records.map(\.bytes))
    } catch {
      tree?.report(MirrorError("the journal of the mirror '\(name)' is damaged; it is left out"))
    }
  }

  /// Publishes a new snapshot if one is due; `at` is the version of the last one.
  private func publish(_ newest: Int, _ at: Int) {
    guard newest - at >= options.snapshot, version - at >= options.snapshot / 2, version > at,
      link?.isSnapshotUnderWay == false
    else { return }
    link?.isSnapshotUnderWay = true
    let known = snapshot.flatMap { $0.version > at ? $0 : nil }
    let snapshot = known ?? (version, Upload(bytes: document.stateBytes()))
    self.snapshot = snapshot
    run(
      .snapshot, [epoch.bytes, "\(snapshot.version)".bytes, "\(options.keep)".bytes],
      with: snapshot.upload
    ) { [weak self] reply in
      guard let self, !reply.isLost else { return }
      link?.isSnapshotUnderWay = false
      self.snapshot = nil
      if case .error(let text) = reply, isFull(text) { return }
      check(reply)
    }
  }
}

extension String {
  fileprivate var bytes: [UInt8] { Array(utf8) }
}
