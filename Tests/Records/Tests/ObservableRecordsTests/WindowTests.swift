import Foundation
import ObservableRecords
import Synchronization
import Testing

/// R5: others write between any two statements of the store.
struct WindowTests {
  /// Another program on the file, which writes before chosen statements of the store, if it can.
  private final class Rival: Sendable {
    private struct State {
      var isActive = false
      var statements = 0
      var writes = 0
      var wrong: [String] = []
      var queue: DatabaseQueue?
    }
    private let state = Mutex(State())
    private let path: String
    private let isTurn: @Sendable (_ sql: String, _ statement: Int, _ writes: Int) -> Bool

    init(_ path: String, _ isTurn: @escaping @Sendable (String, Int, Int) -> Bool) {
      (self.path, self.isTurn) = (path, isTurn)
    }

    /// The configuration of the store's database.
    var configuration: Configuration {
      var configuration = Configuration()
      configuration.busyMode = .timeout(10)
      configuration.prepareDatabase { db in
        try db.execute(sql: "PRAGMA synchronous = OFF")
        db.trace { [weak self] event in
          if case .statement(let statement) = event { self?.heard(statement.sql) }
        }
      }
      return configuration
    }

    func start() throws {
      let queue = try DatabaseQueue(path: path)
      state.withLock { ($0.isActive, $0.queue) = (true, queue) }
    }

    /// Stops; returns the number of writes, and the wrong totals that were seen.
    func stop() -> (writes: Int, wrong: [String]) {
      state.withLock { state in
        state.isActive = false
        return (state.writes, state.wrong)
      }
    }

    /// Adds an item and counts it, in one transaction.
    func write() { write(state.withLock { $0.queue }) }

    private func heard(_ sql: String) {
      let queue = state.withLock { state -> DatabaseQueue? in
        guard state.isActive else { return nil }
        state.statements += 1
        guard isTurn(sql, state.statements, state.writes) else { return nil }
        return state.queue
      }
      write(queue)
    }

    private func write(_ queue: DatabaseQueue?) {
      guard let queue else { return }
      do {
        let wrong = try queue.write { db in
          let wrong = try String.fetchAll(db, sql: WindowTests.wrongTotals)
          try db.execute(
            sql: """
              INSERT INTO item(product, quantity, price, invoiceID) VALUES ('salt', 1, 5, 1);
              UPDATE invoice SET customer = customer || '.', total =
                (SELECT SUM(quantity * price) FROM item WHERE invoiceID = invoice.id)
              """)
          return wrong
        }
        state.withLock { state in
          state.writes += 1
          state.wrong += wrong
        }
      } catch {
        // The store has locked the database.
      }
    }
  }

  private static let wrongTotals = """
    SELECT id || ': ' || total FROM invoice WHERE total <>
      (SELECT coalesce(SUM(quantity * price), 0) FROM item WHERE invoiceID = invoice.id)
    """

  /// Makes a store on a file beside a rival, and runs `body` with Ann's invoice.
  private func compete(
    _ saving: RecordStore.Saving, isPool: Bool = false, areTotalsRight: Bool = true,
    when isTurn: @escaping @Sendable (String, Int, Int) -> Bool,
    _ body: (Ledger, Invoice, Rival) throws -> Void
  ) throws -> Int {
    let folder = Folder()
    let rival = Rival(folder.file, isTurn)
    let database: any DatabaseWriter =
      isPool
      ? try DatabasePool(path: folder.file, configuration: rival.configuration)
      : try DatabaseQueue(path: folder.file, configuration: rival.configuration)
    let ledger = try Ledger(database, saving: saving)
    _ = try ledger.addInvoice("Ann", [("tea", 1, 2)])
    _ = try ledger.addInvoice("Bob", [("pie", 1, 4)])
    let all = try ledger.store.query(Invoice.order(Column("id")))
    let watcher = try all.observe("total", in: ledger.loop) { _ in }
    ledger.loop.run()
    try rival.start()
    try body(ledger, all[0], rival)
    let (writes, wrong) = rival.stop()
    watcher.stop()
    ledger.look()
    if areTotalsRight { #expect(wrong == []) }
    #expect(try ledger.rows(WindowTests.wrongTotals) == [])
    #expect(try ledger.rows("SELECT total FROM invoice ORDER BY id") == all.map { "\($0.total)" })
    #expect(ledger.errors.texts == [])
    return writes
  }

  private func save(_ ledger: Ledger, _ body: () throws -> Void) throws {
    try ledger.loop.turn(body)
    if ledger.store.saving == .explicit { try ledger.store.save() }
    ledger.loop.run()
  }

  @Test(
    arguments: [RecordStore.Saving.synchronous, .asynchronous, .explicit], [true, false])
  func `a save is repeated once, however often others write`(
    _ saving: RecordStore.Saving, _ isPool: Bool
  ) throws {
    let writes = try compete(
      saving, isPool: isPool, when: { sql, _, writes in sql.hasPrefix("BEGIN IMM") && writes < 99 }
    ) { ledger, ann, _ in
      let tea = ann.items[0]
      try save(ledger) { tea.quantity = 3 }
      #expect(tea.quantity == 3 && !ledger.store.hasUnsavedChanges)
    }
    #expect(writes == 2)
  }

  @Test(arguments: [RecordStore.Saving.synchronous, .asynchronous], [true, false])
  func `no total is wrong, whenever others write`(
    _ saving: RecordStore.Saving, _ isPool: Bool
  ) throws {
    var (place, hasWritten) = (1, true)
    while hasWritten {
      let first = place
      let writes = try compete(
        saving, isPool: isPool, when: { _, statement, writes in statement >= first && writes == 0 }
      ) { ledger, ann, _ in
        let tea = ann.items[0]
        try save(ledger) { tea.quantity = 2 }
        ledger.look()
        try save(ledger) { ann.items.append(Item("jam", 1, 3)) }
        ledger.look()
        try save(ledger) { ledger.store.delete(tea) }
      }
      hasWritten = writes > 0
      place += 1
    }
    #expect(place > 10)
  }

  @Test(arguments: [RecordStore.Saving.synchronous, .asynchronous])
  func `no total is wrong if others write before every statement`(
    _ saving: RecordStore.Saving
  ) throws {
    let writes = try compete(saving, isPool: true, when: { _, _, writes in writes < 200 }) {
      ledger, ann, _ in
      let tea = ann.items[0]
      for count in 2...5 {
        try save(ledger) { tea.quantity = count }
        ledger.look()
      }
    }
    #expect(writes > 10)
  }

  // The rows of the others are not in memory: a value that is computed without them is wrong.
  @Test func `a save whose read of others' rows failed is not saved without them`() throws {
    _ = try compete(.explicit, when: { _, _, _ in false }) { ledger, ann, rival in
      let tea = ann.items[0]
      rival.write()
      tea.quantity = 3
      let isBroken = Mutex(true)
      ledger.database.writeWithoutTransaction { db in
        db.trace { [database = ledger.database] event in
          let text = "\(event)"
          if text.contains("FROM \"item\""), isBroken.withLock({ $0 }) { database.interrupt() }
        }
      }
      #expect(throws: SaveError.self) { try ledger.store.save() }
      isBroken.withLock { $0 = false }
      try ledger.store.save()
    }
  }

  // R3: no part of a transaction arrives alone.
  @Test func `an immediate watcher sees, and saves, whole transactions of others`() throws {
    _ = try compete(.synchronous, when: { _, _, _ in false }) { ledger, ann, rival in
      let tea = ann.items[0]
      var seen: [String] = []
      let watcher = try ann.observeImmediately("customer", in: ledger.loop) { ann, _ in
        seen.append("\(ann.customer) \(ann.items.count)")
        tea.quantity += 1
        try ledger.store.save()
      }
      rival.write()
      ledger.look()
      watcher.stop()
      #expect(seen == ["Ann. 2"] && tea.quantity == 2)
    }
  }

  @Test func `refreshing stored properties takes writes of others into account`() throws {
    _ = try compete(
      .explicit, areTotalsRight: false,
      when: { sql, _, writes in sql.hasPrefix("BEGIN IMM") && writes == 0 }
    ) { ledger, ann, _ in
      // By a program that does not know the class.
      try ledger.database.writeWithoutTransaction { db in
        try db.execute(sql: "UPDATE item SET quantity = 7 WHERE invoiceID = 1")
      }
      ledger.loop.run()
      #expect(ann.items[0].quantity == 7)
      #expect(try ledger.store.refreshStored(Invoice.self) == 1)
    }
  }

  @Test func `a list that was loaded with another one has the rows of others`() throws {
    _ = try compete(.synchronous, when: { _, _, _ in false }) { ledger, _, rival in
      var invoices = try ledger.store.fetch(Invoice.order(Column("id").desc))
      let pie = try #require(try ledger.store.find(Item.self, 2))
      // Saving Bob's total loads the items of both.
      ledger.loop.turn { pie.quantity = 2 }
      rival.write()
      ledger.look()
      ledger.loop.turn { invoices[1].items.append(Item("jam", 1, 3)) }
      ledger.loop.run()
      #expect(invoices[1].items.map(\.product) == ["tea", "salt", "jam"])
      invoices = []
    }
  }
}
