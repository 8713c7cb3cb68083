import Foundation
import ObservableRecords

@ObservableModel final class Product: ObservableRecord {
  var id: Int64?
  var name: String
}

@ObservableModel final class Item: ObservableRecord {
  var id: Int64?
  var product: String
  var quantity: Int
  var price: Double
  var invoiceID: Int64
  var productID: Int64?
  @BelongsTo(\Item.invoiceID) var invoice: Invoice?
  @BelongsTo(\Item.productID) var article: Product?
  @Computed("quantity", "price") var total: Double
  private func makeTotal() -> Double { Double(quantity) * price }

  init(_ product: String, _ quantity: Int, _ price: Double, of invoice: Int64 = 0) {
    (self.product, self.quantity, self.price) = (product, quantity, price)
    invoiceID = invoice
  }
}

@ObservableModel final class Invoice: ObservableRecord {
  var id: Int64?
  var customer: String
  @HasMany(\Item.invoiceID) var items: ObservableArray<Item>
  @HasOne(\Note.invoiceID) var note: Note?
  @Computed("items.@sum.total") @Stored var total: Double
  private func makeTotal() -> Double { items.reduce(0) { $0 + $1.total } }
}

@ObservableModel final class Note: ObservableRecord {
  var id: Int64?
  var text: String
  var invoiceID: Int64?
}

/// A database with the tables of the tests.
func makeTables(_ db: Database) throws {
  try db.execute(
    sql: """
      CREATE TABLE product(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE invoice(
        id INTEGER PRIMARY KEY, customer TEXT NOT NULL, total DOUBLE NOT NULL DEFAULT 0);
      CREATE TABLE item(
        id INTEGER PRIMARY KEY, product TEXT NOT NULL,
        quantity INTEGER NOT NULL CHECK(quantity >= 0), price DOUBLE NOT NULL,
        invoiceID INTEGER NOT NULL REFERENCES invoice(id) ON DELETE CASCADE,
        productID INTEGER REFERENCES product(id));
      CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL, invoiceID INTEGER);
      """)
}

/// A loop in virtual time, a database, and a store that waits for it.
struct Ledger {
  let loop = Loop(clock: .virtual)
  let database: any DatabaseWriter
  let store: RecordStore
  let errors = Log()

  final class Log {
    var texts: [String] = []
  }

  init(
    _ database: (any DatabaseWriter)? = nil, saving: RecordStore.Saving = .synchronous,
    records: [any ObservableRecord.Type] = [Invoice.self, Item.self]
  ) throws {
    self.database = try database ?? DatabaseQueue()
    try self.database.write { db in
      if try !db.tableExists("item") { try makeTables(db) }
    }
    store = try RecordStore(self.database, loop: loop, records: records, saving: saving)
    let errors = errors
    store.onError = { errors.texts.append("\($0)") }
    loop.onError = { errors.texts.append("\($0)") }
  }

  /// The rows of a query, each as the texts of its columns.
  func rows(_ sql: String) throws -> [String] {
    try database.read { db in
      try Row.fetchAll(db, sql: sql).map { row in
        row.databaseValues.map { $0.isNull ? "-" : "\($0.storage.value ?? "")" }
          .joined(separator: " ")
      }
    }
  }

  func run(_ sql: String) throws { try database.write { try $0.execute(sql: sql) } }

  /// Lets everything happen that is due.
  func settle() {
    while loop.step(), loop.isAlive, !isIdle { loop.advance(by: 0) }
  }

  private var isIdle: Bool { loop.nextDue != nil }
}
