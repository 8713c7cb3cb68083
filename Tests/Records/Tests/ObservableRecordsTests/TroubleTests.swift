import Foundation
import ObservableRecords
import Testing

/// Databases that temporarily cannot be written or read.
struct TroubleTests {
  /// A ledger in a file, with an item whose list is loaded.
  private func filled(
    _ folder: Folder, saving: RecordStore.Saving = .synchronous
  ) throws -> (ledger: Ledger, invoice: Invoice, item: Item) {
    let ledger = try Ledger(DatabaseQueue(path: folder.file), saving: saving)
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    ledger.loop.run()
    return (ledger, invoice, invoice.items[0])
  }

  // Bad input: a database that is locked by another connection.
  @Test(arguments: [RecordStore.Saving.synchronous, .asynchronous])
  func `changes to a locked database are saved later`(
    _ saving: RecordStore.Saving
  ) throws {
    let folder = Folder()
    let (ledger, invoice, item) = try filled(folder, saving: saving)
    let other = try DatabaseQueue(path: folder.file)
    try other.writeWithoutTransaction { db in
      try db.execute(sql: "BEGIN IMMEDIATE")
      ledger.loop.turn {
        invoice.customer = "Eve"
        item.quantity = 3
      }
      ledger.loop.run()
      #expect(ledger.errors.texts.count == 1)
      #expect(
        ledger.errors.texts[0].hasPrefix("not saved: SQLite error 5: database is locked"))
      #expect(invoice.hasUnsavedChanges && invoice.customer == "Eve")
      try db.execute(sql: "COMMIT")
    }
    ledger.loop.turn { item.product = "Tea" }
    ledger.loop.run()
    #expect(try ledger.rows("SELECT product, quantity FROM item") == ["Tea 3"])
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Eve 6.0"])
    #expect(ledger.errors.texts.count == 1 && !ledger.store.hasUnsavedChanges)
  }

  // Bad input: a database that is locked when it is read.
  @Test func `a read of a locked database is an error, and is tried again later`() throws {
    let folder = Folder()
    let (ledger, invoice, item) = try filled(folder)
    let all = try ledger.store.query(Invoice.order(Column("id")))
    let other = try DatabaseQueue(path: folder.file)
    try other.writeWithoutTransaction { db in
      try db.execute(sql: "UPDATE item SET product = 'Tea'")
      try db.execute(sql: "INSERT INTO invoice(customer) VALUES ('Bob')")
      try db.execute(sql: "BEGIN EXCLUSIVE")
      #expect(throws: (any Error).self) { try ledger.store.fetch(Item.all()) }
      #expect(throws: (any Error).self) { try ledger.store.query(Item.all()) }
      #expect(invoice.note == nil)
      #expect(ledger.errors.texts.contains { $0.contains("database is locked") })
      try db.execute(sql: "COMMIT")
    }
    #expect(try ledger.store.fetch(Item.all()).count == 1)
    #expect(item.product == "Tea")
    ledger.look()
    #expect(all.map(\.customer) == ["Ann", "Bob"])
  }

  // Bad input: a full disk.
  @Test func `changes that do not fit on the disk stay in memory, and are saved later`() throws {
    let folder = Folder()
    let (ledger, invoice, item) = try filled(folder)
    try ledger.database.writeWithoutTransaction { db in
      let pages = try Int.fetchOne(db, sql: "PRAGMA page_count")!
      try db.execute(sql: "PRAGMA max_page_count = \(pages)")
    }
    let text = String(repeating: "x", count: 100_000)
    let note = Note(text: text)
    try ledger.loop.turn {
      try ledger.store.insert(note)
      item.quantity = 5
    }
    #expect(ledger.errors.texts.count == 1, "\(ledger.errors.texts)")
    #expect(
      ledger.errors.texts[0].hasPrefix("not saved: SQLite error 13: database or disk is full"))
    #expect(ledger.errors.texts[0].hasSuffix("for row (new) of 'note'"))
    #expect(try ledger.rows("SELECT quantity FROM item") == ["1"])
    #expect(item.quantity == 5 && invoice.total == 10 && note.text == text)
    try ledger.run("PRAGMA max_page_count = 100000")
    ledger.loop.turn { item.price = 3 }
    #expect(try ledger.rows("SELECT quantity FROM item") == ["5"])
    #expect(try ledger.rows("SELECT total FROM invoice") == ["15.0"])
    #expect(try ledger.rows("SELECT length(text) FROM note") == ["100000"])
    #expect(ledger.errors.texts.count == 1 && note.id == 1)
  }

  // Bad input: a value that cannot be stored.
  @Test func `a value that JSON cannot represent is an error, and is not lost`() throws {
    let ledger = try Ledger()
    try ledger.run("CREATE TABLE curve(id INTEGER PRIMARY KEY, points TEXT NOT NULL)")
    let curve = Curve(points: [1, 2])
    try ledger.loop.turn { try ledger.store.insert(curve) }
    ledger.loop.turn { curve.points = [.infinity] }
    #expect(ledger.errors.texts.count == 1, "\(ledger.errors.texts)")
    #expect(ledger.errors.texts[0].contains("table 'curve', column 'points', row 1: "))
    #expect(curve.points == [.infinity] && curve.hasUnsavedChanges)
    ledger.loop.turn { curve.points = [3] }
    #expect(try ledger.rows("SELECT points FROM curve") == ["[3]"])
    #expect(ledger.errors.texts.count == 1, "\(ledger.errors.texts)")
  }

  // Bad input: a table that is gone.
  @Test func `a table that was dropped is an error`() throws {
    let ledger = try Ledger()
    let note = Note(text: "a")
    try ledger.loop.turn { try ledger.store.insert(note) }
    try ledger.run("DROP TABLE note")
    ledger.loop.turn { note.text = "b" }
    #expect(ledger.errors.texts.last?.contains("no such table: note") == true)
    #expect(note.text == "b")
    #expect(throws: (any Error).self) { try ledger.store.query(Note.all()) }
  }

  // Bad input: a database that is locked repeatedly.
  @Test func `each lock of a database is a separate error`() throws {
    let folder = Folder()
    let (ledger, invoice, _) = try filled(folder)
    let other = try DatabaseQueue(path: folder.file)
    for round in 1...3 {
      try other.writeWithoutTransaction { db in
        try db.execute(sql: "BEGIN IMMEDIATE")
        ledger.loop.turn { invoice.customer = "c\(round)" }
        ledger.loop.turn { invoice.customer = "d\(round)" }
        #expect(ledger.errors.texts.count == round)
        ledger.store.revert()
        try db.execute(sql: "COMMIT")
      }
    }
    #expect(invoice.customer == "Ann" && !ledger.store.hasUnsavedChanges)
  }

  // Bad input: a connection that the program has closed.
  @Test(arguments: [RecordStore.Saving.synchronous, .asynchronous])
  func `a closed connection is an error`(_ saving: RecordStore.Saving) throws {
    let folder = Folder()
    let ledger = try Ledger(try DatabaseQueue(path: folder.file), saving: saving)
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann"))
    try ledger.database.close()
    ledger.loop.turn { invoice.customer = "Eve" }
    ledger.loop.run()
    #expect(ledger.errors.texts.first?.contains("not saved: SQLite error 21") == true)
    ledger.errors.texts = []
    ledger.look()
    #expect(!ledger.errors.texts.isEmpty)
    #expect(ledger.errors.texts.allSatisfy { $0.contains("SQLite error 21") })
    #expect(throws: DatabaseError.self) { try ledger.store.query(Invoice.all()) }
    #expect(throws: SaveError.self) { try ledger.store.save() }
    #expect(invoice.hasUnsavedChanges && invoice.customer == "Eve")
    ledger.store.revert()
    try ledger.store.close()
  }

  @Test func `a row whose changes the table ignores is not deleted`() throws {
    let ledger = try Ledger()
    let note = Note(text: "a")
    try ledger.loop.turn { try ledger.store.insert(note) }
    try ledger.run(
      """
      CREATE TRIGGER no BEFORE UPDATE ON note WHEN new.text = 'no' BEGIN
        SELECT RAISE(IGNORE);
      END
      """)
    ledger.loop.turn { note.text = "no" }
    #expect(
      ledger.errors.texts == [
        "not saved: table 'note', row 1: the table has ignored the change, for row 1 of 'note'"
      ])
    #expect(!note.isDeleted && note.hasUnsavedChanges)
    ledger.loop.turn { note.text = "yes" }
    #expect(try ledger.rows("SELECT text FROM note") == ["yes"])
  }
}

@ObservableModel final class Curve: ObservableRecord {
  var id: Int64?
  var points: [Double]
}
