import Foundation
import ObservableRecords
import Testing

/// R2: changes of a turn are saved at its end.
struct SavingTests {
  // R2: only the columns that changed, in one transaction.
  @Test func `a turn saves the changed columns, in one transaction`() throws {
    let ledger = try Ledger()
    let (a, b) = (try ledger.addInvoice("Ann"), try ledger.addInvoice("Bob"))
    let (ann, bob) = (try ledger.invoice(a), try ledger.invoice(b))
    let statements = Statements(ledger.database)
    ledger.loop.turn {
      ann.customer = "Anna"
      bob.customer = "Bob"
      ann.customer = "Annabel"
    }
    #expect(
      statements.take("BEGIN", "UPDATE", "INSERT", "DELETE", "COMMIT") == [
        "BEGIN IMMEDIATE TRANSACTION",
        #"UPDATE "invoice" SET "customer" = ? WHERE "id" = ?"#, "COMMIT TRANSACTION",
      ])
    #expect(!ann.hasUnsavedChanges && !bob.hasUnsavedChanges)
  }

  // R2: a restored value is no change.
  @Test func `a restored value is not saved`() throws {
    let ledger = try Ledger()
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann"))
    let statements = Statements(ledger.database)
    ledger.loop.turn {
      invoice.customer = "Eve"
      invoice.customer = "Ann"
    }
    #expect(statements.take("BEGIN", "UPDATE") == [])
    #expect(!ledger.store.hasUnsavedChanges)
  }

  // R2: watchers' writes belong to the turn.
  @Test func `writes of watchers are saved with the turn`() throws {
    let ledger = try Ledger()
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann"))
    let note = Note(text: "")
    try ledger.loop.turn { try ledger.store.insert(note) }
    try invoice.observe("customer", in: ledger.loop) { note.text = "for \($0.customer)" }
    let statements = Statements(ledger.database)
    ledger.loop.turn { invoice.customer = "Eve" }
    #expect(statements.take("BEGIN", "UPDATE").count == 3)
    #expect(try ledger.rows("SELECT text FROM note") == ["for Eve"])
  }

  // R2: insertions and deletions.
  @Test func `an invoice and its items are inserted together, the rows referred to first`() throws {
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
    #expect(try ledger.store.find(Invoice.self, 1) === invoice)
  }

  @Test func `deleted rows are gone, and their objects are marked as deleted`() throws {
    let ledger = try Ledger()
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann"))
    #expect(!invoice.isDeleted)
    ledger.loop.turn { ledger.store.delete(invoice) }
    #expect(invoice.isDeleted)
    #expect(try ledger.rows("SELECT * FROM invoice") == [])
    #expect(throws: RecordError.self) { try ledger.store.insert(invoice) }
    ledger.store.delete(invoice)
  }

  @Test func `a row that is deleted before its first save is never written`() throws {
    let ledger = try Ledger()
    let note = Note(text: "a")
    let statements = Statements(ledger.database)
    try ledger.loop.turn {
      try ledger.store.insert(note)
      ledger.store.delete(note)
    }
    #expect(note.isDeleted && !note.hasUnsavedChanges)
    #expect(statements.take("BEGIN", "INSERT", "DELETE") == [])
  }

  // MARK: Lists

  // R2: append to and remove from a @HasMany.
  @Test func `rows appended to a list are inserted, and removed ones are deleted`() throws {
    let ledger = try Ledger()
    let invoice = try ledger.invoice(
      try ledger.addInvoice("Ann", [("tea", 1, 2), ("honey", 1, 4)]))
    ledger.loop.turn { invoice.items.append(Item("salt", 3, 1)) }
    #expect(
      try ledger.rows("SELECT id, product, invoiceID FROM item") == [
        "1 tea 1", "2 honey 1", "3 salt 1",
      ])
    let tea = invoice.items[0]
    ledger.loop.turn { invoice.items.removeFirst() }
    #expect(try ledger.rows("SELECT product FROM item") == ["honey", "salt"])
    #expect(tea.isDeleted)
    #expect(try ledger.rows("SELECT total FROM invoice") == ["7.0"])
    #expect(ledger.errors.texts == [])
  }

  @Test func `a row moved from one list to another stays, in any order`() throws {
    let ledger = try Ledger()
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2), ("honey", 1, 4)]))
    let bob = try ledger.invoice(try ledger.addInvoice("Bob", [("salt", 1, 8)]))
    ledger.loop.turn { bob.items.append(ann.items.removeFirst()) }
    #expect(try ledger.rows("SELECT id, invoiceID FROM item ORDER BY id") == ["1 2", "2 1", "3 2"])
    let salt = bob.items[0]
    ledger.loop.turn {
      ann.items.append(salt)
      bob.items.removeValue(salt)
    }
    #expect(try ledger.rows("SELECT id, invoiceID FROM item ORDER BY id") == ["1 2", "2 1", "3 1"])
    #expect(ann.items.map(\.product) == ["honey", "salt"])
    #expect(try ledger.rows("SELECT total FROM invoice ORDER BY id") == ["12.0", "2.0"])
    #expect(ledger.errors.texts == [])
  }

  @Test func `a column that refers to a row moves its row between lists`() throws {
    let ledger = try Ledger()
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2), ("honey", 1, 4)]))
    let bob = try ledger.invoice(try ledger.addInvoice("Bob"))
    let (tea, honey) = (ann.items[0], ann.items[1])
    #expect(bob.items.isEmpty)
    ledger.loop.turn { tea.invoiceID = 2 }
    #expect(ann.items.elements == [honey] && bob.items.elements == [tea])
    ledger.loop.turn { honey.invoice = bob }
    #expect(ann.items.isEmpty && bob.items.elements == [tea, honey])
    #expect(honey.invoice === bob)
    #expect(try ledger.rows("SELECT invoiceID FROM item") == ["2", "2"])
  }

  @Test func `a row removed from a list stays if its column can be NULL`() throws {
    let ledger = try Ledger()
    try ledger.run("CREATE TABLE team(id INTEGER PRIMARY KEY)")
    try ledger.run("CREATE TABLE player(id INTEGER PRIMARY KEY, teamID INTEGER)")
    let team = Team()
    try ledger.loop.turn {
      try ledger.store.insert(team)
      team.players.append(Player())
    }
    #expect(try ledger.rows("SELECT * FROM player") == ["1 1"])
    let player = team.players[0]
    ledger.loop.turn { team.players.removeAll() }
    #expect(try ledger.rows("SELECT * FROM player") == ["1 -"])
    #expect(player.teamID == nil && !player.isDeleted)
  }

  // MARK: Errors

  // R2: a failed save writes nothing; the objects stay changed and are tried again.
  @Test func `a failed save writes nothing, and is tried again`() throws {
    let ledger = try Ledger()
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let tea = invoice.items[0]
    var errors: [SaveError] = []
    ledger.store.onError = { error in if let error = error as? SaveError { errors.append(error) } }
    ledger.loop.turn {
      invoice.customer = "Eve"
      tea.quantity = -1
    }
    #expect(errors.count == 1)
    #expect(
      errors[0].statement == #"UPDATE "item" SET "quantity" = ? WHERE "id" = ?"#)
    #expect(errors[0].objects.first === tea)
    #expect(errors[0].objects.count == 2)
    #expect("\(errors[0])".contains("CHECK constraint failed"))
    #expect("\(errors[0])".hasSuffix("for row 1 of 'item'"))
    #expect(try ledger.rows("SELECT customer FROM invoice") == ["Ann"])
    #expect(invoice.customer == "Eve" && invoice.hasUnsavedChanges && tea.hasUnsavedChanges)
    ledger.loop.turn { tea.quantity = 3 }
    #expect(errors.count == 1)
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Eve 6.0"])
    #expect(!invoice.hasUnsavedChanges)
  }

  // R2: revert undoes the changes.
  @Test func `reverted objects have the values of the database`() throws {
    let ledger = try Ledger(saving: .explicit)
    let invoice = try ledger.invoice(
      try ledger.addInvoice("Ann", [("tea", 1, 2), ("honey", 1, 4)]))
    let (tea, honey) = (invoice.items[0], invoice.items[1])
    let salt = Item("salt", 1, 1)
    var heard: [String] = []
    try invoice.observe("customer", in: ledger.loop) { heard.append($0.customer) }
    ledger.loop.turn {
      invoice.customer = "Eve"
      tea.quantity = 5
      ledger.store.delete(honey)
      invoice.items.append(salt)
    }
    #expect(invoice.items.elements == [tea, salt])
    ledger.store.revert([honey, invoice])
    #expect(invoice.customer == "Ann" && !honey.isDeleted && tea.quantity == 5)
    #expect(Set(invoice.items.map(\.product)) == ["tea", "honey", "salt"])
    ledger.store.revert()
    #expect(tea.quantity == 1 && salt.store == nil)
    #expect(Set(invoice.items.map(\.product)) == ["tea", "honey"])
    #expect(!ledger.store.hasUnsavedChanges)
    ledger.loop.turn {}
    #expect(heard == ["Eve", "Ann"])
    try ledger.store.save()
    #expect(try ledger.rows("SELECT quantity FROM item") == ["1", "1"])
  }

  @Test func `a revert restores the order of lists`() throws {
    let ledger = try Ledger(saving: .explicit)
    let ann = try ledger.invoice(
      try ledger.addInvoice("Ann", [("tea", 1, 2), ("honey", 1, 4), ("salt", 1, 1)]))
    let bob = try ledger.invoice(try ledger.addInvoice("Bob", [("jam", 1, 2), ("pie", 1, 4)]))
    let items = ann.items.elements
    ledger.loop.turn {
      ann.items.move(from: 2, to: 0)
      ann.items.removeValue(items[0])
      items[1].invoice = bob
      bob.items.insert(ann.items.removeFirst(), at: 0)
    }
    #expect(bob.items.map(\.product) == ["salt", "jam", "pie", "honey"])
    ledger.store.revert()
    #expect(ann.items.map(\.product) == ["tea", "honey", "salt"])
    #expect(bob.items.map(\.product) == ["jam", "pie"])
    ledger.loop.turn { ann.items.move(from: 0, to: 2) }
    ledger.store.revert([ann])
    #expect(ann.items.map(\.product) == ["tea", "honey", "salt"])
    ledger.loop.turn { ledger.store.delete(items[0]) }
    ledger.store.revert()
    #expect(ann.items.map(\.product) == ["tea", "honey", "salt"])
    // Saved changes stay.
    ledger.loop.turn {
      ann.items.move(from: 0, to: 2)
      items[0].quantity = 5
    }
    try ledger.store.save()
    ledger.store.revert()
    #expect(ann.items.map(\.product) == ["honey", "salt", "tea"] && ledger.errors.texts == [])
  }

  // R2: in spite of other loops of the thread.
  @Test(arguments: [RecordStore.Saving.synchronous, .asynchronous, .explicit])
  func `a store saves by its own loop`(_ saving: RecordStore.Saving) throws {
    let ledger = try Ledger(saving: saving)
    let id = try ledger.addInvoice("Ann", [("tea", 1, 2)])
    let later = Loop(clock: .virtual)
    let ann = try ledger.invoice(id)
    for quantity in 1...3 {
      ledger.loop.turn { ann.items[0].quantity = quantity }
      if saving == .explicit { try ledger.store.save() }
      ledger.loop.run()
      #expect(try ledger.rows("SELECT total FROM invoice") == ["\(2 * quantity).0"])
    }
    #expect(ann.total == 6 && ledger.errors.texts == [])
    let new = Invoice(customer: "Bob")
    new.items.append(Item("jam", 1, 3))
    try ledger.loop.turn { try ledger.store.insert(new) }
    if saving == .explicit { try ledger.store.save() }
    ledger.loop.run()
    #expect(try ledger.rows("SELECT total FROM invoice WHERE customer = 'Bob'") == ["3.0"])
    #expect(new.total == 3 && ledger.errors.texts == [])
    withExtendedLifetime(later) {}
  }

  @Test func `the key of a saved row cannot be changed`() throws {
    let ledger = try Ledger()
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann"))
    ledger.loop.turn { invoice.id = 99 }
    #expect(
      ledger.errors.texts == [
        "not saved: table 'invoice', column 'id', row 1: the key of a saved row cannot be changed; "
          + "revert(_:) restores it, for row 1 of 'invoice'"
      ])
    ledger.store.revert([invoice])
    #expect(invoice.id == 1)
  }

  @Test func `a new row with an existing key is an error`() throws {
    let ledger = try Ledger()
    _ = try ledger.addInvoice("Ann")
    let other = Invoice(customer: "Bob")
    other.id = 1
    try ledger.loop.turn { try ledger.store.insert(other) }
    #expect(ledger.errors.texts.count == 1)
    #expect(ledger.errors.texts[0].contains("UNIQUE constraint failed: invoice.id"))
    #expect(other.hasUnsavedChanges)
    ledger.store.revert()
    #expect(other.store == nil)
    #expect(try ledger.invoice(1).customer == "Ann")
  }

  @Test func `a write to a deleted object is an error`() throws {
    let ledger = try Ledger()
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann"))
    ledger.loop.turn { ledger.store.delete(invoice) }
    invoice.customer = "Eve"
    #expect(
      ledger.errors.texts == [
        "table 'invoice', column 'customer', row 1: the row is deleted: writes to its object "
          + "are not saved"
      ])
  }

  // MARK: When

  // R2: pauseSaving and explicit saving.
  @Test func `saving can be paused`() throws {
    let ledger = try Ledger()
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann"))
    try ledger.store.pauseSaving { () throws in
      ledger.loop.turn { invoice.customer = "Eve" }
      ledger.loop.turn { invoice.customer = "Ida" }
      #expect(try ledger.rows("SELECT customer FROM invoice") == ["Ann"])
    }
    ledger.loop.turn {}
    #expect(try ledger.rows("SELECT customer FROM invoice") == ["Ida"])
  }

  @Test func `saving may be left to the program`() throws {
    let ledger = try Ledger(saving: .explicit)
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann"))
    ledger.loop.turn { invoice.customer = "Eve" }
    #expect(try ledger.rows("SELECT customer FROM invoice") == ["Ann"])
    try ledger.store.save()
    #expect(try ledger.rows("SELECT customer FROM invoice") == ["Eve"])
    ledger.loop.turn { invoice.items.append(Item("tea", -1, 2)) }
    #expect(throws: SaveError.self) { try ledger.store.save() }
  }

  // Threads: the loop continues; the next turn's save waits for the last one.
  @Test func `the loop continues during a save, and turns are saved in order`() throws {
    let folder = Folder()
    let ledger = try Ledger(DatabasePool(path: folder.file), saving: .asynchronous)
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann"))
    let gate = DispatchSemaphore(value: 0)
    ledger.database.asyncWriteWithoutTransaction { _ in gate.wait() }
    ledger.loop.turn { invoice.customer = "B" }
    ledger.loop.turn { invoice.customer = "C" }
    ledger.loop.turn { invoice.customer = "D" }
    #expect(invoice.hasUnsavedChanges)
    let saved = try DatabaseQueue(path: folder.file).read {
      try String.fetchAll($0, sql: "SELECT customer FROM invoice")
    }
    #expect(saved == ["Ann"])
    gate.signal()
    ledger.loop.run()
    #expect(try ledger.rows("SELECT customer FROM invoice") == ["D"])
    #expect(!invoice.hasUnsavedChanges && !ledger.store.hasUnsavedChanges)
    #expect(ledger.errors.texts == [])
  }

  // R2: an object that was changed while it was being saved.
  @Test func `a save that fails while its objects change again loses nothing`() throws {
    let ledger = try Ledger(saving: .asynchronous)
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let tea = invoice.items[0]
    // Rows written by others are in memory.
    ledger.loop.run()
    let gate = DispatchSemaphore(value: 0)
    ledger.database.asyncWriteWithoutTransaction { _ in gate.wait() }
    ledger.loop.turn {
      tea.quantity = -1
      tea.product = "Tea"
    }
    ledger.loop.turn {
      tea.quantity = 7
      invoice.customer = "Eve"
    }
    gate.signal()
    ledger.loop.run()
    #expect(ledger.errors.texts.count == 1)
    #expect(try ledger.rows("SELECT product, quantity FROM item") == ["Tea 7"])
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Eve 14.0"])
    #expect(!ledger.store.hasUnsavedChanges)
  }

  @Test func `a row that is deleted during its insertion is removed`() throws {
    let ledger = try Ledger(saving: .asynchronous)
    let note = Note(text: "a")
    let gate = DispatchSemaphore(value: 0)
    ledger.database.asyncWriteWithoutTransaction { _ in gate.wait() }
    try ledger.loop.turn { try ledger.store.insert(note) }
    ledger.loop.turn { ledger.store.delete(note) }
    gate.signal()
    ledger.loop.run()
    #expect(try ledger.rows("SELECT * FROM note") == [])
    #expect(note.isDeleted && !note.hasUnsavedChanges)
    #expect(ledger.errors.texts == [])
  }

  // Threads: store.flush() awaits.
  @MainActor @Test func `a task waits until everything is saved`() async throws {
    let database = try DatabaseQueue()
    try await database.write { try makeTables($0) }
    let store = try RecordStore(database, loop: Loop.main)
    // The task gets the error.
    store.onError = { _ in }
    let note = Note(text: "a")
    try store.insert(note)
    try await store.flush()
    #expect(note.id == 1)
    let count = try await database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM note") }
    #expect(count == 1)
    note.id = 2
    await #expect(throws: SaveError.self) { try await store.flush() }
    try? store.close()
  }

  // MARK: Transactions

  // R2, S8: a turn that cannot be saved is undone.
  @Test func `a transaction that cannot be saved is rolled back, and calls no watchers`() throws {
    let ledger = try Ledger()
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let tea = invoice.items[0]
    var heard: [String] = []
    try invoice.observe("customer", in: ledger.loop) { heard.append($0.customer) }
    try invoice.observe("items.@sum.total", in: ledger.loop) { heard.append("\($0.total)") }
    try invoice.items.observeEdits(in: ledger.loop) { heard.append("edits \($1.count)") }
    let salt = Item("salt", 1, 1)
    ledger.loop.turn {
      #expect(throws: SaveError.self) {
        try ledger.store.transaction {
          invoice.customer = "Eve"
          invoice.items.append(salt)
          tea.quantity = -1
        }
      }
    }
    #expect(invoice.customer == "Ann" && tea.quantity == 1)
    #expect(invoice.items.elements == [tea] && salt.store == nil)
    #expect(!ledger.store.hasUnsavedChanges)
    #expect(heard == [])
    try ledger.loop.turn { try ledger.store.transaction { invoice.customer = "Ida" } }
    #expect(heard == ["Ida"])
    #expect(try ledger.rows("SELECT customer FROM invoice") == ["Ida"])
  }

  @Test func `a transaction whose body throws is rolled back`() throws {
    struct Stop: Error {}
    let ledger = try Ledger()
    let invoice = try ledger.invoice(try ledger.addInvoice("Ann"))
    #expect(throws: Stop.self) {
      try ledger.store.transaction {
        invoice.customer = "Eve"
        ledger.store.delete(invoice)
        throw Stop()
      }
    }
    #expect(invoice.customer == "Ann" && !invoice.isDeleted)
    #expect(throws: RecordError.self) {
      try ledger.store.transaction { try ledger.store.transaction {} }
    }
  }
}

@ObservableModel final class Team: ObservableRecord {
  var id: Int64?
  @HasMany(\Player.teamID) var players: ObservableArray<Player>
}

@ObservableModel final class Player: ObservableRecord {
  var id: Int64?
  var teamID: Int64?
}
