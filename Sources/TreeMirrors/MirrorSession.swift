package import Observables

/// Keeps a tree equal in several processes.
///
/// The server puts their batches into one order.
///
/// Used on the loop's thread.
package final class MirrorSession {
  private let name: String
  private let options: MirrorOptions
  private let loop: Loop
  private weak var tree: (any MirroredTree)?
  let document: MirrorDocument
  private var position = StreamPosition()
  private var phase = Phase.offline
  private var status = Status()
  /// Where the changes come from that are being made in the tree, for messages.
  private var source = ""

  private var own: OwnBatches!
  private var server: MirrorServer!
  private var uploads: Uploads!
  private var reader: StreamReader!
  private var downloads: Downloads!
  private var snapshots: Snapshots!
  private var looks: Looks!

  private enum Phase {
    case offline
    /// The process joins, or waits for a state to join. Behind a gap, the stream must not resume.
    case joining(isBehindGap: Bool)
    /// The server had this version when the process joined.
    case joined(newest: Int)
  }

  private struct Status {
    var state = MirrorState.connecting
    var peers = 0
    /// Why the mirror has failed.
    var failure: Failure?
  }

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

  package var state: MirrorState { status.state }
  /// The number of own batches that the server has not acknowledged.
  package var pending: Int { own.unacknowledged }
  /// The number of own batches that the stream has not brought back yet: others may come before.
  package var unconfirmed: Int { document.pending.count }
  /// The number of batches of the stream that the tree has.
  package var version: Int { position.version }
  /// The number of other processes.
  package var peers: Int { status.peers }

  /// The number of batches that may be under way at once.
  private static let mostSent = 256

  /// - Throws: `MirrorError` for an invalid address, a missing library, or a bad journal.
  package init(
    of tree: any MirroredTree, named name: String, at url: String, _ options: MirrorOptions,
    on loop: Loop
  ) throws {
    (self.tree, self.name, self.options, self.loop) = (tree, name, options, loop)
    let address = try RedisAddress(url)
    document = MirrorDocument(names: options.network.random())
    own = try OwnBatches(in: document, journal: options.journal, options.network) {
      [weak tree] error in
      tree?.report(MirrorError("the journal of the mirror '\(name)' cannot be written: \(error)"))
    }
    server = try MirrorServer(of: self, named: name, at: address, options, on: loop)
    uploads = Uploads(to: server)
    reader = StreamReader(of: server)
    downloads = Downloads(from: server, reader, limit: options.limit)
    snapshots = Snapshots(of: document, to: server, uploads, options)
    looks = Looks(at: server, on: loop)
  }

  /// Takes on the tree, whose bytes make the root first, and begins to connect.
  package func begin(with bytes: [UInt8]) throws {
    begin(with: try document.operations(fromTree: bytes))
  }

  func begin(with operations: [MirrorOperation]) {
    document.begin(with: operations[0].target, operations)
    server.connect()
  }

  /// Ends the mirror; the tree stays as it is.
  package func stop() {
    guard state != .stopped else { return }
    if pending > 0 {
      let batches = pending == 1 ? "1 batch" : "\(pending) batches"
      warn("the mirror '\(name)' was stopped with \(batches) not acknowledged")
    }
    status.state = .stopped
    end()
    own.close()
    document.end()
    tree?.statusDidChange()
  }

  private func end() {
    phase = .offline
    looks.stop()
    server.close()
  }

  // MARK: Failures

  /// Whether the tree may be written, and why not.
  package var refusal: String? {
    if !options.writes { return "the mirror '\(name)' is read-only here" }
    return failure.map { "the mirror '\(name)' has failed: \($0)" }
  }

  /// Why the mirror has failed.
  package var failure: String? { status.failure?.reason }
  private var isOver: Bool {
    if case .final? = status.failure { return true }
    return state == .stopped
  }

  /// Ends the mirror, because it cannot go on.
  package func fail(_ reason: String) { fail(.final(reason)) }

  private func fail(_ failure: Failure) {
    if isOver { return }
    (status.failure, status.state) = (failure, .failed)
    if isOver { end() }
    tree?.report(MirrorError("the mirror '\(name)' has failed: \(failure.reason)"))
    tree?.statusDidChange()
  }

  private func set(_ state: MirrorState) {
    if self.state == .stopped || status.failure != nil { return }
    status.state = state
    tree?.statusDidChange()
  }

  // MARK: Own batches

  /// Takes a turn's changes of the tree, by handles.
  package func wrote(_ bytes: [UInt8]) throws {
    if bytes.isEmpty || state == .stopped { return }
    wrote(try document.operations(fromTree: bytes), size: bytes.count)
  }

  /// Takes a turn's changes of the tree, which take about so many bytes.
  func wrote(_ operations: [MirrorOperation], size: Int) {
    if operations.isEmpty || state == .stopped { return }
    own.add(operations, size: size, at: position)
    if pending > options.mostBatches || own.bytes > options.mostBytes {
      let size = "\(pending) batches of \(own.bytes) bytes"
      fail(.full("\(size) wait for the server, more than a mirror keeps"))
    }
    send()
  }

  private func send() {
    guard case .joined = phase else { return }
    var isSent = false
    // At a full server, one batch at a time finds out whether there is room again.
    sending: while true {
      switch own.next(most: uploads.isFull ? 1 : MirrorSession.mostSent) {
      case .nothing: break sending
      case .forgotten: return server.lost("it has forgotten batches of this process")
      case .batch(let batch):
        let bytes = document.bytes(of: batch)
        // With such a batch, no process that has this limit could read the tree any more.
        guard bytes.count <= options.limit else {
          return fail(
            "the changes of a turn take \(bytes.count) bytes, and the option 'limit' allows "
              + "\(options.limit)")
        }
        let upload = Upload(name: batch.upload ?? options.network.newName(), bytes: bytes)
        batch.upload = upload.name
        guard uploads.canSend(upload, orCall: { [weak self] in self?.send() }) else {
          break sending
        }
        own.noteSent(batch)
        let base = options.check && !batch.commutes ? "\(batch.base)" : ""
        uploads.run(
          .append,
          [position.epoch, own.writer, "\(batch.number)", base, options.network.newName()]
            .map(\.bytes), with: upload
        ) { [weak self] reply in
          self?.appended(batch, reply)
        }
        isSent = true
      }
    }
    if isSent { server.writeAfterTurn() }
  }

  private func appended(_ batch: MirrorBatch, _ reply: Reply) {
    if batch.isWithdrawn || uploads.noteFull(reply) { return }
    let list = reply.list
    switch list.first?.text {
    // The batch before was refused by a full server.
    case "gap" where uploads.isFull, "again" where uploads.isFull: break
    case "ok", "known":
      uploads.noteRoom()
      acknowledge(upTo: batch.number)
      if list.count == 3, let newest = list[1].integer, let at = list[2].integer {
        snapshots.writeIfDue(position, newest: newest, at: at)
      }
    case "base": giveBack(from: batch.number)
    case "gap", "lost": server.lost("it has forgotten batches of this process")
    case "again": server.lost(MirrorServer.forgotten)
    default: if server.check(reply) { server.lost(MirrorServer.notRedis) }
    }
  }

  private func acknowledge(upTo number: Int) {
    guard own.acknowledge(upTo: number, at: position) else { return }
    server.noteSuccess()
    if case .full? = status.failure, pending < options.mostBatches / 2,
      own.bytes < options.mostBytes / 2 || pending == 0
    {
      (status.failure, status.state) = (nil, .live)
    }
    send()
    tree?.statusDidChange()
  }

  /// Gives back batches that others have preceded (`check`).
  private func giveBack(from number: Int) {
    tree?.collect()
    guard let (rejections, step) = own.withdraw(from: number, at: position) else { return }
    perform(step)
    tree?.rejected(rejections)
    tree?.statusDidChange()
  }

  // MARK: Joining

  private func join() {
    guard server.isReady else { return }
    join(publishing: Upload(name: "", bytes: []), as: "")
  }

  /// Goes on from the version of the server's tree, or takes it; publishes a state without one.
  private func join(publishing state: Upload, as newEpoch: String) {
    uploads.run(
      .join,
      [own.writer, position.epoch, "\(version)"].map(\.bytes) + position.last.arguments
        + [newEpoch, "\(mirrorFormat)"].map(\.bytes), with: state
    ) { [weak self] reply in
      guard let self, server.check(reply) else { return }
      do { try joined(reply.list) } catch { fail("\(error)") }
    }
  }

  private func joined(_ reply: [Reply]) throws {
    switch reply.first?.text {
    case "published" where reply.count == 2:
      // The name that this process has given to the state.
      position.epoch = reply[1].text ?? ""
      own.writeJournal(at: position)
      becomeLive()
    case "resume" where reply.count == 5:
      guard let newest = reply[2].integer, let last = reply[4].integer else {
        throw server.strange("its counters are no numbers")
      }
      if case .joining(isBehindGap: true) = phase {
        throw server.strange("its stream has a gap behind batch \(version)")
      }
      guard own.resume(after: last, at: position) else {
        throw server.strange("it has batches that this process did not send")
      }
      acknowledge(upTo: last)
      becomeLive(newest: newest)
    case "state" where reply.count == 9:
      try downloads.begin(reply) { [weak self] download in
        if let download { try self?.take(download) } else { self?.join() }
      }
    case "empty" where own.isFromJournal:
      throw MirrorError(
        "the journal '\(options.journal ?? "")' belongs to a state that the server does not have")
    case "empty" where options.writes && position.epoch.isEmpty:
      join(publishing: snapshots.firstState(), as: options.network.newName())
    case "empty": server.afterPause { [weak self] in self?.join() }
    case "again": server.lost(MirrorServer.forgotten)
    case "format":
      let format = server.address.quoted(reply.last?.bytes ?? [])
      throw MirrorError(
        "the mirror '\(name)' was published in format \(format), and this process knows format "
          + "\(mirrorFormat)")
    case "lost":
      throw MirrorError(
        "the server \(server.address.name) has lost the mirror '\(name)'; nothing is lost here")
    default: throw server.strange("its answer is incomplete")
    }
  }

  private func becomeLive(newest: Int = 0) {
    // A callback may have ended the mirror.
    if isOver || !server.isReady { return }
    phase = .joined(newest: newest)
    snapshots.noteJoined()
    set(newest > version ? .behind : .live)
    send()
    follow()
    looks.begin { [weak self] in self?.look() }
    look()
  }

  private func look() {
    guard case .joined = phase else { return }
    if uploads.isFull, !uploads.isSending {
      own.sendAgain()
      send()
    }
    let version = version
    looks.look(as: own.writer) { [weak self] answer in
      guard let self, case .joined = phase else { return }
      let others = max(0, answer.processes - 1)
      if others != peers {
        status.peers = others
        tree?.statusDidChange()
      }
      if looks.isStuck(at: self.version, answer) || answer.epoch != position.epoch
        || answer.version ?? 0 < version
      {
        server.lost("it has another state")
      }
    }
  }

  // MARK: Batches of all processes

  private func follow() {
    reader.read(after: version, waits: true) { [weak self] reading in
      guard let self, !isOver else { return }
      switch reading {
      case .part(let entries): _ = try take(entries)
      case .whole(let entries):
        if pending == 0 { server.noteSuccess() }
        if try take(entries), case .joined = phase { follow() }
      case .changed: follow()
      }
    }
  }

  /// Takes batches of the stream; false if some before them are missing.
  private func take(_ entries: [StreamEntry]) throws -> Bool {
    if entries.isEmpty { return true }
    // With many own batches, apply the others in one step: each step applies all own ones again.
    let isTogether = document.pending.count > 100
    var rest = entries.drop { $0.version <= version }
    while let entry = rest.first {
      guard entry.version == version + 1 else {
        phase = .joining(isBehindGap: true)
        join()
        return false
      }
      // Local writes come first, so that the document is the tree.
      tree?.collect()
      if state == .stopped { return false }
      if entry.name.writer == own.writer {
        try confirm(entry)
        rest = rest.dropFirst()
        continue
      }
      var next = version
      let group =
        isTogether
        ? rest.prefix { entry in
          next += 1
          return entry.name.writer != own.writer && entry.version == next
        } : rest.prefix(1)
      var problem: (any Error)?
      let step = document.change { step in
        for entry in group {
          if problem != nil { break }
          do {
            document.apply(try document.batch(from: entry.bytes), in: step)
            position.advance(to: entry)
          } catch { problem = entry.malformed(error) }
        }
      }
      perform(step, of: Array(group))
      if let problem { throw problem }
      if state == .stopped { return false }
      rest = rest.dropFirst(group.count)
    }
    if state == .behind, case .joined(let newest) = phase, version >= newest { set(.live) }
    tree?.statusDidChange()
    return true
  }

  private func confirm(_ entry: StreamEntry) throws {
    position.advance(to: entry)
    guard let batch = own.confirm(entry.name.number) else {
      throw MirrorError("batch \(entry.version) has a number that this process did not give")
    }
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
    loop.turn { tree?.perform(step, from: entries.last?.name.writer ?? "") }
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

  // MARK: Published states

  /// Takes on a published state.
  private func take(_ download: Download) throws {
    let (epoch, last) = (download.epoch, download.last)
    tree?.collect()
    if isOver { return }
    let present = try downloads.state(in: download, for: document.root.kind)
    let isSame = position.epoch == epoch
    // Acknowledged batches that did not come back yet are sent again.
    let isMissingSome = own.isMissingSome(after: last)
    if isSame, last < own.confirmed {
      tree?.report(
        MirrorError(
          "the server \(server.address.name) has lost \(own.confirmed - last) acknowledged batches "
            + "of this process in the mirror '\(name)'"))
    }
    if own.isJournal(notOf: epoch) {
      throw MirrorError(
        "the journal '\(options.journal ?? "")' belongs to a state that the server no longer has")
    }
    if !position.epoch.isEmpty, !isSame {
      tree?.report(
        MirrorError(
          "the mirror '\(name)' was published anew on the server \(server.address.name): "
            + "what this process had is replaced"))
    }
    if state == .stopped { return }
    let step = document.change { step in
      // The server has these.
      document.dropPending(document.pending.prefix { $0.number <= last }.count)
      document.adopt(present, key: options.key.map { .text($0) }, byName: isSame, in: step)
      // Objects have other names now.
      if !isSame { for batch in document.pending { batch.bytes = nil } }
      do { try own.restore(after: last) } catch {
        tree?.report(
          MirrorError("the journal of the mirror '\(name)' is damaged; it is left out"))
      }
    }
    position = download.position
    own.renumber(after: last, asNewWriter: isMissingSome, at: position)
    perform(step)
    becomeLive()
  }
}

extension MirrorSession: MirrorServerClient {
  func serverIsReady() {
    phase = .joining(isBehindGap: false)
    join()
  }

  func serverWasLost() {
    phase = .offline
    own.sendAgain()
    uploads.serverWasLost()
    snapshots.serverWasLost()
    looks.serverWasLost()
    if state != .connecting { set(.offline) }
  }

  func readLess() -> Bool { reader.readLess() }

  func warn(_ text: String) {
    if let warned = options.onWarning { warned(text) } else { tree?.warn(text) }
  }
}
