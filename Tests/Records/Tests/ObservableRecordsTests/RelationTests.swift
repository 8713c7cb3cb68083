import ObservableRecords
import Testing

@ObservableModel final class Person: ObservableRecord {
  var id: Int64?
  var name: String
  var parentID: Int64?
  @BelongsTo(\Person.parentID) var parent: Person?
  @HasMany(\Person.parentID) var children: ObservableArray<Person>
  @Computed("name", "parent.path") @Stored var path: String
  private func makePath() -> String { (parent.map { $0.path + "/" } ?? "") + name }
  @Computed("children.count") @Stored var size: Int
  private func makeSize() -> Int { children.count }
}

@ObservableModel final class Wrong: ObservableRecord {
  var id: Int64?
  @HasMany(\Person.parentID) var people: ObservableArray<Person>
  @Computed("people.nickname") @Stored var names: Int
  private func makeNames() -> Int { 0 }
}

/// R5: relations.
struct RelationTests {
  /// Ten invoices with two items each, of three products.
  private func filled() throws -> Ledger {
    let ledger = try Ledger()
    try ledger.run("INSERT INTO product VALUES (1, 'tea'), (2, 'salt'), (3, 'honey')")
    for number in 0..<10 {
      _ = try ledger.addInvoice("C\(number)", [("a", 1, 1), ("b", 2, 2)])
    }
    try ledger.run("UPDATE item SET productID = 1 + id % 3")
    ledger.loop.run()
    return ledger
  }

  private func people(records: [any ObservableRecord.Type] = [Person.self]) throws -> Ledger {
    let database = try DatabaseQueue()
    try database.write { db in
      try makeTables(db)
      try db.execute(
        sql: """
          CREATE TABLE person(
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, parentID INTEGER, path TEXT, size INTEGER);
          CREATE TABLE wrong(id INTEGER PRIMARY KEY, names INTEGER);
          """)
    }
    return try Ledger(database, records: records)
  }

  // R5: one query for all parents when a path fans out over many.
  @Test func `a path over many rows asks the database once for each step`() throws {
    let ledger = try filled()
    let all = try ledger.store.query(Invoice.order(Column("id")))
    let statements = Statements(ledger.database)
    var heard = 0
    try all.observe("items.article.name", in: ledger.loop) { _ in heard += 1 }
    #expect(statements.take("SELECT").count == 2)
    let tea = try #require(try ledger.store.find(Product.self, 1))
    ledger.loop.turn { tea.name = "Tea" }
    #expect(heard == 1)
    #expect(all[0].items[0].article?.name == "salt")
    #expect(statements.take("SELECT") == [])
  }

  // R5: lazy.
  @Test func `rows of other tables are loaded on demand`() throws {
    let ledger = try filled()
    let statements = Statements(ledger.database)
    let all = try ledger.store.query(Invoice.order(Column("id")))
    #expect(statements.take("SELECT").filter { $0.contains("FROM \"item\"") } == [])
    #expect(all.reduce(0) { $0 + $1.items.count } == 20)
    #expect(statements.take("SELECT").count == 1)
    #expect(all[3].items === all[3].items)
  }

  // R5: @HasOne and @BelongsTo.
  @Test func `a reference between two rows can be read from both sides`() throws {
    let ledger = try filled()
    let (one, two) = (try ledger.invoice(1), try ledger.invoice(2))
    var heard: [String] = []
    try one.observe("note.text", in: ledger.loop) { heard.append($0.note?.text ?? "nil") }
    let note = Note(text: "a", invoiceID: 1)
    try ledger.loop.turn { try ledger.store.insert(note) }
    #expect(one.note === note && two.note == nil)
    ledger.loop.turn { note.text = "b" }
    ledger.loop.turn { note.invoiceID = 2 }
    #expect(one.note == nil && two.note === note)
    ledger.loop.turn { note.invoiceID = 1 }
    ledger.loop.turn { ledger.store.delete(note) }
    #expect(heard == ["a", "b", "nil", "b", "nil"])
    #expect(ledger.errors.texts == [])
  }

  // R4: to-one properties become nil.
  @Test func `a deleted row leaves the properties that held it`() throws {
    let ledger = try filled()
    let tea = try #require(try ledger.store.find(Product.self, 1))
    let item = try #require(
      try ledger.store.fetch(Item.filter(Column("productID") == 1)).first)
    #expect(item.article === tea)
    var heard: [String] = []
    try item.observe("article.name", in: ledger.loop) { heard.append($0.article?.name ?? "nil") }
    try ledger.run("UPDATE item SET productID = NULL WHERE productID = 1 AND id <> \(item.id!)")
    ledger.loop.run()
    ledger.loop.turn {
      item.productID = nil
      ledger.store.delete(tea)
    }
    #expect(item.article == nil && heard == ["nil"])
    ledger.loop.turn { item.article = Product(name: "new") }
    #expect(item.productID == 4 && heard == ["nil", "new"])
    #expect(ledger.errors.texts == [])
  }

  @Test func `a deleted row leaves all rows that referred to it`() throws {
    let ledger = try filled()
    let salt = try #require(try ledger.store.find(Product.self, 2))
    let items = try ledger.store.fetch(Item.filter(Column("productID") == 2))
    for _ in 0..<20 {
      for item in items {
        item.$article.invalidate()
        #expect(item.article === salt)
      }
    }
    ledger.loop.turn {
      for item in items { item.productID = nil }
      ledger.store.delete(salt)
    }
    #expect(items.count > 5 && items.allSatisfy { $0.article == nil })
    #expect(ledger.errors.texts == [])
  }

  // Bad input: a path over a deleted object.
  @Test func `paths over deleted objects end there`() throws {
    let ledger = try filled()
    let invoice = try ledger.invoice(1)
    let item = invoice.items[0]
    var heard = 0
    try item.observe("invoice.customer", in: ledger.loop) { _ in heard += 1 }
    ledger.loop.turn { ledger.store.delete(invoice) }
    #expect(heard == 1 && item.invoice == nil)
    ledger.loop.run()
    #expect(item.isDeleted)
    try item.observe("invoice.items.article.name", in: ledger.loop) { _ in heard += 1 }
    try invoice.observe("items.@sum.total", in: ledger.loop) { _ in heard += 1 }
    ledger.loop.turn {}
    #expect(heard == 1 && invoice.items.isEmpty)
    #expect(ledger.errors.texts == [])
  }

  // R5: lists contain unsaved changes.
  @Test func `a list that is loaded late contains the changes of the turn`() throws {
    let ledger = try filled()
    let (one, two) = (try ledger.invoice(1), try ledger.invoice(2))
    let items = try ledger.store.fetch(Item.filter(Column("invoiceID") == 1).order(Column("id")))
    try ledger.loop.turn {
      items[0].invoiceID = 2
      ledger.store.delete(items[1])
      try ledger.store.insert(Item("new", 1, 1, of: 2))
      #expect(one.items.isEmpty)
      #expect(two.items.map(\.product) == ["a", "b", "a", "new"])
    }
    #expect(try ledger.rows("SELECT COUNT(*) FROM item WHERE invoiceID = 2") == ["4"])
    #expect(ledger.errors.texts == [])
  }

  // Bad input: a relation that cannot be read.
  @Test func `unreadable rows are left out, and an error`() throws {
    let ledger = try filled()
    let invoice = try ledger.invoice(1)
    try ledger.run("UPDATE item SET quantity = 'many' WHERE id = 1")
    ledger.loop.run()
    #expect(invoice.items.isEmpty)
    #expect(
      ledger.errors.texts.contains { $0.contains("table 'item', column 'quantity', row 1") })
    #expect(throws: (any Error).self) { try invoice.$items.get() }
    try ledger.run("UPDATE item SET quantity = 1 WHERE id = 1")
    ledger.loop.run()
    #expect(invoice.items.count == 2)
  }

  // MARK: Stored properties

  // R5: written with their dependencies, even if the row was never shown.
  @Test func `a stored property is saved with its dependencies, in one transaction`() throws {
    let ledger = try filled()
    let item = try #require(try ledger.store.find(Item.self, 1))
    let statements = Statements(ledger.database)
    ledger.loop.turn { item.quantity = 10 }
    #expect(
      statements.take("BEGIN IMMEDIATE", "UPDATE") == [
        "BEGIN IMMEDIATE TRANSACTION", #"UPDATE "item" SET "quantity" = ? WHERE "id" = ?"#,
        #"UPDATE "invoice" SET "total" = ? WHERE "id" = ?"#,
      ])
    #expect(try ledger.rows("SELECT total FROM invoice WHERE id < 3") == ["14.0", "5.0"])
    ledger.loop.turn { item.invoiceID = 2 }
    #expect(try ledger.rows("SELECT total FROM invoice WHERE id < 3") == ["4.0", "15.0"])
    ledger.loop.turn { ledger.store.delete(item) }
    #expect(try ledger.rows("SELECT total FROM invoice WHERE id < 3") == ["4.0", "5.0"])
    try ledger.loop.turn { try ledger.store.insert(Item("new", 1, 7, of: 1)) }
    #expect(try ledger.rows("SELECT total FROM invoice WHERE id < 3") == ["11.0", "5.0"])
    ledger.loop.turn { item.product = "other" }
    #expect(ledger.errors.texts.count == 1)
  }

  @Test func `a change that no stored property depends on computes nothing`() throws {
    let ledger = try filled()
    let item = try #require(try ledger.store.find(Item.self, 1))
    let statements = Statements(ledger.database)
    ledger.loop.turn { item.product = "other" }
    #expect(
      statements.take("SELECT", "UPDATE") == [#"UPDATE "item" SET "product" = ? WHERE "id" = ?"#])
  }

  // R5: stored properties may depend on stored ones, over many rows.
  @Test func `stored properties that depend on each other are saved together`() throws {
    let ledger = try people()
    let (root, child) = (Person(name: "r"), Person(name: "c"))
    try ledger.loop.turn {
      try ledger.store.insert(root)
      root.children.append(child)
      child.children.append(Person(name: "l"))
    }
    #expect(ledger.errors.texts == [])
    let rows = "SELECT name, parentID, path, size FROM person ORDER BY id"
    #expect(try ledger.rows(rows) == ["r - r 1", "c 1 r/c 1", "l 2 r/c/l 0"])
    let other = try RecordStore(
      ledger.database, loop: ledger.loop, records: [Person.self], saving: .synchronous)
    let top = try #require(try other.find(Person.self, 1))
    ledger.loop.turn { top.name = "R" }
    #expect(try ledger.rows(rows) == ["R - R 1", "c 1 R/c 1", "l 2 R/c/l 0"])
    ledger.loop.run()
    #expect(root.name == "R" && child.path == "R/c")
  }

  // R5: refreshStored computes all of them again.
  @Test func `stored properties that others have left wrong can be computed again`() throws {
    let ledger = try filled()
    try ledger.run("UPDATE item SET price = 10 WHERE id < 3")
    #expect(try ledger.rows("SELECT total FROM invoice WHERE id = 1") == ["5.0"])
    #expect(try ledger.store.refreshStored(Invoice.self) == 1)
    #expect(try ledger.rows("SELECT total FROM invoice WHERE id = 1") == ["30.0"])
    #expect(try ledger.store.refreshStored(Invoice.self) == 0)
  }

  // R5: columns, @Stored properties and relations only.
  @Test func `a stored property that depends on something else is an error at the first use`()
    throws
  {
    #expect(throws: RecordError.self) {
      do {
        _ = try people(records: [Wrong.self])
      } catch {
        #expect(
          "\(error)" == "table 'wrong', column 'names': its key path 'people.nickname': 'nickname' "
            + "of 'Person' is not a column, a relation, or computed from these by declared key "
            + "paths")
        throw error
      }
    }
  }
}
