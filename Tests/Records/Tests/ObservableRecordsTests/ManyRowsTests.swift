import Foundation
import ObservableRecords
import Testing

/// R2–R4: the work for each row does not depend on the number of other rows.
///
/// These tests end within seconds; with quadratic work they would take an hour.
@Suite(.timeLimit(.minutes(30))) struct ManyRowsTests {
  private static let count =
    ProcessInfo.processInfo.environment["OBS_COUNT"].flatMap { Int($0) } ?? 10_000

  /// A ledger with one invoice of many items, which are shown by the invoice and by a query.
  private func shown(
    _ saving: RecordStore.Saving = .asynchronous
  ) throws -> (Ledger, Invoice, ObservableArray<Item>) {
    let ledger = try Ledger(saving: saving)
    let id = try ledger.addInvoice("Ann")
    try ledger.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.count))
      INSERT INTO item(product, quantity, price, invoiceID) SELECT 'p', i, 1, \(id) FROM n;
      UPDATE invoice SET total = (SELECT SUM(quantity * price) FROM item)
      """)
    ledger.loop.run()
    let ann = try ledger.invoice(id)
    let all = try ledger.store.query(Item.order(Column("quantity"), Column("id")))
    #expect(ann.items.count == Self.count && all.count == Self.count)
    return (ledger, ann, all)
  }

  private func check(_ ledger: Ledger, _ ann: Invoice, _ all: ObservableArray<Item>) throws {
    ledger.loop.run()
    #expect(ledger.errors.texts == [] && !ledger.store.hasUnsavedChanges)
    let saved = try ledger.rows("SELECT id FROM item ORDER BY quantity, id")
    #expect(all.map { "\($0.id ?? 0)" } == saved)
    #expect(Set(ann.items.map(ObjectIdentifier.init)) == Set(all.map(ObjectIdentifier.init)))
    #expect(ann.items.count == all.count)
    #expect(try ledger.rows("SELECT total FROM invoice") == ["\(ann.total)"])
  }

  @Test(arguments: [0, 1, 2])
  func `many rows are deleted one by one`(_ order: Int) throws {
    let (ledger, ann, all) = try shown()
    var edits = 0
    try all.observeEdits(in: ledger.loop) { edits += $1.count }
    var victims = all.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    var random = Generator(state: 1)
    if order == 1 { victims.reverse() }
    if order == 2 { victims.shuffle(using: &random) }
    ledger.loop.turn {
      for (count, item) in victims.enumerated() {
        ledger.store.delete(item)
        // The row leaves the lists at once.
        if count % 1_000 == 0 {
          #expect(all.count == Self.count - count - 1 && ann.items.count == all.count)
          #expect(!all.contains { $0 === item })
        }
      }
    }
    try check(ledger, ann, all)
    #expect(edits == Self.count / 2)
  }

  @Test func `many rows are deleted, and restored`() throws {
    let (ledger, ann, all) = try shown(.synchronous)
    ledger.store.pauseSaving {
      for item in all.elements.dropFirst(10) { ledger.store.delete(item) }
      #expect(all.count == 10 && ann.items.count == 10)
      ledger.store.revert()
    }
    #expect(all.count == Self.count)
    try check(ledger, ann, all)
  }

  @Test func `many rows are deleted by others`() throws {
    let (ledger, ann, all) = try shown()
    try ledger.run(
      """
      DELETE FROM item WHERE id % 2 = 0;
      UPDATE invoice SET total = (SELECT SUM(quantity * price) FROM item)
      """)
    try check(ledger, ann, all)
    #expect(all.count == Self.count / 2)
  }

  @Test func `many rows are inserted, and some of them deleted before they are saved`() throws {
    let (ledger, ann, all) = try shown()
    try ledger.loop.turn {
      var items: [Item] = []
      for count in 0..<Self.count {
        let item = Item("new", count, 1, of: ann.id!)
        try ledger.store.insert(item)
        items.append(item)
      }
      for item in items.prefix(Self.count / 2) { ledger.store.delete(item) }
    }
    try check(ledger, ann, all)
    #expect(all.count == Self.count + Self.count / 2)
  }

  @Test func `many rows are removed from a list`() throws {
    let (ledger, ann, all) = try shown()
    ledger.loop.turn { ann.items.removeAll { $0.quantity % 2 == 0 } }
    try check(ledger, ann, all)
    #expect(all.count == Self.count / 2)
  }

  @Test func `many rows change their places and owners`() throws {
    let (ledger, ann, all) = try shown()
    let bob = try ledger.invoice(try ledger.addInvoice("Bob"))
    #expect(bob.items.isEmpty)
    ledger.loop.turn {
      for item in all {
        item.quantity = Self.count - item.quantity
        if item.quantity % 2 == 0 { item.invoiceID = bob.id! }
      }
    }
    ledger.loop.run()
    #expect(ann.items.count == Self.count / 2 && bob.items.count == Self.count / 2)
    ledger.loop.turn { for item in bob.items.elements { item.invoiceID = ann.id! } }
    #expect(all.first?.quantity == 0)
    #expect(try ledger.rows("SELECT total FROM invoice WHERE id = 2") == ["0.0"])
    ledger.store.delete(bob)
    try check(ledger, ann, all)
  }

  @Test func `many rows refer to rows that do not exist`() throws {
    let ledger = try Ledger()
    try ledger.database.writeWithoutTransaction { db in
      try db.execute(
        sql: """
          PRAGMA foreign_keys = OFF;
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.count))
          INSERT INTO item(product, quantity, price, invoiceID) SELECT 'p', i, 1, -i FROM n
          """)
    }
    let all = try ledger.store.query(Item.all())
    let statements = Statements(ledger.database)
    #expect(all.allSatisfy { $0.invoice == nil })
    #expect(statements.take("SELECT").count == (Self.count + 9_999) / 10_000)
  }
}
