/// The batches of this process that the stream does not have yet: their numbers, and the journal
/// that keeps those that the server has not acknowledged.
final class OwnBatches {
  private let document: MirrorDocument
  private let journal: MirrorJournal?
  /// The id of this process as a writer.
  private(set) var writer: String
  private let network: any MirrorNetwork
  /// The number of the newest batch, of the newest acknowledged one, and of the newest that was
  /// sent on this connection.
  private var (last, acknowledged, sent) = (0, 0, 0)
  /// The size of the batches in `document.pending`.
  private(set) var bytes = 0
  private let onJournalError: (any Error) -> Void

  /// - Throws: `MirrorError` for a bad journal.
  init(
    in document: MirrorDocument, journal path: String?, _ network: any MirrorNetwork,
    onJournalError: @escaping (any Error) -> Void
  ) throws {
    (self.document, self.network, self.onJournalError) = (document, network, onJournalError)
    writer = network.newName()
    journal = try path.map { try MirrorJournal($0) }
    if let journal, let known = journal.writer {
      writer = known
      last = journal.records.last?.number ?? 0
      acknowledged = (journal.records.first?.number ?? 1) - 1
    }
  }

  /// The number of batches that the server has not acknowledged.
  var unacknowledged: Int { last - acknowledged }
  /// The number of the newest batch that the stream has brought back.
  var confirmed: Int { last - document.pending.count }
  /// Whether the journal has had batches of an earlier process.
  var isFromJournal: Bool { journal?.writer != nil }

  func close() { journal?.close() }

  /// Adds a turn's changes, which were made at a position and take about so many bytes.
  func add(_ operations: [MirrorOperation], size: Int, at position: StreamPosition) {
    let base = position.version + document.pending.count
    let batch = document.add(operations)
    last += 1
    (batch.number, batch.base, batch.size) = (last, base, size)
    bytes += size
    if !position.epoch.isEmpty {
      write { try $0.add(batch.number, document.bytes(of: batch), writer, position.epoch) }
    }
  }

  // MARK: Sending

  enum Next {
    case nothing
    case batch(MirrorBatch)
    /// The server has forgotten batches that were confirmed.
    case forgotten
  }

  /// The next batch to send, while fewer than `most` are under way.
  func next(most: Int) -> Next {
    guard let first = document.pending.first?.number, sent < last, sent - acknowledged < most else {
      return .nothing
    }
    let index = sent + 1 - first
    return document.pending.indices.contains(index)
      ? .batch(document.pending[index]) : .forgotten
  }

  func noteSent(_ batch: MirrorBatch) { sent = batch.number }

  /// Sends what is not acknowledged again.
  func sendAgain() { sent = acknowledged }

  /// Notes that the server has the batches up to a number; false if this was known.
  func acknowledge(upTo number: Int, at position: StreamPosition) -> Bool {
    guard number > acknowledged else { return false }
    acknowledged = number
    if unacknowledged == 0 {
      try? journal?.clear()
    } else if journal?.isLarge == true {
      writeJournal(at: position)
    }
    return true
  }

  /// Notes that the stream has brought back the oldest batch; nil if it has another number.
  func confirm(_ number: Int) -> MirrorBatch? {
    guard document.pending.first?.number == number else { return nil }
    document.sweep()
    let batch = document.confirm()
    bytes -= batch.size
    return batch
  }

  /// Takes out the batches from a number on, which others have preceded; nil if there are none.
  func withdraw(
    from number: Int, at position: StreamPosition
  ) -> (MirrorRejections, MirrorStep)? {
    let refused = document.pending.filter { $0.number >= number }
    if refused.isEmpty { return nil }
    for batch in refused {
      batch.isWithdrawn = true
      bytes -= batch.size
    }
    last = number - 1
    sent = min(sent, last)
    let rejections = document.rejections(
      of: refused.flatMap { $0.changes(at: $0.operations.indices) })
    let step = document.withdraw(from: number)
    writeJournal(at: position)
    return (rejections, step)
  }

  // MARK: Numbers

  /// Continues after the last number that the server knows of this writer; false if this process
  /// did not give it.
  func resume(after known: Int, at position: StreamPosition) -> Bool {
    guard known <= last else { return false }
    if known < confirmed {
      // The stream has these batches, but the server has forgotten their numbers.
      renumber(after: 0, asNewWriter: true, at: position)
    } else {
      sent = known
      if known < acknowledged {
        // The server has lost acknowledged batches that the stream had not delivered: send them
        // again.
        acknowledged = known
        writeJournal(at: position)
      }
    }
    return true
  }

  /// Whether the server has forgotten acknowledged batches.
  func isMissingSome(after known: Int) -> Bool { known < acknowledged }

  /// Gives all batches numbers after the one that the server knows.
  ///
  /// A new writer begins at 1: others may have batches whose numbers would be given twice.
  func renumber(after known: Int, asNewWriter isNew: Bool, at position: StreamPosition) {
    if isNew { writer = network.newName() }
    let known = isNew ? 0 : known
    (acknowledged, last, sent, bytes) = (known, known, known, 0)
    for (place, batch) in document.pending.enumerated() {
      last += 1
      (batch.number, batch.base) = (last, position.version + place)
      bytes += batch.size
    }
    writeJournal(at: position)
  }

  // MARK: The journal

  /// Whether batches of an earlier process belong to another state than this one.
  func isJournal(notOf epoch: String) -> Bool {
    guard let journal, journal.writer != nil, let known = journal.epoch else { return false }
    return known != epoch && !journal.records.isEmpty
  }

  /// Adds the batches of an earlier process, inside `MirrorDocument.change`.
  ///
  /// - Throws: `MirrorFormatError` if they are damaged.
  func restore(after known: Int) throws {
    guard let journal else { return }
    try document.prepend(journal.takeRecords().filter { $0.number > known }.map(\.bytes))
  }

  /// Writes the journal anew.
  func writeJournal(at position: StreamPosition) {
    if position.epoch.isEmpty { return }
    let records = document.pending.filter { $0.number > acknowledged }
      .map { ($0.number, document.bytes(of: $0)) }
    write { try $0.replace(by: records, writer, position.epoch) }
  }

  private func write(_ body: (MirrorJournal) throws -> Void) {
    guard let journal else { return }
    do { try body(journal) } catch { onJournalError(error) }
  }
}
