import ObservableRecords
import Testing

/// R1: rows are objects.
struct RowTests {
  // R1: one object for each row and store.
  @Test func `a row that is fetched twice is the same object`() throws {
    let ledger = try Ledger()
    try ledger.run("INSERT INTO invoice(id, customer) VALUES (7, 'Ann'), (8, 'Bob')")
    let first = try #require(try ledger.store.find(Invoice.self, 7))
    let again = try ledger.store.fetch(Invoice.order(Column("id")))
    #expect(again.map(\.customer) == ["Ann", "Bob"])
    #expect(again[0] === first)
    #expect(try ledger.store.find(Invoice.self, 9) == nil)
  }

  // R2: what a turn changed is saved at its end, only the columns that changed.
  @Test func `a change is saved at the end of the turn`() throws {
    let ledger = try Ledger()
    try ledger.run("INSERT INTO invoice(id, customer) VALUES (7, 'Ann')")
    let invoice = try #require(try ledger.store.find(Invoice.self, 7))
    ledger.loop.turn {
      invoice.customer = "Eve"
      #expect(invoice.hasUnsavedChanges)
    }
    #expect(try ledger.rows("SELECT customer FROM invoice") == ["Eve"])
    #expect(!invoice.hasUnsavedChanges)
    #expect(ledger.errors.texts == [])
  }

  @Test func `an invoice and its items are inserted together`() throws {
    let ledger = try Ledger()
    let invoice = Invoice(customer: "Ann")
    try ledger.loop.turn {
      invoice.items.append(Item("tea", 2, 1.5))
      invoice.items.append(Item("honey", 1, 4))
      try ledger.store.insert(invoice)
    }
    #expect(ledger.errors.texts == [])
    #expect(invoice.id == 1)
    #expect(invoice.items.map(\.invoiceID) == [1, 1])
    #expect(try ledger.rows("SELECT * FROM invoice") == ["1 Ann 7.0"])
    #expect(
      try ledger.rows("SELECT product, invoiceID FROM item ORDER BY id") == ["tea 1", "honey 1"])
  }
}
