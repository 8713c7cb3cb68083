import Foundation
import ObservableRecords
import Testing

/// R3: changes by other writers.
struct ChangeTests {
  // R3: other writers in this process, as one turn.
  @Test func `writes by others in this process arrive as one turn`() throws {
    let ledger = try Ledger()
    let invoice = try ledger.invoice(
      try ledger.addInvoice("Ann", [("tea", 1, 2), ("honey", 1, 3)]))
    let (tea, honey) = (invoice.items[0], invoice.items[1])
    var heard: [String] = []
    try invoice.observe("customer", "items.price", "items.count", in: ledger.loop) {
      heard.append("\($0.customer) \($0.items.map(\.price))")
    }
    try ledger.run(
      """
      UPDATE invoice SET customer = 'Eve'; UPDATE item SET price = 9 WHERE id = 2;
      DELETE FROM item WHERE id = 1;
      INSERT INTO item(product, quantity, price, invoiceID) VALUES ('salt', 1, 5, 1)
      """)
    #expect(invoice.customer == "Ann")
    ledger.loop.run()
    #expect(heard.last == "Eve [9.0, 5.0]")
    #expect(heard.count <= 2)
    #expect(honey.price == 9 && tea.isDeleted && !honey.hasUnsavedChanges)
  }

  // R3: as one turn.
  @Test func `one transaction of another writer is one call`() throws {
    let ledger = try Ledger()
    let (a, b) = (try ledger.addInvoice("Ann"), try ledger.addInvoice("Bob"))
    let all = try ledger.store.query(Invoice.order(Column("id")))
    var heard: [[String]] = []
    try all.observe("customer", in: ledger.loop) { heard.append($0.map(\.customer)) }
    try ledger.database.write { db in
      try db.execute(sql: "UPDATE invoice SET customer = 'X' WHERE id = ?", arguments: [a])
      try db.execute(sql: "UPDATE invoice SET customer = 'Y' WHERE id = ?", arguments: [b])
      try db.execute(sql: "INSERT INTO invoice(customer) VALUES ('Z')")
    }
    ledger.loop.run()
    #expect(heard == [["X", "Y", "Z"]])
  }

  // R3: triggers change rows, too.
  @Test func `changes by a trigger arrive`() throws {
    let ledger = try Ledger()
    try ledger.run(
      """
      CREATE TRIGGER shout AFTER UPDATE OF text ON note BEGIN
        UPDATE note SET text = upper(new.text) WHERE id = new.id + 1;
      END
      """)
    let (a, b) = (Note(text: "a"), Note(text: "b"))
    try ledger.loop.turn {
      try ledger.store.insert(a)
      try ledger.store.insert(b)
    }
    ledger.loop.turn { a.text = "hey" }
    ledger.loop.run()
    #expect(b.text == "HEY")
    #expect(!b.hasUnsavedChanges)
  }

  @Test(arguments: [RecordStore.Saving.synchronous, .asynchronous])
  func `changes by a trigger to the saved row arrive`(
    _ saving: RecordStore.Saving
  ) throws {
    let ledger = try Ledger(saving: saving)
    try ledger.run(
      """
      CREATE TRIGGER trim AFTER INSERT ON note BEGIN
        UPDATE note SET text = trim(new.text) WHERE id = new.id;
      END;
      CREATE TRIGGER shout AFTER UPDATE OF text ON note WHEN new.text LIKE '%!' BEGIN
        UPDATE note SET text = upper(new.text) WHERE id = new.id;
      END
      """)
    let note = Note(text: " a ")
    try ledger.loop.turn { try ledger.store.insert(note) }
    ledger.loop.run()
    #expect(note.text == "a" && !note.hasUnsavedChanges)
    ledger.loop.turn { note.text = "hey!" }
    ledger.loop.run()
    #expect(note.text == "HEY!" && !note.hasUnsavedChanges)
    #expect(try ledger.rows("SELECT text FROM note") == ["HEY!"])
  }

  // R3: other processes; another connection counts as one.
  @Test func `writes of another connection are found by polling`() throws {
    let folder = Folder()
    let ledger = try Ledger(DatabasePool(path: folder.file))
    let id = try ledger.addInvoice("Ann", [("tea", 1, 2)])
    let all = try ledger.store.query(Invoice.order(Column("id")))
    let ann = try ledger.invoice(id)
    let tea = ann.items[0]
    var heard: [String] = []
    try all.observe("customer", in: ledger.loop) { heard.append("\($0.map(\.customer))") }
    let other = try DatabaseQueue(path: folder.file)
    try other.write { db in
      try db.execute(sql: "UPDATE invoice SET customer = 'Eve'")
      try db.execute(sql: "INSERT INTO invoice(customer) VALUES ('Bob')")
      try db.execute(
        sql: "INSERT INTO item(product, quantity, price, invoiceID) VALUES ('salt', 1, 5, ?)",
        arguments: [id])
    }
    ledger.look()
    #expect(heard == [#"["Eve", "Bob"]"#])
    #expect(ann.items.map(\.product) == ["tea", "salt"])
    try other.write { try $0.execute(sql: "DELETE FROM item WHERE id = 1") }
    ledger.look()
    #expect(tea.isDeleted && ann.items.map(\.product) == ["salt"])
    #expect(ledger.errors.texts == [])
  }

  // R3: polled while something is observed.
  @Test func `the store polls for other processes only while something is observed`() throws {
    let folder = Folder()
    let ledger = try Ledger(DatabasePool(path: folder.file))
    let id = try ledger.addInvoice("Ann")
    let statements = Statements(ledger.database)
    func polls() -> Int {
      for _ in 0..<5 {
        ledger.loop.advance(by: 1)
        ledger.database.writeWithoutTransaction { _ in }
        ledger.loop.run()
      }
      return statements.take("PRAGMA data_version").count
    }
    let invoice = try ledger.invoice(id)
    #expect(polls() == 0)
    let watcher = try invoice.observe("customer", in: ledger.loop) { _ in }
    #expect(polls() >= 5)
    watcher.stop()
    _ = polls()
    #expect(polls() == 0)
    let list = try ledger.store.query(Invoice.all())
    #expect(polls() >= 5)
    #expect(list.count == 1)
  }

  // R3: the unsaved change here wins per column, and a hook is called.
  @Test func `an unsaved change wins, column by column, and the program is notified`() throws {
    let ledger = try Ledger(saving: .explicit)
    let item = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)])).items[0]
    var told: [String] = []
    ledger.store.onConflict = { told.append("\(type(of: $0)) \($1)") }
    ledger.loop.turn { item.product = "Tea" }
    try ledger.run("UPDATE item SET product = 'TEA', price = 9, quantity = 4")
    ledger.loop.run()
    #expect(item.product == "Tea" && item.price == 9 && item.quantity == 4)
    #expect(told == [#"Item ["product"]"#])
    try ledger.store.save()
    #expect(try ledger.rows("SELECT product, price, quantity FROM item") == ["Tea 9.0 4"])
    #expect(told.count == 1)
  }

  // R3: a conflict that only the save finds.
  @Test func `a change that only the save finds is a conflict, too`() throws {
    let folder = Folder()
    let ledger = try Ledger(DatabasePool(path: folder.file), saving: .explicit)
    let item = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)])).items[0]
    var told: [String] = []
    ledger.store.onConflict = { told.append("\(type(of: $0)) \($1)") }
    item.product = "Tea"
    try DatabaseQueue(path: folder.file).write {
      try $0.execute(sql: "UPDATE item SET product = 'TEA', price = 9")
    }
    try ledger.store.save()
    #expect(told == [#"Item ["product"]"#])
    #expect(try ledger.rows("SELECT product, price FROM item") == ["Tea 9.0"])
    ledger.look()
    #expect(item.price == 9)
  }

  // R3: a row that another writer deleted.
  @Test func `a changed object whose row is gone is deleted, and the program is notified`() throws {
    let folder = Folder()
    let ledger = try Ledger(DatabasePool(path: folder.file), saving: .explicit)
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2), ("salt", 1, 2)]))
    let (tea, salt) = (invoice.items[0], invoice.items[1])
    var told: [String] = []
    ledger.store.onConflict = { object, columns in
      told.append("\(type(of: object)) \(columns.count)")
    }
    tea.product = "Tea"
    try ledger.run("DELETE FROM item WHERE id = 1")
    ledger.loop.run()
    #expect(tea.isDeleted && invoice.items.map(\.product) == ["salt"])
    salt.product = "Salt"
    try DatabaseQueue(path: folder.file).write { try $0.execute(sql: "DELETE FROM item") }
    try ledger.store.save()
    #expect(salt.isDeleted && invoice.items.isEmpty)
    #expect(told.count == 2)
    #expect(!ledger.store.hasUnsavedChanges)
  }

  // R3: rows that do not fit keep their old state, and are reported.
  @Test func `a row that does not fit any more is reported, and the others arrive`() throws {
    let ledger = try Ledger()
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2), ("salt", 1, 2)]))
    let (tea, salt) = (invoice.items[0], invoice.items[1])
    try ledger.run("UPDATE item SET quantity = 'many' WHERE id = 1")
    try ledger.run("UPDATE item SET quantity = 7 WHERE id = 2")
    ledger.loop.run()
    #expect(tea.quantity == 1 && salt.quantity == 7 && !tea.isDeleted)
    #expect(
      ledger.errors.texts == [
        "table 'item', column 'quantity', row 1: a value of type 'Int' was expected, not the text "
          + "'many'"
      ])
  }

  // R3: two stores on one database treat each other as other writers.
  @Test func `two stores on one database follow each other`() throws {
    let ledger = try Ledger()
    let id = try ledger.addInvoice("Ann", [("tea", 1, 2)])
    let other = try RecordStore(ledger.database, loop: ledger.loop, saving: .synchronous)
    let (here, there) = (try ledger.invoice(id), try #require(try other.find(Invoice.self, id)))
    #expect(here.items.count == 1 && there.items.count == 1)
    ledger.loop.turn { here.customer = "Eve" }
    ledger.loop.run()
    #expect(there.customer == "Eve")
    ledger.loop.turn { there.items.append(Item("salt", 2, 3)) }
    ledger.loop.run()
    #expect(here.items.map(\.product) == ["tea", "salt"] && here.total == 8)
    #expect(ledger.errors.texts == [])
  }

  // R3: SQLite reports only the new number of a row.
  @Test func `a row whose key was changed by others is another row`() throws {
    let ledger = try Ledger()
    let note = Note(text: "a")
    try ledger.loop.turn { try ledger.store.insert(note) }
    let all = try ledger.store.query(Note.all())
    try ledger.run("UPDATE note SET id = 100 WHERE id = 1")
    ledger.loop.run()
    #expect(note.isDeleted && all.map(\.id) == [100])
    try ledger.run("UPDATE note SET rowid = 7, text = 'b'")
    ledger.loop.run()
    #expect(all.map(\.id) == [7] && all[0].text == "b")
  }

  // R3: a row that was read before the store has received its insertion.
  @Test func `a row that is found before its insertion arrives appears in the lists`() throws {
    let folder = Folder()
    let ledger = try Ledger(DatabaseQueue(path: folder.file))
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    #expect(invoice.items.count == 1 && invoice.note == nil)
    ledger.loop.run()
    try DatabaseQueue(path: folder.file).write { db in
      try db.execute(
        sql: """
          INSERT INTO item(product, quantity, price, invoiceID) VALUES ('salt', 1, 5, 1);
          INSERT INTO note(text, invoiceID) VALUES ('n', 1)
          """)
    }
    let salt = try #require(try ledger.store.find(Item.self, 2))
    let note = try #require(try ledger.store.fetch(Note.all()).first)
    ledger.look()
    #expect(invoice.items.elements.last === salt && invoice.items.count == 2)
    #expect(invoice.note === note)
  }

  // R3: the hook may read rows that the save has just written.
  @Test func `a hook that reads receives the same objects`() throws {
    let ledger = try Ledger()
    let (a, b) = (Note(text: "a"), Note(text: "b"))
    try ledger.loop.turn { try ledger.store.insert(a) }
    var found: [Note] = []
    ledger.store.onConflict = { [store = ledger.store] _, _ in
      found = (try? store.fetch(Note.order(Column("id")))) ?? []
      try? store.save()
    }
    try ledger.loop.turn {
      try ledger.run("UPDATE note SET text = 'x'")
      a.text = "y"
      try ledger.store.insert(b)
    }
    #expect(found.count == 2 && found[0] === a && found[1] === b)
    #expect(try ledger.rows("SELECT text FROM note") == ["y", "b"])
  }
}
