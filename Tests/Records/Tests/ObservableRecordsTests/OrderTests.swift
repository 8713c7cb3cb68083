import ObservableRecords
import Testing

@ObservableModel final class Worker: ObservableRecord {
  var id: Int64?
  var name: String
  var bossID: Int64?
  @BelongsTo(\Worker.bossID) var boss: Worker?
  @HasMany(\Worker.bossID) var staff: ObservableArray<Worker>
}

@ObservableModel final class Office: ObservableRecord {
  var id: Int64?
  var headID: Int64?
  @BelongsTo(\Office.headID) var head: Clerk?
}

@ObservableModel final class Clerk: ObservableRecord {
  var id: Int64?
  var officeID: Int64 = 0
  var desk: String
  var partnerID: Int64 = 0
  @BelongsTo(\Clerk.officeID) var office: Office?
  @BelongsTo(\Clerk.partnerID) var partner: Clerk?
}

/// R2: the order in which rows are written.
struct OrderTests {
  private func company() throws -> Ledger {
    let ledger = try Ledger()
    try ledger.run(
      """
      CREATE TABLE worker(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
        bossID INTEGER REFERENCES worker(id) ON DELETE RESTRICT);
      CREATE TABLE office(id INTEGER PRIMARY KEY, headID INTEGER REFERENCES clerk(id));
      CREATE TABLE clerk(
        id INTEGER PRIMARY KEY, officeID INTEGER NOT NULL REFERENCES office(id),
        desk TEXT NOT NULL, partnerID INTEGER NOT NULL);
      """)
    return ledger
  }

  // R2: rows come before the rows that refer to them, even if both refer to each other.
  @Test func `new rows may refer to each other, and to themselves`() throws {
    let ledger = try company()
    let (ann, bob, cid) = (Worker(name: "Ann"), Worker(name: "Bob"), Worker(name: "Cid"))
    cid.boss = cid
    try ledger.loop.turn {
      try ledger.store.insert(ann)
      ann.boss = bob
      bob.boss = ann
      try ledger.store.insert(cid)
    }
    #expect(ledger.errors.texts == [] && !ledger.store.hasUnsavedChanges)
    #expect(
      Set(try ledger.rows("SELECT a.name, b.name FROM worker a JOIN worker b ON a.bossID = b.id"))
        == ["Ann Bob", "Bob Ann", "Cid Cid"])
    #expect(ann.bossID == bob.id && bob.bossID == ann.id && cid.bossID == cid.id)
    #expect(ann.boss === bob && cid.boss === cid && ann.staff.elements.first === bob)
    ledger.loop.turn { ann.boss = cid }
    #expect(try ledger.rows("SELECT bossID FROM worker WHERE name = 'Ann'") == ["\(cid.id!)"])
  }

  @Test func `of two new rows that refer to each other, the dependent one is second`()
    throws
  {
    let ledger = try company()
    let (office, clerk) = (Office(), Clerk(desk: "a", partnerID: 7))
    try ledger.loop.turn {
      try ledger.store.insert(office)
      office.head = clerk
      clerk.office = office
    }
    #expect(ledger.errors.texts == [])
    #expect(try ledger.rows("SELECT * FROM office, clerk") == ["1 1 1 1 a 7"])
  }

  // R2: this includes the rows that it refers to, wherever they were connected.
  @Test func `rows that were connected before are inserted together`() throws {
    let ledger = try company()
    let ann = Worker(name: "Ann")
    ann.boss = Worker(name: "Bob")
    ann.boss?.boss = Worker(name: "Cid")
    #expect(ann.boss?.boss?.name == "Cid")
    try ledger.loop.turn { try ledger.store.insert(ann) }
    #expect(
      try ledger.rows("SELECT a.name, b.name FROM worker a LEFT JOIN worker b ON a.bossID = b.id")
        == ["Cid -", "Bob Cid", "Ann Bob"])
    #expect(ann.boss?.boss?.name == "Cid" && ledger.errors.texts == [])
  }

  // Bad input: a cycle that no order of statements can write.
  @Test func `new rows that need each other are an error, and are not lost`() throws {
    let ledger = try company()
    let (office, a, b) = (Office(), Clerk(desk: "a"), Clerk(desk: "b"))
    try ledger.loop.turn {
      try ledger.store.insert(office)
      (a.office, b.office) = (office, office)
      a.partner = b
      b.partner = a
      try ledger.store.insert(a)
    }
    #expect(
      ledger.errors.texts.count == 1
        && ledger.errors.texts[0].contains(
          "column 'partnerID': new rows refer to each other in a cycle"),
      "\(ledger.errors.texts)")
    #expect(try ledger.rows("SELECT * FROM clerk") == [])
    ledger.loop.turn { b.partnerID = 9 }
    #expect(try ledger.rows("SELECT desk, partnerID FROM clerk") == ["b 9", "a 1"])
  }

  // R2: the result of a turn counts, not the order in which objects were changed.
  @Test(arguments: 0..<3)
  func `a row that was moved away stays when its former owner is deleted`(
    _ order: Int
  ) throws {
    let ledger = try Ledger()
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2), ("salt", 1, 3)]))
    let bob = try ledger.invoice(try ledger.addInvoice("Bob"))
    let new = Invoice(customer: "New")
    let tea = ann.items[0]
    ledger.loop.turn {
      switch order {
      case 0:
        ann.customer = "X"
        tea.invoice = bob
        ledger.store.delete(ann)
      case 1:
        ledger.store.delete(ann)
        tea.invoice = bob
      default:
        ann.customer = "X"
        new.items.append(tea)
        tea.invoice = new
        ledger.store.delete(ann)
      }
    }
    ledger.loop.run()
    #expect(!tea.isDeleted && ledger.errors.texts == [])
    #expect(
      try ledger.rows(
        "SELECT product, customer, total FROM item JOIN invoice ON invoiceID = invoice.id")
        == [order == 2 ? "tea New 2.0" : "tea Bob 2.0"])
  }

  @Test func `rows that refer to each other can be deleted in any order`() throws {
    for isReversed in [false, true] {
      let ledger = try company()
      let (ann, bob) = (Worker(name: "Ann"), Worker(name: "Bob"))
      try ledger.loop.turn {
        try ledger.store.insert(ann)
        bob.boss = ann
        try ledger.store.insert(bob)
      }
      ledger.loop.turn {
        ann.name = "X"
        for worker in isReversed ? [ann, bob] : [bob, ann] { ledger.store.delete(worker) }
      }
      #expect(try ledger.rows("SELECT * FROM worker") == [] && ledger.errors.texts == [])
    }
  }

  // The table chooses the effect of a foreign key.
  @Test func `a row moved to a deleted owner is deleted with it`() throws {
    let ledger = try Ledger()
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let bob = try ledger.invoice(try ledger.addInvoice("Bob"))
    let (tea, salt) = (ann.items[0], Item("salt", 1, 3, of: 2))
    try ledger.loop.turn {
      bob.customer = "X"
      tea.invoice = bob
      try ledger.store.insert(salt)
      ledger.store.delete(bob)
    }
    ledger.loop.run()
    #expect(ledger.errors.texts == [] && tea.isDeleted && salt.isDeleted && ann.items.isEmpty)
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Ann 0.0"])
    #expect(try ledger.rows("SELECT * FROM item") == [])
  }

  @Test func `a row takes a value from a deleted one`() throws {
    let ledger = try company()
    let (ann, bob) = (Worker(name: "Ann"), Worker(name: "Bob"))
    try ledger.loop.turn {
      try ledger.store.insert(ann)
      try ledger.store.insert(bob)
    }
    ledger.loop.turn {
      bob.bossID = nil
      bob.name = "Ann"
      ledger.store.delete(ann)
    }
    #expect(try ledger.rows("SELECT id, name FROM worker") == ["2 Ann"])
    #expect(ledger.errors.texts == [])
  }

  // R2, R5: lists are read before their row is deleted.
  @Test func `changes to the lists of a row count when it is deleted`() throws {
    let ledger = try Ledger(saving: .explicit)
    let ann = try ledger.invoice(
      try ledger.addInvoice("Ann", [("tea", 1, 2), ("salt", 1, 3), ("pie", 1, 4)]))
    let bob = try ledger.invoice(try ledger.addInvoice("Bob", [("jam", 1, 5)]))
    let (items, jam) = (ann.items.elements, bob.items[0])
    ledger.loop.turn {
      ann.items.removeValue(items[1])
      ann.items.append(jam)
      ledger.store.delete(ann)
      ledger.store.revert()
    }
    #expect(Set(ann.items.map(\.product)) == ["tea", "salt", "pie"])
    #expect(bob.items.elements == [jam] && ledger.errors.texts == [])
    ledger.loop.turn {
      ann.items.append(jam)
      ledger.store.delete(ann)
    }
    try ledger.store.save()
    ledger.loop.run()
    #expect(jam.isDeleted && items.allSatisfy(\.isDeleted) && bob.items.isEmpty)
    #expect(try ledger.rows("SELECT customer, total FROM invoice") == ["Bob 0.0"])
  }

  // R4: a deleted row leaves all lists at once, even one that it was just added to.
  @Test func `a row that was added to a list and deleted is gone`() throws {
    let ledger = try Ledger()
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2), ("salt", 1, 3)]))
    let bob = try ledger.invoice(try ledger.addInvoice("Bob"))
    let (tea, salt) = (ann.items[0], ann.items[1])
    ledger.loop.turn {
      bob.items.append(tea)
      ledger.store.delete(tea)
      #expect(bob.items.isEmpty && ann.items.elements == [salt])
      bob.items.append(salt)
      ledger.store.delete(salt)
      #expect(bob.items.isEmpty && ann.items.isEmpty)
    }
    #expect(ledger.errors.texts == [] && tea.isDeleted && salt.isDeleted)
    #expect(try ledger.rows("SELECT * FROM item") == [])
  }
}
