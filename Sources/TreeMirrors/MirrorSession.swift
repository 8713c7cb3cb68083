internal import DequeModule
package import Observables

/// The state of a mirror.
public enum MirrorState: String, Sendable {
  /// The server has not answered yet.
  case connecting
  /// The tree has everything that the server had a moment ago.
  case live
  /// The server has batches that the tree does not have yet.
  case behind
  /// The connection is lost, and the mirror tries to connect again.
  case offline
  /// Writes are refused: too much waits for the server, or the mirror cannot go on.
  case failed
  /// The mirror was ended.
  case stopped
}

/// How a tree is mirrored.
package struct MirrorOptions {
  /// Whether this process may write.
  package var writes = true
  /// The number of batches that stay in the stream behind the snapshot.
  package var keep = 10_000
  /// After how many batches there is a new snapshot.
  package var snapshot = 1000
  /// The field by which elements of lists are the same, when the tree takes on a published state.
  package var key: [UInt8]?
  /// Whether a batch that others have preceded is given back.
  package var check = false
  /// The path of the file that keeps unacknowledged batches.
  package var journal: String?
  /// The limits of what waits for the server: batches and bytes.
  package var (mostBatches, mostBytes) = (100_000, 64 << 20)

  /// The shortest and the longest time between attempts to connect, in seconds.
  package var delays = (0.05, 2.0)

  package init() {}
}

/// The tree of this process, of a script or of Swift objects.
package protocol MirroredTree: AnyObject {
  /// Gives the session what was written since the last call, by `MirrorSession.wrote`.
  func collect()
  /// Makes the changes of others in the tree, as the writes of `writer`.
  func perform(_ step: MirrorStep, from writer: String)
  /// Receives changes of this process that were dropped (A4).
  func rejected(_ rejections: MirrorRejections)
  /// Called after `state`, `pending`, `version` or `peers` has changed.
  func statusDidChange()
  /// Reports an error that has no caller.
  func report(_ error: MirrorError)
  /// Tells the reader of a log what may go wrong, while the mirror goes on.
  func warn(_ text: String)
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

  private var commands: RedisConnection?
  private var follower: RedisConnection?
  private var scripts: [ServerScript: [UInt8]] = [:]
  private var delay: Double
  private var retry: LoopTimer?
  private var looking: LoopTimer?
  private var looks = (version: -1, count: 0)
  private var isSnapshotUnderWay = false
  private var isJoining = false
  /// The version that the server had when this process joined.
  private var newest = 0
  private var isFollowing = false
  /// Whether a batch was missing in the stream.
  private var hasGap = false
  /// How often the server was looked at since it last answered, on each connection.
  private var unanswered = (commands: 0, follower: 0)
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

  /// - Throws: `MirrorError` for a name that keys of the server cannot have.
  package static func check(name: String) throws(MirrorError) {
    let isGood = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "-")...UInt8(ascii: ":"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    if name.isEmpty || name.utf8.count > 200 || !isGood {
      throw MirrorError(
        "a mirror has a name of 1 to 200 letters, digits and any of _ . : / -, not '\(name)'")
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
      tree?.warn("the mirror '\(name)' was stopped with \(pending) batches not acknowledged")
    }
    disconnect()
    looking?.stop()
    retry?.stop()
    (looking, retry) = (nil, nil)
    state = .stopped
    journal?.close()
    document.end()
    tree?.statusDidChange()
  }

  // MARK: Own batches

  /// Whether the tree may be written, and why not.
  package var refusal: String? {
    if !options.writes { return "the mirror '\(name)' is read-only here" }
    switch state {
    case .failed: return "the mirror '\(name)' has failed: \(failure ?? "")"
    default: return nil
    }
  }

  /// Why the mirror has failed.
  package private(set) var failure: String?

  /// Takes a turn's changes of the tree, by handles.
  package func wrote(_ bytes: [UInt8]) throws {
    if bytes.isEmpty || state == .stopped { return }
    wrote(try document.operations(fromTree: bytes), size: bytes.count)
  }

  /// Takes a turn's changes of the tree, which take about so many bytes.
  func wrote(_ operations: [MirrorOperation], size: Int) {
    if operations.isEmpty || state == .stopped { return }
    let batch = MirrorBatch(operations)
    batch.base = version + document.pending.count
    document.add(batch)
    lastNumber += 1
    batch.number = lastNumber
    batch.size = size
    pendingBytes += size
    if !epoch.isEmpty { keep(batch) }
    if pending > options.mostBatches || pendingBytes > options.mostBytes {
      fail(
        "\(pending) batches of \(pendingBytes) bytes wait for the server, more than a mirror keeps",
        isFinal: false)
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
    guard let commands, !epoch.isEmpty, let append = scripts[.append] else { return }
    guard let first = document.pending.first?.number else { return }
    var isSent = false
    while sent < lastNumber, sent - acknowledged < MirrorSession.mostSent {
      let index = sent + 1 - first
      guard document.pending.indices.contains(index) else {
        return lost("it has forgotten batches of this process")
      }
      let batch = document.pending[index]
      sent = batch.number
      let base = options.check ? "\(batch.base)" : ""
      run(
        append, .append, on: commands,
        [epoch.bytes, writer.bytes, "\(batch.number)".bytes, base.bytes, encoded(batch)]
      ) { [weak self] reply in
        self?.appended(batch, reply)
      }
      isSent = true
    }
    if isSent { loop.whenTurnEnds { [weak commands] in commands?.write() } }
  }

  private func appended(_ batch: MirrorBatch, _ reply: RedisConnection.Reply) {
    if batch.isWithdrawn { return }
    let list = reply.list
    switch (list.first?.text, reply) {
    case ("ok"?, _), ("known"?, _):
      acknowledge(upTo: batch.number)
      if list.count == 3, let newest = list[1].integer, let at = list[2].integer {
        publish(newest, at)
      }
    case ("base"?, _): giveBack(from: batch.number)
    case ("gap"?, _), ("lost"?, _):
      lost("it has forgotten batches of this process")
    case (_, .error(let text)): refuse(text)
    default: break
    }
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
    if state == .failed, failureIsFinal == false, pending < options.mostBatches / 2,
      pendingBytes < options.mostBytes / 2 || pending == 0
    {
      failure = nil
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
    let rejections = document.rejections(of: refused.flatMap(\.operations))
    let step = document.withdraw(from: number)
    keepAll()
    perform(step, from: "")
    tree?.rejected(rejections)
    tree?.statusDidChange()
  }

  // MARK: Connecting

  private func connect() {
    guard state != .stopped, failureIsFinal != true else { return }
    do {
      let commands = try RedisConnection(to: address, on: loop)
      commands.ended = { [weak self] reason in self?.lost(reason) }
      let follower = try RedisConnection(to: address, on: loop)
      follower.ended = { [weak self] reason in self?.lost(reason) }
      (self.commands, self.follower) = (commands, follower)
      logIn(commands)
      logIn(follower)
      prepare(commands)
    } catch let error as ConnectionFailure {
      lost(error.reason)
    } catch {
      fail("\(error)", isFinal: true)
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
      guard let self, check(reply), let text = reply.text else { return }
      checkSettings(text)
    }
    var left = ServerScript.allCases.count
    for script in ServerScript.allCases {
      connection.send(["SCRIPT".bytes, "LOAD".bytes, script.rawValue.bytes]) { [weak self] reply in
        guard let self, check(reply), let name = reply.bytes else { return }
        scripts[script] = name
        left -= 1
        if left == 0 { join() }
      }
    }
  }

  private func checkSettings(_ info: String) {
    var facts: [Substring: Substring] = [:]
    for line in info.split(whereSeparator: { $0 == "\r\n" || $0 == "\n" || $0 == "\r" }) {
      if let colon = line.firstIndex(of: ":") {
        facts[line[..<colon]] = line[line.index(after: colon)...]
      }
    }
    if let version = facts["redis_version"] {
      let parts = version.split(separator: ".").map { Int($0) ?? 0 }
      if (parts.first ?? 0, parts.dropFirst().first ?? 0) < (6, 2) {
        fail(
          "the server \(address.name) has version \(version); a mirror needs Redis 6.2 or later",
          isFinal: true)
      }
    }
    if hasWarned { return }
    hasWarned = true
    var reasons: [String] = []
    if facts["aof_enabled"] == "0" {
      reasons.append("without an append-only file, it forgets acknowledged writes when it ends")
    }
    if let policy = facts["maxmemory_policy"], policy != "noeviction", facts["maxmemory"] != "0" {
      reasons.append("with maxmemory-policy \(policy), it may drop the whole state")
    }
    if !reasons.isEmpty {
      tree?.warn(
        "the mirror '\(name)' is not safe on the server \(address.name): "
          + reasons.joined(separator: "; "))
    }
  }

  private func run(
    _ name: [UInt8], _ script: ServerScript, on connection: RedisConnection, _ arguments: [[UInt8]],
    _ replied: @escaping (RedisConnection.Reply) -> Void
  ) {
    connection.send(["EVALSHA".bytes, name, "5".bytes] + keys + arguments, replied)
  }

  private lazy var keys = ["s", "m", "w", "d", "p"].map { "obs:{\(name)}:\($0)".bytes }

  private func join() {
    guard let commands, let join = scripts[.join], !isJoining else { return }
    isJoining = true
    let mayPublish = options.writes && epoch.isEmpty && journal?.writer == nil
    let state = mayPublish ? document.stateBytes() : []
    run(
      join, .join, on: commands,
      [
        writer.bytes, epoch.bytes, "\(version)".bytes, lastEntry.writer.bytes,
        "\(lastEntry.number)".bytes, mayPublish ? MirrorSession.newName().bytes : [], state,
        "\(mirrorFormat)".bytes,
      ]
    ) { [weak self] reply in
      guard let self else { return }
      isJoining = false
      guard check(reply) else { return }
      do { try joined(reply.list) } catch let error as MirrorError {
        fail(error.description, isFinal: true)
      } catch {
        fail("\(error)", isFinal: true)
      }
    }
  }

  private func joined(_ reply: [RedisConnection.Reply]) throws {
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
      if hasGap { throw strange("its stream has a gap behind batch \(version)") }
      try goOn(after: last)
      becomeLive(newest: newest)
    case "state": try takeState(reply)
    case "empty" where journal?.writer != nil:
      throw MirrorError(
        "the journal '\(options.journal ?? "")' belongs to a state that the server does not have")
    case "empty":
      retry = loop.after(options.delays.1 / 4) { [weak self] in self?.join() }
    case "format":
      throw MirrorError(
        "the mirror '\(name)' was published in format \(reply.last?.text ?? "?"), and this process "
          + "knows format \(mirrorFormat)")
    case "lost":
      throw MirrorError(
        "the server \(address.name) has lost the mirror '\(name)'; nothing is lost here")
    default: throw strange("its answer is incomplete")
    }
  }

  private func strange(_ reason: String) -> MirrorError {
    MirrorError("the server \(address.name) has no valid mirror '\(name)': \(reason)")
  }

  /// Numbers what waits behind the last number that the server knows.
  private func goOn(after last: Int) throws {
    guard last <= lastNumber else {
      throw strange("it has batches that this process did not send")
    }
    sent = last
    acknowledge(upTo: last)
    if let first = document.pending.first, first.number > last + 1 {
      tree?.report(
        MirrorError(
          "the server \(address.name) has lost \(first.number - last - 1) acknowledged batches of "
            + "this process in the mirror '\(name)'"))
      renameWriter()
      renumber(after: 0)
    } else if document.pending.isEmpty, last < lastNumber {
      renumber(after: last)
    }
  }

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
    if state == .stopped || commands == nil { return }
    hasGap = false
    self.newest = newest
    set(newest > version ? .behind : .live)
    send()
    follow()
    if looking == nil {
      looking = loop.every(2) { [weak self] in self?.look() }
    }
    look()
  }

  private func set(_ state: MirrorState) {
    if self.state == .stopped || self.state == .failed && failure != nil { return }
    self.state = state
    tree?.statusDidChange()
  }

  private func look() {
    guard let commands, let script = scripts[.look], !epoch.isEmpty else { return }
    // The follower waits for five seconds at most.
    if unanswered.commands > 3 || unanswered.follower > 5 {
      return lost("it does not answer")
    }
    unanswered = (unanswered.commands + 1, unanswered.follower + 1)
    let version = version
    run(script, .look, on: commands, [writer.bytes]) { [weak self] reply in
      guard let self, case .list(let list) = reply, list.count == 3 else { return }
      unanswered.commands = 0
      let others = max(0, (list[2].integer ?? 1) - 1)
      if others != peers {
        peers = others
        tree?.statusDidChange()
      }
      // If the stream was deleted or replaced, XREAD waits without an error.
      let isStuck = list[1].integer != self.version && looks.version == self.version
      looks = (self.version, isStuck ? looks.count + 1 : 0)
      if list[0].text != epoch || list[1].integer ?? 0 < version || looks.count > 2 {
        looks.count = 0
        lost("it has another state")
      }
    }
  }

  /// Checks a reply to a command of this mirror's own; false if the mirror cannot go on with it.
  @discardableResult
  private func check(_ reply: RedisConnection.Reply) -> Bool {
    switch reply {
    case .error(let text):
      refuse(text)
      return false
    case .lost: return false
    default: return true
    }
  }

  /// Handles an error of the server.
  private func refuse(_ text: String) {
    let fatal = [
      "WRONGPASS", "NOAUTH", "NOPERM", "ERR AUTH", "ERR invalid", "ERR unknown command", "ERR DB",
    ]
    if fatal.contains(where: { text.hasPrefix($0) }) || text.contains("WRONGTYPE")
      || text.contains("executing the script can't")
    {
      return fail("the server \(address.name) refuses it: \(text)", isFinal: true)
    }
    // Tried again: a full disk may get room, and a server that loads its data comes to an end.
    lost("it refuses for now: \(text)")
  }

  /// The connection was lost.
  private func lost(_ reason: String) {
    disconnect()
    guard state != .stopped, failureIsFinal != true else { return }
    failures += 1
    // A short break is not worth a word.
    if failures > 2, reported.insert(reason).inserted {
      tree?.warn("mirror '\(name)', server \(address.name): \(reason)")
    }
    if state != .connecting { set(.offline) }
    let wait = delay * Double.random(in: 0.5...1)
    delay = min(2 * delay, options.delays.1)
    retry?.stop()
    retry = loop.after(wait) { [weak self] in self?.connect() }
  }

  private func disconnect() {
    let connections = [commands, follower]
    (commands, follower) = (nil, nil)
    scripts = [:]
    sent = acknowledged
    (isSnapshotUnderWay, isJoining, isFollowing) = (false, false, false)
    unanswered = (0, 0)
    for connection in connections { connection?.close() }
  }

  private var failureIsFinal: Bool?

  /// Ends the mirror because its tree cannot follow.
  package func fail(_ reason: String) { fail(reason, isFinal: true) }

  private func fail(_ reason: String, isFinal: Bool) {
    if failureIsFinal == true || state == .stopped { return }
    (failure, failureIsFinal) = (reason, isFinal)
    state = .failed
    if isFinal {
      disconnect()
      looking?.stop()
      looking = nil
    }
    tree?.report(MirrorError("the mirror '\(name)' has failed: \(reason)"))
    tree?.statusDidChange()
  }

  // MARK: Batches of all processes

  private struct Entry {
    let version: Int
    let writer: String
    let number: Int
    let bytes: [UInt8]

    init(_ reply: RedisConnection.Reply) throws {
      let parts = reply.list
      let fields = parts.count == 2 ? parts[1].list : []
      let id = parts.first?.text ?? "?"
      guard parts.count == 2, fields.count == 6, id.hasSuffix("-1"),
        let version = Int(id.dropLast(2)), version < 1 << 53, let writer = fields[1].text,
        let number = fields[3].integer, let bytes = fields[5].bytes
      else { throw MirrorError("the entry \(id) of the stream is no batch") }
      (self.version, self.writer, self.number, self.bytes) = (version, writer, number, bytes)
    }
  }

  private func follow() {
    guard let follower, !isFollowing else { return }
    isFollowing = true
    follower.send(
      ["XREAD", "COUNT", "500", "BLOCK", "5000", "STREAMS"].map(\.bytes)
        + [keys[0], "\(version)-1".bytes]
    ) { [weak self, weak follower] reply in
      guard let self, self.follower === follower else { return }
      isFollowing = false
      unanswered.follower = 0
      guard check(reply) else { return }
      if pending == 0 { noteSuccess() }
      do {
        let entries = try (reply.list.first?.list.last?.list ?? []).map(Entry.init)
        // After a gap, joining goes on.
        if try take(entries), self.follower === follower { self.follow() }
      } catch {
        fail("\(error)", isFinal: true)
      }
    }
  }

  /// Takes batches of the stream; false if some before them are missing.
  private func take(_ entries: [Entry]) throws -> Bool {
    if entries.isEmpty { return true }
    // With many own batches, apply the others in one step: each step applies all own ones again.
    let isTogether = document.pending.count > 100
    var rest = entries.drop { $0.version <= version }
    while let entry = rest.first {
      guard entry.version == version + 1 else {
        hasGap = true
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
            document.applyConfirmed(try document.batch(from: entry.bytes), in: step)
            version = entry.version
            lastEntry = (entry.writer, entry.number)
          } catch { problem = malformed(entry, error) }
        }
      }
      perform(step, from: group.last?.writer ?? "")
      if let problem { throw problem }
      if state == .stopped { return false }
      rest = rest.dropFirst(group.count)
    }
    if state == .behind, version >= newest { set(.live) }
    tree?.statusDidChange()
    return true
  }

  private func malformed(_ entry: Entry, _ error: any Error) -> MirrorError {
    var reason = ""
    if let error = error as? MirrorFormatError {
      reason = " at byte \(error.place): \(error.expected) expected"
    }
    return MirrorError("batch \(entry.version) of writer \(entry.writer) is malformed\(reason)")
  }

  private func confirm(_ entry: Entry) throws {
    (version, lastEntry) = (entry.version, (entry.writer, entry.number))
    guard let first = document.pending.first, first.number == entry.number else {
      throw MirrorError("batch \(entry.version) has a number that this process did not give")
    }
    document.sweep()
    let batch = document.confirm()
    pendingBytes -= batch.size
    acknowledge(upTo: batch.number)
    if !batch.dropped.isEmpty {
      tree?.rejected(document.rejections(of: batch.dropped.map { batch.operations[$0] }))
    }
  }

  /// Makes the changes of a step in the tree, as one turn.
  private func perform(_ step: MirrorStep, from writer: String) {
    document.sweep()
    if step.isEmpty { return }
    loop.turn { tree?.perform(step, from: writer) }
  }

  // MARK: Snapshots

  private func takeState(_ reply: [RedisConnection.Reply]) throws {
    guard reply.count == 7, let newEpoch = reply[1].text, let last = reply[4].integer,
      let at = reply[3].integer, let bytes = reply[5].bytes
    else { throw strange("its answer is incomplete") }
    tree?.collect()
    let entries = try reply[6].list.map(Entry.init)
    let snapshot: MirrorSnapshot
    do { snapshot = try MirrorSnapshot(from: bytes) } catch let error as MirrorFormatError {
      throw MirrorError(
        "the snapshot of the mirror '\(name)' is malformed at byte \(error.place): "
          + "\(error.expected) expected")
    }
    guard snapshot.root.kind == document.root.kind else {
      throw MirrorError("the mirror '\(name)' was published by another kind of object")
    }
    let isSame = epoch == newEpoch
    let hasLost = isSame && last < acknowledged
    if hasLost {
      tree?.report(
        MirrorError(
          "the server \(address.name) has lost \(acknowledged - last) acknowledged batches of this "
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
    let present = try folded(snapshot, entries, from: at)
    let step = document.change { step in
      // The server has these.
      document.dropPending(document.pending.prefix { $0.number <= last }.count)
      document.adopt(present, key: options.key.map { .text($0) }, byName: isSame, in: step)
      // Objects have other names now.
      if !isSame { for batch in document.pending { batch.bytes = nil } }
      if let journal { restore(journal, after: last) }
    }
    version = at + entries.count
    lastEntry = entries.last.map { ($0.writer, $0.number) } ?? ("", 0)
    // Numbers go on from what the server knows.
    if hasLost { renameWriter() }
    renumber(after: hasLost ? 0 : last)
    perform(step, from: "")
    if state == .stopped { return }
    becomeLive()
  }

  /// The state after the batches behind a snapshot.
  private func folded(
    _ snapshot: MirrorSnapshot, _ entries: [Entry], from at: Int
  ) throws -> MirrorSnapshot {
    if entries.isEmpty { return snapshot }
    let scratch = MirrorDocument()
    defer { scratch.end() }
    scratch.begin(with: snapshot)
    for (place, entry) in entries.enumerated() {
      guard entry.version == at + place + 1 else {
        throw MirrorError("the stream of the mirror '\(name)' has a gap behind its snapshot")
      }
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
    guard newest >= at, newest - at >= options.snapshot, version - at >= options.snapshot / 2,
      version > at,
      !isSnapshotUnderWay, let commands, let script = scripts[.snapshot]
    else { return }
    isSnapshotUnderWay = true
    run(
      script, .snapshot, on: commands,
      [epoch.bytes, "\(version)".bytes, document.stateBytes(), "\(options.keep)".bytes]
    ) { [weak self] reply in
      guard let self else { return }
      isSnapshotUnderWay = false
      check(reply)
    }
  }
}

extension String {
  fileprivate var bytes: [UInt8] { Array(utf8) }
}
