import ObservableRecords
import Testing

@ObservableModel final class Part: ObservableRecord {
  var id: Int64?
  var weight: Int
  var wholeID: Int64?
  @HasMany(\Part.wholeID) var parts: ObservableArray<Part>
  // Declared before its dependency: the order does not matter.
  @Computed("load") @Stored var isHeavy: Bool
  private func makeIsHeavy() -> Bool { load > 100 }
  @Computed("parts.@sum.load", "weight") @Stored var load: Int
  private func makeLoad() -> Int { parts.reduce(weight) { $0 + $1.load } }
}

@ObservableModel final class Ware: ObservableRecord {
  var id: Int64?
  var name: String
  @HasMany(\Sale.wareID) var sales: ObservableArray<Sale>
  @Computed("sales.@sum.count") @Stored var sold: Int
  private func makeSold() -> Int { sales.reduce(0) { $0 + $1.count } }
}

@ObservableModel final class Shop: ObservableRecord {
  var id: Int64?
  var name: String
}

@ObservableModel final class Sale: ObservableRecord {
  var id: Int64?
  var count: Int
  var wareID: Int64
  var shopID: Int64?
  var clerkID: Int64?
  @Computed("clerkID") @Stored var isOwn: Bool
  private func makeIsOwn() -> Bool { clerkID == nil }
}

@ObservableModel final class Basket: ObservableRecord {
  var id: Int64?
  var owner: String
  @HasMany(\Fruit.basketID) var fruits: ObservableArray<Fruit>
  @Computed("fruits.@sum.weight") @Stored var weight: Double
  @Computed("fruits.@max.weight") var heaviest: Double?
  @Computed("fruits.count") @Stored var count: Int
}

@ObservableModel final class Fruit: ObservableRecord {
  var id: Int64?
  var weight: Int
  var basketID: Int64 = 0
  @BelongsTo(\Fruit.basketID) var basket: Basket?
  @Computed("basket.owner") var owner: String?
}

@ObservableModel final class Crate: ObservableRecord {
  var id: Int64?
  var name: String
  @HasMany(\Bottle.crateID) var bottles: ObservableArray<Bottle>
  @Computed(#"\name"#) @Stored var length: Int
  private func makeLength() -> Int { name.count }
  @Computed("bottles.0.size") @Stored var first: Int
  private func makeFirst() -> Int { bottles.first?.size ?? 0 }
}

@ObservableModel final class Bottle: ObservableRecord {
  var id: Int64?
  var size: Int
  var crateID: Int64 = 0
}

/// R5: stored properties are written with their dependencies, even if the row was never shown.
struct StoredTests {
  private static let shops = """
    CREATE TABLE ware(id INTEGER PRIMARY KEY, name TEXT NOT NULL, sold INTEGER NOT NULL);
    CREATE TABLE shop(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE sale(
      id INTEGER PRIMARY KEY, count INTEGER NOT NULL, wareID INTEGER NOT NULL,
      shopID INTEGER REFERENCES shop(id) ON DELETE CASCADE,
      clerkID INTEGER REFERENCES shop(id) ON DELETE SET NULL, isOwn BOOLEAN NOT NULL);
    INSERT INTO ware VALUES (1, 'tea', 12);
    INSERT INTO shop VALUES (1, 'a'), (2, 'b');
    INSERT INTO sale VALUES (1, 3, 1, 1, NULL, 1), (2, 4, 1, 2, NULL, 1), (3, 5, 1, NULL, 1, 0);
    """

  @Test func `a chain of stored properties is saved, including unreferenced rows`() throws {
    let ledger = try Ledger()
    try ledger.run(
      """
      CREATE TABLE part(
        id INTEGER PRIMARY KEY, weight INTEGER NOT NULL, wholeID INTEGER,
        load INTEGER NOT NULL DEFAULT 0, isHeavy BOOLEAN NOT NULL DEFAULT 0)
      """)
    var parts = [Part(weight: 1)]
    try ledger.loop.turn {
      try ledger.store.insert(parts[0])
      for _ in 0..<300 {
        let part = Part(weight: 0)
        parts.last!.parts.append(part)
        parts.append(part)
      }
    }
    let leaf = try #require(parts.last?.id)
    parts = []
    try ledger.loop.turn {
      let part = try #require(try ledger.store.find(Part.self, leaf))
      part.weight = 200
    }
    #expect(ledger.errors.texts == [])
    #expect(try ledger.rows("SELECT weight, load, isHeavy FROM part WHERE id = 1") == ["1 201 1"])
    #expect(try ledger.rows("SELECT COUNT(*) FROM part WHERE isHeavy") == ["301"])
  }

  @Test func `a property without a method has the value of its path`() throws {
    let ledger = try Ledger()
    try ledger.run(
      """
      CREATE TABLE basket(
        id INTEGER PRIMARY KEY, owner TEXT NOT NULL, weight DOUBLE NOT NULL,
        count INTEGER NOT NULL);
      CREATE TABLE fruit(
        id INTEGER PRIMARY KEY, weight INTEGER NOT NULL, basketID INTEGER NOT NULL)
      """)
    let (basket, apple) = (Basket(owner: "Ann"), Fruit(weight: 3))
    #expect(basket.weight == 0 && basket.heaviest == nil && basket.count == 0)
    #expect(apple.owner == nil)
    try ledger.loop.turn {
      try ledger.store.insert(basket)
      basket.fruits.append(apple)
      basket.fruits.append(Fruit(weight: 4))
    }
    #expect(basket.weight == 7 && basket.heaviest == 4 && apple.owner == "Ann")
    #expect(try ledger.rows("SELECT owner, weight, count FROM basket") == ["Ann 7.0 2"])
    var weights: [Double] = []
    try basket.observe("weight", in: ledger.loop) { weights.append($0.weight) }
    ledger.loop.turn { apple.weight = 5 }
    ledger.loop.turn { basket.owner = "Bob" }
    #expect(weights == [9] && apple.owner == "Bob")
    #expect(try ledger.rows("SELECT owner, weight, count FROM basket") == ["Bob 9.0 2"])
    #expect(ledger.errors.texts == [])
  }

  @Test func `the key path of a stored property has the usual spelling`() throws {
    let ledger = try Ledger()
    try ledger.run(
      """
      CREATE TABLE crate(
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, length INTEGER NOT NULL,
        first INTEGER NOT NULL);
      CREATE TABLE bottle(
        id INTEGER PRIMARY KEY, size INTEGER NOT NULL, crateID INTEGER NOT NULL)
      """)
    let (crate, bottle) = (Crate(name: "red"), Bottle(size: 3))
    try ledger.loop.turn {
      try ledger.store.insert(crate)
      crate.bottles.append(bottle)
    }
    #expect(try ledger.rows("SELECT length, first FROM crate") == ["3 3"])
    ledger.loop.turn { (crate.name, bottle.size) = ("white", 7) }
    #expect(try ledger.rows("SELECT length, first FROM crate") == ["5 7"])
    #expect(ledger.errors.texts == [])
  }

  // Deletions that the database makes itself.
  @Test(arguments: [true, false])
  func `rows deleted with another one no longer count`(_ isLoaded: Bool) throws {
    let ledger = try Ledger()
    try ledger.run(StoredTests.shops)
    let ware = try #require(try ledger.store.find(Ware.self, 1))
    let sales = isLoaded ? try ledger.store.fetch(Sale.order(Column("id"))) : []
    let shop = try #require(try ledger.store.find(Shop.self, 1))
    ledger.loop.turn { ledger.store.delete(shop) }
    ledger.loop.run()
    #expect(ledger.errors.texts == [])
    #expect(try ledger.rows("SELECT sold FROM ware") == ["9"] && ware.sold == 9)
    #expect(try ledger.rows("SELECT id, clerkID, isOwn FROM sale") == ["2 - 1", "3 - 1"])
    if isLoaded { #expect(sales[0].isDeleted && sales[2].clerkID == nil) }
  }

  @Test func `rows that a failed deletion would delete stay`() throws {
    let ledger = try Ledger()
    try ledger.run(StoredTests.shops)
    let ware = try #require(try ledger.store.find(Ware.self, 1))
    let sales = try ledger.store.fetch(Sale.order(Column("id")))
    let all = try ledger.store.query(Sale.order(Column("id")))
    let shop = try #require(try ledger.store.find(Shop.self, 1))
    try ledger.run("CREATE TRIGGER no BEFORE DELETE ON shop BEGIN SELECT RAISE(ABORT, 'no'); END")
    ledger.loop.turn {
      sales[0].count = 30
      ledger.store.delete(shop)
    }
    #expect(ledger.errors.texts.count == 1 && ledger.errors.texts[0].contains("no"))
    ledger.store.revert([shop])
    ledger.loop.run()
    #expect(sales.allSatisfy { !$0.isDeleted } && sales[0].count == 30 && sales[2].clerkID == 1)
    #expect(all.map(\.id) == [1, 2, 3] && ware.sales.count == 3)
    ledger.loop.turn { sales[1].count = 40 }
    #expect(try ledger.rows("SELECT count FROM sale") == ["30", "40", "5"])
    #expect(try ledger.rows("SELECT sold FROM ware") == ["75"])
    #expect(ware.sold == 75)
    #expect(ledger.errors.texts.count == 1)
  }

  // R3, R5: two windows on one file.
  @Test(arguments: [RecordStore.Saving.synchronous, .asynchronous, .explicit], [true, false])
  func `a stored property is right in spite of writes by others`(
    _ saving: RecordStore.Saving, _ isSameProcess: Bool
  ) throws {
    let folder = Folder()
    let ledger = try Ledger(DatabaseQueue(path: folder.file), saving: saving)
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let tea = ann.items[0]
    ledger.loop.run()
    var told: [String] = []
    ledger.store.onConflict = { told.append("\(type(of: $0)) \($1)") }
    var configuration = Configuration()
    configuration.busyMode = .timeout(10)
    let other =
      isSameProcess
      ? ledger.database : try DatabaseQueue(path: folder.file, configuration: configuration)
    for round in 1...3 {
      try other.write { db in
        try db.execute(
          sql: """
            INSERT INTO item(product, quantity, price, invoiceID) VALUES ('salt', 1, 5, 1);
            UPDATE invoice SET total = total + 5
            """)
      }
      ledger.loop.turn { tea.quantity = 1 + round }
      if saving == .explicit { try ledger.store.save() }
      ledger.loop.run()
      let total = Double(2 * (1 + round) + 5 * round)
      #expect(try ledger.rows("SELECT total FROM invoice") == ["\(total)"])
      #expect(ann.total == total && ann.items.count == 1 + round)
    }
    #expect(ledger.errors.texts == [] && told == [] && !ledger.store.hasUnsavedChanges)
  }

  @Test func `constant writes by others do not hold up a save`() throws {
    let ledger = try Ledger(saving: .asynchronous)
    let ann = try ledger.invoice(try ledger.addInvoice("Ann", [("tea", 1, 2)]))
    let tea = ann.items[0]
    ledger.loop.run()
    var count = 0
    // Another writer writes each time the store reads.
    let watcher = try ann.observe("customer", in: ledger.loop) { _ in
      count += 1
      if count < 100 { try? ledger.run("UPDATE invoice SET customer = 'c\(count)'") }
    }
    try ledger.run("UPDATE invoice SET customer = 'x'")
    ledger.loop.turn { tea.quantity = 5 }
    ledger.loop.run()
    watcher.stop()
    #expect(try ledger.rows("SELECT total FROM invoice") == ["10.0"])
    #expect(count == 100 && ledger.errors.texts == [])
  }
}
