import Foundation
import ObservableRecords
import Synchronization
import Testing

/// R2, R4: states caused by several events at once.
struct StateTests {
  private struct Stop: Error {}

  /// Keeps the thread of a database busy until `open`.
  private final class Gate {
    private let semaphore = DispatchSemaphore(value: 0)
    init(_ database: any DatabaseWriter) {
      let semaphore = semaphore
      database.asyncWriteWithoutTransaction { _ in semaphore.wait() }
    }
    func open() { semaphore.signal() }
  }

  private func teams(saving: RecordStore.Saving = .synchronous) throws -> Ledger {
    let ledger = try Ledger(saving: saving)
    try ledger.run("CREATE TABLE team(id INTEGER PRIMARY KEY)")
    try ledger.run("CREATE TABLE player(id INTEGER PRIMARY KEY, teamID INTEGER)")
    return ledger
  }

  // MARK: While a save is under way

  @Test func `a revert also undoes changes that a running save cannot write`() throws {
    let ledger = try Ledger(saving: .asynchronous)
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let tea = ann.items[0]
    let gate = Gate(ledger.database)
    ledger.loop.turn { tea.quantity = -1 }
    gate.open()
    ledger.store.revert()
    #expect(ann.total == 2 && tea.quantity == 1 && !ledger.store.hasUnsavedChanges)
    #expect(ledger.errors.texts.count == 1)
  }

  /// Counts instances that are deallocated on another thread than they were made on.
  private final class Sentinel {
    private static let strays = Mutex(0)
    private let home = pthread_self()
    static var count: Int { strays.withLock { $0 } }
    deinit {
      if pthread_equal(home, pthread_self()) == 0 { Sentinel.strays.withLock { $0 += 1 } }
    }
  }

  @Test func `a store that is dropped during a save ends on the thread of its loop`() throws {
    let (database, loop) = (try DatabaseQueue(), Loop(clock: .virtual))
    try database.write { try makeTables($0) }
    for _ in 0..<300 {
      var store: RecordStore? = try RecordStore(database, loop: loop, saving: .asynchronous)
      let sentinel = Sentinel()
      store?.onError = { error in withExtendedLifetime(sentinel) { _ = Issue.record(error) } }
      let note = Note(text: "a")
      try loop.turn { try store?.insert(note) }
      store = nil
      loop.run()
      #expect(note.id != nil)
    }
    // After this, the thread of the database has done its earlier work.
    database.writeWithoutTransaction { _ in }
    #expect(Sentinel.count == 0)
  }

  @MainActor @Test func `a save waits for the saves of earlier flushes`() async throws {
    let database = try DatabaseQueue()
    try await database.write { try makeTables($0) }
    let store = try RecordStore(database, loop: Loop.main)
    let (a, b) = (Note(text: "a"), Note(text: "b"))
    try store.insert(a)
    let gate = Gate(database)
    let first = Task { try await store.flush() }
    await Task.yield()
    try store.insert(b)
    let second = Task { try await store.flush() }
    await Task.yield()
    gate.open()
    let c = Note(text: "c")
    try store.insert(c)
    try store.save()
    #expect(!store.hasUnsavedChanges && !a.hasUnsavedChanges && !b.hasUnsavedChanges)
    #expect(a.id == 1 && b.id == 2 && c.id == 3)
    try await first.value
    try await second.value
    try store.close()
  }

  @MainActor @Test func `a flush waits for its own save, not for the one before`() async throws {
    let database = try DatabaseQueue()
    try await database.write { try makeTables($0) }
    let store = try RecordStore(database, loop: Loop.main, saving: .explicit)
    let errors = Ledger.Log()
    store.onError = { errors.texts.append("\($0)") }
    let invoice = Invoice(customer: "Ann")
    let item = Item("tea", -1, 2)
    invoice.items.append(item)
    try store.insert(invoice)
    let gate = Gate(database)
    let before = Task { try await store.flush() }
    await Task.yield()
    item.quantity = 1
    let flush = Task { try await store.flush() }
    await Task.yield()
    gate.open()
    try await flush.value
    await #expect(throws: SaveError.self) { try await before.value }
    #expect(errors.texts == [] && !store.hasUnsavedChanges)
    item.quantity = -1
    await #expect(throws: SaveError.self) { try await store.flush() }
    #expect(errors.texts == [])
    store.revert()
    try store.close()
  }

  @Test func `a row moves to another owner while it is inserted with a new one`() throws {
    let ledger = try Ledger(saving: .asynchronous)
    let bob = try ledger.invoice(try ledger.addInvoice("Bob"))
    let (ann, tea) = (Invoice(customer: "Ann"), Item("tea", 1, 2))
    var told: [String] = []
    ledger.store.onConflict = { told.append("\(type(of: $0)) \($1)") }
    let gate = Gate(ledger.database)
    try ledger.loop.turn {
      try ledger.store.insert(ann)
      ann.items.append(tea)
    }
    ledger.loop.turn { tea.invoice = bob }
    gate.open()
    ledger.loop.run()
    #expect(try ledger.rows("SELECT invoiceID FROM item") == ["1"])
    #expect(ann.items.isEmpty && bob.items.elements == [tea] && tea.invoice === bob)
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Bob 2.0", "Ann 0.0"])
    #expect(told == [] && ledger.errors.texts == [])
  }

  @Test func `a row that was moved to a new owner is no conflict`() throws {
    let ledger = try Ledger()
    let tea = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)])).items[0]
    var told: [String] = []
    ledger.store.onConflict = { told.append("\(type(of: $0)) \($1)") }
    try ledger.loop.turn {
      tea.invoice = Invoice(customer: "Bob")
      try ledger.run("INSERT INTO note(text) VALUES ('x')")
      try ledger.run("UPDATE invoice SET customer = 'A'")
    }
    #expect(told == [] && tea.invoiceID == 2)
  }

  // MARK: Rows that refer to new ones

  @Test func `a row that is moved to a new owner leaves its former list`() throws {
    let ledger = try Ledger()
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2), ("salt", 1, 3)]))
    let (tea, salt) = (ann.items[0], ann.items[1])
    let (bob, cid) = (Invoice(customer: "Bob"), Invoice(customer: "Cid"))
    try ledger.loop.turn {
      try ledger.store.insert(bob)
      tea.invoice = bob
      bob.items.append(salt)
      #expect(ann.items.elements == [salt] || ann.items.isEmpty)
      #expect(tea.invoice === bob)
    }
    #expect(ann.items.isEmpty && Set(bob.items.map(\.product)) == ["tea", "salt"])
    #expect(salt.invoice === bob && tea.invoice === bob)
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Ann 0.0", "Bob 5.0"])
    ledger.loop.turn {
      tea.invoice = cid
      tea.invoice = Invoice(customer: "Dan")
    }
    #expect(cid.items.isEmpty && bob.items.elements == [salt])
    #expect(
      try ledger.rows("SELECT customer, total FROM invoice") == [
        "Ann 0.0", "Bob 3.0", "Cid 0.0", "Dan 2.0",
      ])
    #expect(ledger.errors.texts == [])
  }

  @Test func `a row is moved to a new owner and back`() throws {
    let ledger = try Ledger()
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let tea = ann.items[0]
    let bob = Invoice(customer: "Bob")
    try ledger.loop.turn {
      try ledger.store.insert(bob)
      tea.invoice = bob
      tea.invoiceID = 1
    }
    #expect(ann.items.elements == [tea] && bob.items.isEmpty && tea.invoice === ann)
    #expect(try ledger.rows("SELECT invoiceID FROM item") == ["1"])
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Ann 2.0", "Bob 0.0"])
  }

  @Test func `a row that must have an owner stays with its new one`() throws {
    let ledger = try Ledger()
    let (ann, tea) = (Invoice(customer: "Ann"), Item("tea", 1, 2))
    try ledger.loop.turn {
      try ledger.store.insert(ann)
      ann.items.append(tea)
    }
    let bob = Invoice(customer: "Bob")
    try ledger.loop.turn {
      try ledger.store.insert(bob)
      tea.invoice = bob
      tea.invoice = nil
    }
    #expect(ledger.errors.texts.count == 1)
    #expect(tea.invoice === bob && bob.items.elements == [tea])
    #expect(try ledger.rows("SELECT invoiceID FROM item") == ["2"])
  }

  @Test func `a row removed from a new row's list stays if its column can be NULL`() throws {
    let ledger = try teams()
    let (team, player, other) = (Team(), Player(), Player())
    try ledger.loop.turn {
      try ledger.store.insert(player)
      try ledger.store.insert(team)
      team.players.append(player)
      team.players.append(other)
      team.players.removeAll()
    }
    // A row that is added and removed before a read is not inserted.
    #expect(!player.isDeleted && player.teamID == nil && other.store == nil)
    #expect(try ledger.rows("SELECT * FROM player") == ["1 -"])
  }

  @Test func `rows that refer to a reverted new row`() throws {
    let ledger = try Ledger(saving: .explicit)
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let (tea, salt, bob) = (ann.items[0], Item("salt", 1, 3), Invoice(customer: "Bob"))
    try ledger.loop.turn {
      try ledger.store.insert(bob)
      bob.items.append(tea)
      bob.items.append(salt)
      tea.article = Product(name: "leaves")
    }
    ledger.store.revert([bob, tea.article!])
    #expect(bob.store == nil && salt.store == nil && tea.article == nil)
    #expect(ann.items.elements == [tea] && tea.invoice === ann)
    try ledger.store.save()
    #expect(try ledger.rows("SELECT product, invoiceID FROM item") == ["tea 1"])
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Ann 2.0"])
    // It is inserted again with all rows in its list.
    try ledger.loop.turn { try ledger.store.insert(bob) }
    try ledger.store.save()
    #expect(try ledger.rows("SELECT product, invoiceID FROM item") == ["tea 1", "salt 2"])
    #expect(bob.items.elements == [salt] && bob.total == 3)
    ledger.loop.turn { bob.items.append(Item("new", 1, 1)) }
    try ledger.store.save()
    #expect(
      try ledger.rows("SELECT customer, total FROM invoice") == ["Ann 2.0", "Bob 4.0"])
    #expect(ledger.errors.texts == [])
  }

  @Test func `rows that refer to a deleted new row`() throws {
    let ledger = try Ledger()
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let (tea, salt, bob) = (ann.items[0], Item("salt", 1, 3), Invoice(customer: "Bob"))
    try ledger.loop.turn {
      try ledger.store.insert(bob)
      bob.items.append(salt)
      tea.invoice = bob
      tea.article = Product(name: "leaves")
      ledger.store.delete(tea.article!)
      ledger.store.delete(bob)
    }
    #expect(ledger.errors.texts == [])
    #expect(salt.isDeleted && !tea.isDeleted && tea.article == nil)
    #expect(ann.items.elements == [tea] && bob.items.isEmpty)
    #expect(try ledger.rows("SELECT product, invoiceID, productID FROM item") == ["tea 1 -"])
  }

  // MARK: Reverting

  @Test func `a revert puts a removed row back into its list`() throws {
    let ledger = try Ledger(saving: .explicit)
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2), ("salt", 1, 3)]))
    let (tea, salt) = (ann.items[0], ann.items[1])
    ledger.loop.turn {
      ann.items.removeFirst()
      ledger.store.revert()
    }
    #expect(Set(ann.items.map(\.product)) == ["tea", "salt"] && !tea.isDeleted)
    ledger.loop.turn {
      ann.items.removeAll()
      ledger.store.revert([salt])
    }
    #expect(ann.items.elements == [salt] && tea.isDeleted && !salt.isDeleted)
    ledger.store.revert()
    #expect(throws: Stop.self) {
      try ledger.store.transaction {
        ann.items.removeAll()
        throw Stop()
      }
    }
    try ledger.store.save()
    #expect(Set(ann.items.map(\.product)) == ["tea", "salt"] && !tea.isDeleted)
    #expect(try ledger.rows("SELECT COUNT(*) FROM item") == ["2"])
  }

  // R5: a stored property has the value of the database.
  @Test func `a stored property that was not saved, and reverted, is saved later`() throws {
    let ledger = try Ledger()
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2), ("salt", 1, 3)]))
    let (tea, salt) = (ann.items[0], ann.items[1])
    ledger.loop.turn {
      tea.quantity = 5
      salt.quantity = -1
      salt.price = 0
    }
    #expect(ledger.errors.texts.count == 1)
    ledger.store.revert()
    #expect(ann.total == 5)
    ledger.loop.turn {
      tea.quantity = 5
      salt.price = 0
    }
    #expect(try ledger.rows("SELECT total FROM invoice") == ["10.0"])
    #expect(ledger.errors.texts.count == 1)
  }

  @Test func `a stored property of a turn that could not be collected is saved later`() throws {
    let ledger = try Ledger()
    try ledger.run("CREATE TABLE curve(id INTEGER PRIMARY KEY, points TEXT NOT NULL)")
    let curve = Curve(points: [1])
    try ledger.loop.turn { try ledger.store.insert(curve) }
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let tea = ann.items[0]
    ledger.loop.turn {
      tea.quantity = 5
      curve.points = [.nan]
    }
    #expect(ledger.errors.texts.count == 1)
    ledger.loop.turn {
      tea.quantity = 1
      curve.points = [2]
    }
    #expect(try ledger.rows("SELECT total FROM invoice") == ["2.0"])
    ledger.loop.turn { tea.quantity = 5 }
    #expect(try ledger.rows("SELECT total FROM invoice") == ["10.0"])
  }

  // MARK: Ends

  @Test func `new and deleted objects outlive their store`() throws {
    let note = Note(text: "new")
    let gone = Note(text: "gone")
    weak var lost: Note?
    do {
      let ledger = try Ledger()
      try ledger.loop.turn { try ledger.store.insert(gone) }
      ledger.loop.turn { ledger.store.delete(gone) }
      try ledger.run("CREATE UNIQUE INDEX u ON note(text)")
      try ledger.run("INSERT INTO note(text) VALUES ('new')")
      try ledger.loop.turn { try ledger.store.insert(note) }
      #expect(ledger.errors.texts.count == 1 && note.hasUnsavedChanges)
      let other = Note(text: "new")
      try ledger.store.insert(other)
      lost = other
      #expect(throws: SaveError.self) { try ledger.store.close() }
    }
    #expect(note.store == nil && gone.store == nil && lost == nil)
    (note.text, gone.text) = ("x", "y")
    #expect(gone.isDeleted && note.text == "x")
  }

  @Test func `an object that could not be saved can be inserted into another store`() throws {
    let ledger = try Ledger()
    try ledger.run("CREATE UNIQUE INDEX u ON invoice(customer)")
    _ = try ledger.addInvoice("Ann")
    let ann = Invoice(customer: "Ann")
    ann.items.append(Item("tea", 1, 2))
    try ledger.loop.turn { try ledger.store.insert(ann) }
    #expect(throws: SaveError.self) { try ledger.store.close() }
    #expect(!ann.hasUnsavedChanges)
    let other = try RecordStore(
      ledger.database, loop: ledger.loop, records: [Invoice.self], saving: .synchronous)
    try ledger.loop.turn {
      ann.customer = "Bob"
      try other.insert(ann)
    }
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Ann 0.0", "Bob 2.0"])
    ledger.loop.turn { ann.items[0].quantity = 2 }
    #expect(try ledger.rows("SELECT total FROM invoice WHERE id = 2") == ["4.0"])
    #expect(!other.hasUnsavedChanges)
  }

  // MARK: Keys

  @Test func `a new row with a key taken by another writer keeps its values`() throws {
    let ledger = try Ledger(saving: .explicit)
    let notes = try ledger.store.query(Note.order(Column("id")))
    let note = Note(text: "mine")
    note.id = 7
    try ledger.loop.turn { try ledger.store.insert(note) }
    try ledger.run("INSERT INTO note VALUES (7, 'other', NULL)")
    ledger.loop.run()
    #expect(note.text == "mine")
    #expect(throws: SaveError.self) { try ledger.store.save() }
    #expect(note.text == "mine" && note.hasUnsavedChanges)
    ledger.store.revert()
    #expect(try ledger.store.find(Note.self, 7)?.text == "other")
    ledger.loop.run()
    #expect(notes.map(\.text) == ["other"])
  }

  @Test func `a row takes the key of a row deleted in the same turn`() throws {
    let ledger = try Ledger()
    try ledger.run("CREATE TABLE countries(code TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL)")
    let old = Country(code: "fr", name: "France")
    try ledger.loop.turn { try ledger.store.insert(old) }
    let all = try ledger.store.query(Country.all())
    let new = Country(code: "fr", name: "La France")
    try ledger.loop.turn {
      ledger.store.delete(old)
      try ledger.store.insert(new)
    }
    ledger.loop.run()
    #expect(try ledger.rows("SELECT name FROM countries") == ["La France"])
    #expect(try ledger.store.find(Country.self, "fr") === new && old.isDeleted)
    #expect(all.elements.count == 1 && all[0] === new)
    // The same before the first save.
    let (a, b) = (Country(code: "es", name: "a"), Country(code: "es", name: "b"))
    try ledger.loop.turn {
      try ledger.store.insert(a)
      ledger.store.delete(a)
      try ledger.store.insert(b)
    }
    #expect(try ledger.rows("SELECT name FROM countries WHERE code = 'es'") == ["b"])
    #expect(ledger.errors.texts == [])
  }

  @Test func `a row without a key is an error if SQLite generates none`() throws {
    let ledger = try Ledger()
    try ledger.run("CREATE TABLE ticket(code TEXT PRIMARY KEY, text TEXT NOT NULL)")
    let ticket = Ticket(text: "a")
    try ledger.loop.turn { try ledger.store.insert(ticket) }
    #expect(ledger.errors.texts.count == 1)
    #expect(
      ledger.errors.texts.first?.contains("table 'ticket', column 'code': the key is nil") == true)
    ledger.loop.turn { ticket.code = "x" }
    #expect(try ledger.rows("SELECT * FROM ticket") == ["x a"])
    ledger.loop.turn { ticket.text = "b" }
    #expect(try ledger.rows("SELECT * FROM ticket") == ["x b"])
    #expect(ledger.errors.texts.count == 1)
  }

  @Test func `a row that the table rejects is an error`() throws {
    let ledger = try Ledger()
    try ledger.run(
      "CREATE TABLE ticket(code TEXT PRIMARY KEY, text TEXT NOT NULL UNIQUE ON CONFLICT IGNORE)")
    let (a, b) = (Ticket(code: "a", text: "x"), Ticket(code: "b", text: "x"))
    try ledger.loop.turn { try ledger.store.insert(a) }
    try ledger.loop.turn { try ledger.store.insert(b) }
    #expect(ledger.errors.texts.count == 1 && b.hasUnsavedChanges)
    ledger.loop.turn { b.text = "y" }
    #expect(try ledger.rows("SELECT * FROM ticket") == ["a x", "b y"])
  }

  // MARK: Rows of other stores

  @Test func `a deleted row cannot be added to a list, nor one of another store`() throws {
    let ledger = try Ledger()
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2), ("salt", 1, 3)]))
    let bob = try ledger.invoice(try ledger.addInvoice("Bob"))
    let (tea, salt) = (ann.items[0], ann.items[1])
    let other = try RecordStore(ledger.database, loop: ledger.loop, saving: .synchronous)
    let foreign = try #require(try other.find(Item.self, 2))
    let foreignBob = try #require(try other.find(Invoice.self, 2))
    ledger.loop.turn { ledger.store.delete(tea) }
    ledger.loop.turn { bob.items.append(tea) }
    #expect(bob.items.isEmpty && ledger.errors.texts.count == 1)
    ledger.loop.turn { bob.items.append(foreign) }
    #expect(bob.items.isEmpty && ledger.errors.texts.count == 2)
    ledger.loop.turn { salt.invoice = foreignBob }
    #expect(salt.invoice === ann && ledger.errors.texts.count == 3)
    ledger.loop.turn { ledger.store.delete(bob) }
    ledger.loop.turn { salt.invoice = bob }
    #expect(salt.invoice === ann && ledger.errors.texts.count == 4, "\(ledger.errors.texts)")
    #expect(ledger.errors.texts.allSatisfy { $0.contains("deleted") || $0.contains("store") })
    #expect(try ledger.rows("SELECT id, invoiceID FROM item") == ["2 1"])
  }

  // MARK: Rows inserted by others

  @Test func `a row inserted by others is found by the properties that wait for it`() throws {
    let ledger = try Ledger()
    try ledger.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA foreign_keys = OFF") }
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let tea = ann.items[0]
    var heard: [String] = []
    try ann.observe("note.text", in: ledger.loop) { heard.append($0.note?.text ?? "nil") }
    try tea.observe("article.name", in: ledger.loop) { heard.append($0.article?.name ?? "nil") }
    ledger.loop.turn { tea.productID = 9 }
    try ledger.run("INSERT INTO note VALUES (1, 'a', 1)")
    ledger.loop.run()
    try ledger.run("INSERT INTO product VALUES (9, 'leaves')")
    ledger.loop.run()
    #expect(heard.filter { $0 != "nil" } == ["a", "leaves"])
    try ledger.run("UPDATE note SET invoiceID = NULL")
    ledger.loop.run()
    #expect(ann.note == nil)
    try ledger.run("UPDATE note SET invoiceID = 1")
    ledger.loop.run()
    #expect(ann.note?.text == "a")
    ledger.loop.turn { tea.productID = 10 }
    let product = Product(name: "own")
    product.id = 10
    try ledger.loop.turn { try ledger.store.insert(product) }
    #expect(tea.article === product)
  }

  @Test func `a row that does not fit keeps only its own query from changing`() throws {
    let ledger = try Ledger()
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let (items, all) = (
      try ledger.store.query(Item.order(Column("id"))), try ledger.store.query(Invoice.all())
    )
    try ledger.database.write { db in
      try db.execute(
        sql: """
          INSERT INTO item VALUES (2, 'salt', 'many', 1, 1, NULL);
          UPDATE invoice SET customer = 'Eve'; INSERT INTO invoice(customer) VALUES ('Bob');
          """)
    }
    ledger.loop.run()
    #expect(ann.customer == "Eve" && all.map(\.customer) == ["Eve", "Bob"])
    #expect(items.map(\.product) == ["tea"])
    #expect(ledger.errors.texts.contains { $0.contains("column 'quantity', row 2") })
    try ledger.run("UPDATE item SET quantity = 1 WHERE id = 2")
    ledger.loop.run()
    #expect(items.map(\.product) == ["tea", "salt"])
  }

  // MARK: Texts

  @Test func `a text that SQLite would cut is an error, and is not lost`() throws {
    let ledger = try Ledger()
    let note = Note(text: "a\0b")
    try ledger.loop.turn { try ledger.store.insert(note) }
    #expect(ledger.errors.texts.count == 1 && note.hasUnsavedChanges)
    #expect(
      ledger.errors.texts.first?.contains("table 'note', column 'text': the text has a zero byte")
        == true
    )
    ledger.loop.turn { note.text = "ab" }
    #expect(try ledger.rows("SELECT text FROM note") == ["ab"])
  }
}

@ObservableModel final class Ticket: ObservableRecord {
  static let primaryKeyName = "code"
  var code: String?
  var text: String
}
