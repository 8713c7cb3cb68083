import ObservableRecords
import Testing

@ObservableModel final class Seat: ObservableRecord {
  var id: Int64?
  var place: String
  var number: Int?
}

/// R2: a row that cannot be saved holds back only the rows that depend on it.
struct GroupTests {
  private let ledger: Ledger

  init() throws {
    ledger = try Ledger()
    try ledger.run(
      """
      CREATE TABLE seat(id INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE, number INTEGER UNIQUE)
      """)
  }

  private func seats(_ places: String...) throws -> [Seat] {
    let seats = places.enumerated().map { Seat(place: $1, number: $0) }
    try ledger.loop.turn { for seat in seats { try ledger.store.insert(seat) } }
    return seats
  }

  private func rows() throws -> [String] {
    try ledger.rows("SELECT place, number FROM seat ORDER BY id")
  }

  @Test func `rows that do not depend on a bad row are saved`() throws {
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2), ("jam", 1, 1)]))
    let bob = try ledger.invoice(try ledger.addInvoice("Bob", [("salt", 1, 3)]))
    var errors: [SaveError] = []
    ledger.store.onError = { error in if let error = error as? SaveError { errors.append(error) } }
    let note = Note(text: "new")
    try ledger.loop.turn {
      ann.items[0].quantity = -1
      ann.items[1].quantity = 2
      bob.items[0].quantity = 2
      bob.customer = "Eve"
      try ledger.store.insert(note)
    }
    #expect(errors.count == 1 && errors[0].objects.first === ann.items[0])
    #expect(Set(errors[0].objects.map(ObjectIdentifier.init)).count == 3, "\(errors)")
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Ann 3.0", "Eve 6.0"])
    #expect(try ledger.rows("SELECT quantity FROM item") == ["1", "1", "2"])
    #expect(note.id == 1 && !note.hasUnsavedChanges && !bob.hasUnsavedChanges)
    #expect(ann.items[0].hasUnsavedChanges && ann.items[1].hasUnsavedChanges)
    // Later saves of other rows work.
    ledger.loop.turn { bob.customer = "Bob" }
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Ann 3.0", "Bob 6.0"])
    ledger.loop.turn { ann.items[0].quantity = 4 }
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Ann 10.0", "Bob 6.0"])
    #expect(!ledger.store.hasUnsavedChanges)
  }

  @Test func `a value that cannot be stored holds back only its row`() throws {
    let rows = try seats("a", "b")
    ledger.loop.turn {
      rows[0].place = "x\0y"
      rows[1].place = "c"
    }
    #expect(try self.rows() == ["a 0", "c 1"])
    #expect(ledger.errors.texts.count == 1 && ledger.errors.texts[0].contains("a zero byte"))
    #expect(rows[0].hasUnsavedChanges && !rows[1].hasUnsavedChanges)
  }

  @Test func `each group has its error, and a waiting caller receives one of them`() throws {
    let ledger = try Ledger(saving: .explicit)
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let bob = try ledger.invoice(try ledger.addInvoice("Bob", [("salt", 1, 3)]))
    let cid = try ledger.invoice(try ledger.addInvoice("Cid"))
    ledger.loop.turn {
      ann.items[0].quantity = -1
      bob.items[0].quantity = -2
      cid.customer = "Dan"
    }
    #expect(throws: SaveError.self) { try ledger.store.save() }
    #expect(ledger.errors.texts.count == 1)
    #expect(try ledger.rows("SELECT customer FROM invoice ORDER BY id") == ["Ann", "Bob", "Dan"])
    // New rows of a group stay together.
    let note = Invoice(customer: "New")
    note.items.append(Item("bad", -1, 1))
    try ledger.store.insert(note)
    #expect(throws: SaveError.self) { try ledger.store.save() }
    #expect(try ledger.rows("SELECT COUNT(*) FROM invoice") == ["3"] && note.id == nil)
    ledger.store.revert()
    try ledger.store.save()
  }

  @Test func `a reference to a missing row holds back only its row`() throws {
    let ann = try ledger.invoice(try ledger.addInvoice("Ann"))
    let bad = Item("bad", 1, 1, of: 99)
    try ledger.loop.turn {
      try ledger.store.insert(bad)
      ann.customer = "Eve"
    }
    #expect(try ledger.rows("SELECT customer FROM invoice") == ["Eve"])
    #expect(ledger.errors.texts.count == 1 && bad.hasUnsavedChanges)
    #expect(ledger.errors.texts[0].contains("FOREIGN KEY"))
    ledger.loop.turn { bad.invoice = ann }
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Eve 1.0"])
  }

  @Test func `a trigger that ends the transaction holds back only the row it fires for`() throws {
    try ledger.run(
      """
      CREATE TRIGGER no BEFORE UPDATE ON seat WHEN new.place = 'no' BEGIN
        SELECT RAISE(ROLLBACK, 'refused');
      END
      """)
    let rows = try seats("a", "b", "c")
    ledger.loop.turn {
      rows[0].place = "x"
      rows[1].place = "no"
      rows[2].place = "z"
    }
    #expect(try self.rows() == ["x 0", "b 1", "z 2"])
    #expect(ledger.errors.texts.count == 1 && rows[1].hasUnsavedChanges)
  }

  // R2: only the end of a turn counts, not the values on the way.
  @Test(arguments: [false, true])
  func `rows swap unique values, in pairs and in a chain`(_ isBesideBad: Bool) throws {
    let rows = try seats("a", "b", "c", "d", "e")
    let bad = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)])).items[0]
    if isBesideBad { ledger.loop.turn { bad.quantity = -1 } }
    ledger.errors.texts = []
    ledger.loop.turn { (rows[0].place, rows[1].place) = ("b", "a") }
    #expect(try self.rows() == ["b 0", "a 1", "c 2", "d 3", "e 4"])
    // A chain: each takes the value of the next.
    ledger.loop.turn { for (row, place) in zip(rows, "acdef") { row.place = String(place) } }
    #expect(try self.rows() == ["a 0", "c 1", "d 2", "e 3", "f 4"])
    // A cycle of all rows, in both columns.
    ledger.loop.turn {
      for (place, row) in rows.enumerated() {
        row.place = ["c", "d", "e", "f", "a"][place]
        row.number = (place + 3) % 5
      }
    }
    #expect(try self.rows() == ["c 3", "d 4", "e 0", "f 1", "a 2"])
    // A new row takes a value that another one gives up.
    let new = Seat(place: "c", number: 3)
    try ledger.loop.turn {
      try ledger.store.insert(new)
      rows[0].place = "g"
      rows[0].number = nil
    }
    #expect(try self.rows() == ["g -", "d 4", "e 0", "f 1", "a 2", "c 3"])
    #expect(ledger.errors.texts.count == (isBesideBad ? 4 : 0), "\(ledger.errors.texts)")
  }

  @Test func `a value that another row keeps is an error, and changes nothing`() throws {
    let rows = try seats("a", "b", "c")
    ledger.loop.turn { (rows[0].place, rows[1].place) = ("b", "c") }
    #expect(try self.rows() == ["a 0", "b 1", "c 2"])
    #expect(ledger.errors.texts.count == 1)
    #expect(ledger.errors.texts[0].contains("UNIQUE constraint failed: seat.place"))
    ledger.loop.turn { rows[2].place = "a" }
    #expect(try self.rows() == ["b 0", "c 1", "a 2"] && ledger.errors.texts.count == 1)
  }
}
