import ObservableRecords
import Testing

/// R4: queries are lists that stay up to date.
struct QueryTests {
  private func names(_ invoices: ObservableArray<Invoice>) -> [String] { invoices.map(\.customer) }

  /// A ledger with invoices of 100, 200 and 300.
  private func filled(saving: RecordStore.Saving = .synchronous) throws -> Ledger {
    let ledger = try Ledger(saving: saving)
    for (name, price) in [("Ann", 100.0), ("Bob", 200), ("Cid", 300)] {
      _ = try ledger.addInvoice(name, [("tea", 1, price)])
    }
    ledger.loop.run()
    return ledger
  }

  private let large = Invoice.filter(Column("total") > 150).order(Column("total").desc)

  // R4: operators, counts and edits work.
  @Test func `a query follows saved changes`() throws {
    let ledger = try filled()
    let open = try ledger.store.query(large)
    #expect(names(open) == ["Cid", "Bob"])
    var heard: [String] = []
    try open.observe("@sum.total", in: ledger.loop) { _ in heard.append("sum") }
    try open.observe("count", in: ledger.loop) { heard.append("count \($0.count)") }
    try open.observe("#0.customer", in: ledger.loop) { heard.append($0[0].customer) }
    let ann = try ledger.invoice(1)
    ledger.loop.turn { ann.items[0].quantity = 5 }
    ledger.loop.run()
    #expect(names(open) == ["Ann", "Cid", "Bob"])
    #expect(heard == ["sum", "count 3", "Ann"])
    #expect(open[0] === ann)
  }

  // R4, C10: the smallest edits.
  @Test func `a query changes by the smallest edits`() throws {
    let ledger = try filled()
    let all = try ledger.store.query(Invoice.order(Column("customer")))
    var heard: [String] = []
    try all.observeEdits(in: ledger.loop) { _, edits in
      for edit in edits {
        switch edit {
        case .insert(let invoice, let place): heard.append("+\(invoice.customer) at \(place)")
        case .remove(let invoice, let place): heard.append("-\(invoice.customer) at \(place)")
        case .move(let invoice, let from, let place):
          heard.append("\(invoice.customer) from \(from) to \(place)")
        case .replace: heard.append("replaced")
        }
      }
    }
    func turn(_ body: () throws -> Void) throws -> [String] {
      heard = []
      try ledger.loop.turn(body)
      ledger.loop.run()
      return heard
    }
    let ann = all[0]
    #expect(try turn { ann.customer = "Zoe" } == ["Zoe from 0 to 2"])
    #expect(try turn { ann.customer = "Bea" } == ["Bea from 2 to 0"])
    #expect(try turn { try ledger.store.insert(Invoice(customer: "Bo")) } == ["+Bo at 1"])
    #expect(try turn { ledger.store.delete(ann) } == ["-Bea at 0"])
    #expect(try turn { ann.items.removeAll() } == [])
    #expect(ledger.errors.texts == [])
  }

  // R4: a query is re-run only after a write to a table that it reads, at most once per turn.
  @Test func `a query runs again only after writes to its tables, once per turn`() throws {
    let ledger = try filled()
    let all = try ledger.store.query(Invoice.order(Column("customer")))
    let (ann, bob) = (all[0], all[1])
    let note = Note(text: "a")
    let statements = Statements(ledger.database)
    try ledger.loop.turn { try ledger.store.insert(note) }
    #expect(statements.take("BEGIN DEFERRED") == [])
    ledger.loop.turn {
      ann.customer = "X"
      bob.customer = "Y"
    }
    #expect(statements.take("BEGIN DEFERRED").count == 1)
    #expect(names(all) == ["Cid", "X", "Y"])
  }

  @Test func `a query with a second table runs again for that, too`() throws {
    let ledger = try filled()
    let request = Invoice.filter(
      sql: "(SELECT COUNT(*) FROM note WHERE note.invoiceID = invoice.id) > 0")
    let noted = try ledger.store.query(request)
    #expect(noted.isEmpty)
    let note = Note(text: "a", invoiceID: 2)
    try ledger.loop.turn { try ledger.store.insert(note) }
    #expect(names(noted) == ["Bob"])
    ledger.loop.turn { note.invoiceID = 3 }
    #expect(names(noted) == ["Cid"])
  }

  // R4: in any database that has the tables.
  @Test func `a query follows temporary and attached tables`() throws {
    let ledger = try Ledger()
    _ = try ledger.addInvoice("Ann")
    _ = try ledger.addInvoice("Bob")
    try ledger.database.writeWithoutTransaction { db in
      try db.execute(
        sql: """
          CREATE TEMP TABLE chosen(id INTEGER);
          ATTACH ':memory:' AS other;
          CREATE TABLE other.marked(id INTEGER);
          """)
    }
    let chosen = try ledger.store.query(Invoice.filter(sql: "id IN (SELECT id FROM chosen)"))
    let marked = try ledger.store.query(Invoice.filter(sql: "id IN (SELECT id FROM marked)"))
    try ledger.run("INSERT INTO chosen VALUES (1)")
    ledger.loop.run()
    #expect(chosen.map(\.customer) == ["Ann"] && marked.isEmpty)
    try ledger.run("INSERT INTO marked VALUES (2)")
    ledger.loop.run()
    #expect(chosen.map(\.customer) == ["Ann"] && marked.map(\.customer) == ["Bob"])
    #expect(ledger.errors.texts == [])
  }

  @Test func `deleted rows leave at once`() throws {
    let ledger = try filled(saving: .explicit)
    let all = try ledger.store.query(Invoice.order(Column("customer")))
    let bob = all[1]
    ledger.store.delete(bob)
    #expect(names(all) == ["Ann", "Cid"] && bob.isDeleted)
    ledger.store.revert()
    #expect(names(all) == ["Ann", "Bob", "Cid"] && all[1] === bob)
    ledger.store.delete(bob)
    try ledger.store.save()
    #expect(names(all) == ["Ann", "Cid"])
    #expect(try ledger.rows("SELECT COUNT(*) FROM item") == ["2"])
  }

  // R4: a row with the key of a deleted one is a different object.
  @Test func `a row that replaces a deleted one is a different object`() throws {
    let ledger = try filled()
    let all = try ledger.store.query(Invoice.order(Column("id")))
    let cid = all[2]
    ledger.loop.turn { ledger.store.delete(cid) }
    let dan = Invoice(customer: "Dan")
    try ledger.loop.turn { try ledger.store.insert(dan) }
    #expect(dan.id == 3 && cid.isDeleted && !dan.isDeleted)
    #expect(all[2] === dan)
  }

  // R4: nothing keeps a query alive.
  @Test func `an unreferenced query ends`() throws {
    let ledger = try filled()
    weak var list: ObservableArray<Invoice>?
    do {
      let all = try ledger.store.query(Invoice.all())
      list = all
    }
    #expect(list == nil)
    let ann = try ledger.invoice(1)
    let statements = Statements(ledger.database)
    ledger.loop.turn { ann.customer = "X" }
    #expect(statements.take("BEGIN DEFERRED") == [])
  }

  // R4: long results have pages.
  @Test func `a long result is shown page by page`() throws {
    let ledger = try Ledger()
    try ledger.database.write { db in
      for number in 0..<25 {
        try db.execute(
          sql: "INSERT INTO note(text) VALUES (?)", arguments: ["n\(10 + number)"])
      }
    }
    let pages = try ledger.store.pages(of: Note.order(Column("text")), size: 10)
    #expect(try pages.count() == 25)
    #expect(pages.rows.map(\.text).first == "n10" && pages.rows.count == 10)
    try pages.show(2)
    #expect(pages.rows.map(\.text) == ["n30", "n31", "n32", "n33", "n34"])
    try ledger.loop.turn { try ledger.store.insert(Note(text: "n29a")) }
    #expect(pages.rows.map(\.text) == ["n29a", "n30", "n31", "n32", "n33", "n34"])
    try pages.show(9)
    #expect(pages.rows.isEmpty)
  }

  // Bad input: a store closed while a query is live.
  @Test func `a closed store leaves lists and objects unchanged`() throws {
    let ledger = try filled()
    let all = try ledger.store.query(Invoice.order(Column("customer")))
    let (ann, bob) = (all[0], all[1])
    _ = ann.items
    ann.customer = "Eve"
    try ledger.store.close()
    try ledger.store.close()
    #expect(try ledger.rows("SELECT customer FROM invoice WHERE id = 1") == ["Eve"])
    ledger.loop.turn {
      ann.customer = "X"
      ann.items.removeAll()
      #expect(bob.items.isEmpty)
    }
    try ledger.run("DELETE FROM invoice")
    ledger.loop.run()
    #expect(names(all) == ["Bob", "Cid", "X"])
    #expect(ann.store == nil && !ann.hasUnsavedChanges && !ann.isDeleted)
    #expect(throws: RecordError.self) { try ledger.store.query(Invoice.all()) }
    #expect(throws: RecordError.self) { try ledger.store.insert(ann) }
    #expect(throws: RecordError.self) { try ledger.store.save() }
    #expect(ledger.errors.texts == [])
  }

  @Test func `objects outlive their store`() throws {
    let loop = Loop(clock: .virtual)
    let database = try DatabaseQueue()
    try database.write { try makeTables($0) }
    let invoice = Invoice(customer: "Ann")
    do {
      let store = try RecordStore(database, loop: loop, saving: .synchronous)
      try loop.turn { try store.insert(invoice) }
    }
    #expect(invoice.store == nil && invoice.id == 1)
    loop.turn { invoice.customer = "Eve" }
    #expect(invoice.customer == "Eve" && !invoice.hasUnsavedChanges)
  }
}
