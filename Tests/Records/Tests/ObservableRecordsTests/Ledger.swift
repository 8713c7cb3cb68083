import Foundation
import ObservableRecords
import Synchronization

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

/// A loop in virtual time, a database, and its store, which by default saves synchronously.
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

  /// A row of the table `invoice`, and its items as (product, quantity, price).
  func addInvoice(_ customer: String, _ items: [(String, Int, Double)] = []) throws -> Int64 {
    try database.write { db in
      try db.execute(sql: "INSERT INTO invoice(customer) VALUES (?)", arguments: [customer])
      let id = db.lastInsertedRowID
      for (product, quantity, price) in items {
        try db.execute(
          sql: "INSERT INTO item(product, quantity, price, invoiceID) VALUES (?, ?, ?, ?)",
          arguments: [product, quantity, price, id])
      }
      let total = items.reduce(0) { $0 + Double($1.1) * $1.2 }
      try db.execute(
        sql: "UPDATE invoice SET total = ? WHERE id = ?", arguments: [total, id])
      return id
    }
  }

  func invoice(_ id: Int64) throws -> Invoice {
    guard let invoice = try store.find(Invoice.self, id) else { throw Missing() }
    return invoice
  }

  /// Looks for changes of other processes, and waits until they have arrived.
  func look() {
    // The second round waits for requests from before the first one.
    for _ in 0..<2 {
      store.lookForChanges()
      database.writeWithoutTransaction { _ in }
      loop.run()
    }
  }

  struct Missing: Error {}
}

/// Statements that a database has run.
final class Statements: Sendable {
  private let texts = Mutex<[String]>([])

  init(_ database: any DatabaseWriter) {
    database.writeWithoutTransaction { db in
      db.trace { [weak self] event in self?.texts.withLock { $0.append("\(event)") } }
    }
  }

  /// The statements since the last call that contain one of these words.
  func take(_ words: String...) -> [String] {
    texts.withLock { texts in
      defer { texts = [] }
      return texts.filter { text in words.contains { text.hasPrefix($0) } }
    }
  }
}

/// A folder for files, which is removed with this object.
final class Folder {
  let path: String

  init() {
    path = NSTemporaryDirectory() + "records-\(UUID().uuidString)"
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var file: String { path + "/ledger.sqlite" }
}

/// Compares lists of objects by identity.
func == (a: [Item], b: [Item]) -> Bool { a.elementsEqual(b, by: ===) }

/// Pseudo-random numbers (SplitMix64), the same for the same state.
struct Generator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
